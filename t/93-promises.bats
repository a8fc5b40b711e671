#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# promises.tsv: each promise has a test, and each test that it names exists.

load lib

setup() {
	gs_setup
}

# Of every file: its name and its tests, one a line.
all_tests() {
	local f
	for f in "$T"/*.bats; do
		f=${f##*/}
		sed -n "s/^@test \"\(.*\)\" {\$/${f%.bats}\t\1/p" "$T/$f"
	done
}

@test "every promise of the table is shown by a test that exists" {
	all_tests | sort >there
	grep -v '^#' "$T/promises.tsv" | cut -f3,4 | sort -u >named
	comm -23 named there >missing
	cat missing
	[ ! -s missing ]
	[ "$(grep -v '^#' "$T/promises.tsv" | awk -F'\t' 'NF != 4' | wc -l)" -eq 0 ]
	[ "$(cut -f2 "$T/promises.tsv" | sort -u | wc -l)" -gt 90 ]
}

@test "every test of 65-promises.bats is in the table" {
	sed -n 's/^@test "\(.*\)" {$/\1/p' "$T/65-promises.bats" | sort >tests
	awk -F'\t' '$3 == "65-promises" { print $4 }' "$T/promises.tsv" |
	    sort -u | comm -13 - tests >missing
	[ ! -s missing ]
}
