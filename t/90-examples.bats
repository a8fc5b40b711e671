#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Every example of the manuals and of the README works as it is printed.  A
# line that starts with "$ " is a command; it goes on behind a backslash, and
# over lines that start with "> ".  Those of one page share a folder.  Behind
# a line `.\" status N` in a manual a command must end with N; else with 0 and
# without complaints, also of those whose status a pipe hides.

load lib

setup() {
	gs_setup
}

# The EXAMPLES of a manual without roff's escapes.  One that is not known here
# stays, and the command fails.
manual_lines() {
	sed -n '/^\.Sh EXAMPLES/,/^\.Sh [^E]/p' "$1" |
		sed -e 's/\\e/\\/g' -e 's/\\-/-/g' -e "s/\\\\(aq/'/g" \
		    -e 's/\\(dq/"/g' -e 's/\\&//g'
}

# The fenced blocks of a Markdown page.
fenced_lines() {
	awk '/^```/ { fence = !fence; next } fence' "$1"
}

# The commands of such lines, each behind the status that it should have,
# and ended by a record separator.
commands() {
	awk '
	function flush() {
		if (cmd != "")
			printf "%d %s\036", want, cmd
		if (cmd != "")
			want = 0
		cmd = ""
	}
	cmd ~ /\\$/ { cmd = cmd "\n" $0; next }
	cmd != "" && /^> / { cmd = cmd "\n" substr($0, 3); next }
	{ flush() }
	/^\.\\" status / { want = $3 }
	/^\$ / { cmd = substr($0, 3) }
	END { flush() }'
}

# Run the commands of these lines; there must be some.
run_examples() {
	local want cmd status n=0
	while read -r -d $'\036' want cmd; do
		status=0
		echo "\$ $cmd"
		timeout 30 /bin/sh -c "$cmd" </dev/null 2>said || status=$?
		cat said
		echo "status $status, should be $want"
		[ "$status" -eq "$want" ] || return 1
		if [ "$want" -eq 0 ] &&
		    grep -q -e ': not found$' -e '^gs-[a-z]*: ' said; then
			return 1
		fi
		n=$((n + 1))
	done < <(commands)
	[ "$n" -gt 0 ]
}

# page FILE: run the examples of that manual.
page() {
	[ -e "$ROOT/$1" ] || skip "$1 is not here"
	run_examples < <(manual_lines "$ROOT/$1")
}

@test "the examples of gs-probe(1) work" {
	page gs-probe/gs-probe.1
}

@test "the examples of gs-simjob(1) work" {
	page gs-probe/gs-simjob.1
}

@test "the examples of gs-place(1) work" {
	page gs-place/gs-place.1
}

@test "the examples of gs-launch(1) work" {
	page gs-launch/gs-launch.1
}

@test "the examples of gs-journal(1) work" {
	page gs-journal/gs-journal.1
}

@test "the examples of gs-loop(1) work" {
	page gs-loop/gs-loop.1
}

@test "the examples of gs-records(5) work" {
	page lib/gs-records.5
}

@test "the examples of gs-jobs(5) work" {
	page lib/gs-jobs.5
}

@test "the examples of gs-journal(5) work" {
	page gs-journal/gs-journal.5
}

@test "the examples of gs(7) work" {
	page lib/gs.7
}

@test "the examples of the README work" {
	[ -e "$ROOT/README.md" ] || skip "README.md is not here"
	run_examples < <(fenced_lines "$ROOT/README.md")
}

@test "every manual has its test here" {
	local f
	for f in "$ROOT"/*/*.[157]; do
		f=${f#"$ROOT"/}
		echo "$f"
		grep -qxF "	page $f" "$T/90-examples.bats"
	done
}

@test "an example that fails is noticed, as is a status that differs" {
	printf '%s\n' '$ false' >a
	run -1 run_examples <a
	printf '%s\n' '.\" status 3' '$ exit 3' '$ true' >b
	run_examples <b
	printf '%s\n' '.\" status 3' '$ true' >c
	run -1 run_examples <c
	printf '%s\n' '$ gs-nosuch | true' >c
	run -1 run_examples <c
	printf '%s\n' 'no command' >d
	run -1 run_examples <d
}

@test "an example may have several lines" {
	# shellcheck disable=SC2016
	printf '%s\n' '$ cat >f <<E' '> a b' '> E' 'text' "$ test \\" \
	    '"$(cat f)" = "a b"' >page
	run_examples <page
}
