#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The record stream: what is read, what is refused, what comes back.
# shellcheck disable=SC2030,SC2031,SC2154

load lib

setup() {
	gs_setup
	PATH=$BIN/../t:$PATH
	F=$T/fixtures/rec
}

# refused TEXT MESSAGE: printf TEXT is no stream of frames.
refused() {
	# shellcheck disable=SC2059
	printf "$1" >in
	run -2 --separate-stderr recdump copy 4096 <in
	echo "$stderr"
	[ "$stderr" = "recdump: $2" ]
}

@test "a frame with comments and blank lines is read" {
	run -0 recdump copy 4096 <"$F/typed.rec"
	[ "$output" = "$(grep -v -e '^#' -e '^$' "$F/typed.rec")" ]
	run -0 gs-place <"$F/typed.rec"
	[ "${lines[1]}" = "$(tsv place 1 0 24576)" ]
}

@test "a frame cut at any byte is refused" {
	for f in typed escapes; do
		grep -v 'nothing more' "$F/$f.rec" >in
		run -0 recdump cut <in
	done
}

@test "a frame is the same however its bytes arrive" {
	cat "$F/escapes.rec" "$F/escapes.rec" >in
	for n in 1 2 3 7 4096; do
		recdump copy $n <in >out
		cmp in out
	done
}

@test "what does not fit into a field is escaped as jq has it" {
	command -v jq >/dev/null || skip 'jq is not here'
	printf 'gs\t1\tme\nwait\t%s\t-\nend\t1\n' \
	    "$(jq -nr '["a\tb\nc\rd\\e"] | @tsv')" >in
	recdump copy 64 <in >out
	cmp in out
}

@test "random bytes come back as they were" {
	run -0 recdump fuzz 50000
}

@test "a lone dash is unknown, an escaped one is a dash" {
	run -0 gs-place <<EOT
$(tsv gs 1 me)
$(tsv gpu 0 - 24576 0 - yes)
$(tsv job '\-' '[on=\-]')
$(tsv job x -)
$(tsv end 3)
EOT
	[ "${lines[1]%%	text*}" = "$(tsv never '\-' infeasible)" ]
	[ "${lines[2]}" = "$(tsv place x 0 24576)" ]
}

@test "unknown tags, keys and surplus fields are skipped" {
	run -0 gs-place <"$F/future.rec"
	[ "${lines[0]}" = "$(tsv gs 1 gs-place time=17)" ]
	[ "${lines[1]}" = "$(tsv place 1 0 24576)" ]
	run -0 recdump key gpu name <"$F/future.rec"
	[ "$output" = X ]
	run -0 recdump key gpu spin <"$F/future.rec"
	[ "$output" = up ]
	run -0 recdump key gpu colour <"$F/future.rec"
	[ "$output" = '(none)' ]
}

@test "a positional field is never taken for a key" {
	printf 'gs\t1\tme\nwait\ttext=no\ttext=no\nend\t1\n' >in
	run -0 recdump key wait text <in
	[ "$output" = '(none)' ]
}

@test "a higher version is refused, naming both" {
	run -2 --separate-stderr gs-place --job '[cpu]' <"$F/version2.rec"
	[ "$output" = '' ]
	[ "$stderr" = "gs-place: stdin: line 1: records of version 2, but this \
program reads version 1" ]
}

@test "another number of records than the end says is refused" {
	local what='wrong number of records in the frame'
	refused 'gs\t1\tme\nwait\ta\tb\nend\t0\n' "line 3: $what"
	refused 'gs\t1\tme\nwait\ta\tb\nend\t2\n' "line 3: $what"
	refused 'gs\t1\tme\nend\n' "line 2: $what"
	refused 'gs\t1\tme\nend\tx\n' "line 2: $what"
	refused 'gs\t1\tme\n# no record\n\nend\t1\n' "line 4: $what"
}

@test "what is no frame is refused" {
	refused '' 'truncated input (writer died?)'
	refused '# only a comment\n' 'truncated input (writer died?)'
	refused 'gs\t1\tme\nend\t0' 'truncated input (writer died?)'
	refused 'gs\t1\tme\nend\t0\ngs' 'truncated input (writer died?)'
	refused 'gpu\t0\n' 'line 1: not a gs frame header'
	refused 'gs\t1\n' 'line 1: not a gs frame header'
	refused 'gs\t0\tme\n' 'line 1: not a gs frame header'
	refused 'gs\tx\tme\n' 'line 1: not a gs frame header'
	refused 'gs\t1\tme\nend\t0\nNVIDIA-SMI has failed\n' \
	    'line 3: not a gs frame header'
	refused 'gs\t1\tme\ngs\t1\tme\n' \
	    'line 2: a frame begins inside another (writer died?)'
	refused 'gs\t1\tme\nwait\ta\000b\n' 'line 2: a NUL byte'
}

@test "escapes that do not exist are refused" {
	local e
	for e in q 1 18 400 000 T ''; do
		refused "gs\\t1\\tme\\nwait\\tx\\\\$e\\n" \
		    'line 2: malformed escape'
	done
}

@test "a whole frame before a broken one is still read" {
	printf 'gs\t1\tme\nend\t0\ngs\t1\tme\nwait\t' >in
	run -2 --separate-stderr recdump copy 4096 <in
	[ "${#lines[@]}" -eq 2 ]
}
