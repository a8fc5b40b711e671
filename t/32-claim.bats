#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# gs-launch: that nothing runs twice, unrecorded, or without its end being
# recorded.
# Words in single quotes are for the job's shell, not for this one.
# shellcheck disable=SC2016,SC2119,SC2120,SC2154

load lib

setup() {
	gs_setup
}

# refused REASON TEXT: the last run was, for that reason.
refused() {
	[ "$(awk -F'\t' '$1 == "refused" { print $4, $5 }' <<<"$output")" = \
	    "$1 text=$2" ]
	[ "$stderr" = "gs-launch: a: refused: $2" ]
}

events() {
	jq -r .event j | paste -sd' '
}

ended() {
	[ "$(jq -r 'select(.event == "exit").id' j)" = a ]
}

# job ARG...: run one to its end that leaves its mark in file `ran`.
job() {
	gs-launch --id a --journal j --wait "$@" --shell 'echo x >>ran'
}

# Ended, whether or not its parent (a slow init, say) has reaped it.
dead() {
	[ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"
}

@test "a start says all that names the job for ever" {
	gs-launch --id a --no 4 --attempt 2 --gpus 0,1 --uuids GPU-a,GPU-b \
	    --vram 2G --log l --journal j --wait -- true >out
	want=$(awk -F'\t' '$1 == "start" { print $4, $5, $6, $7 }' out)
	[ "$(jq -r 'select(.event == "start") |
	    "\(.pgid) \(.supervisor) \(.start) \(.boot)"' j)" = "$want" ]
	[ "$(jq -c 'select(.event == "start") |
	    [.v, .id, .no, .attempt, .gpus, .uuids, .vram, .log, .cmd]' j)" = \
	    '[1,"a",4,2,["0","1"],["GPU-a","GPU-b"],2048,"l","true"]' ]
	[ "$(jq -r 'select(.event == "start").sup_start | type' j)" = number ]
}

@test "an exit says how it ended and what it used" {
	run -3 gs-launch --id a --journal j --wait --shell \
	    'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; exit 3'
	[ "$(jq -c 'select(.event == "exit") | [.id, .attempt, .cause,
	    .status, has("own_status"), .user > 0, .wall > 0, .maxrss > 100,
	    .wall < 60]' j)" = \
	    '["a",1,"exit",3,false,true,true,true,true]' ]
}

@test "a command that could not be executed has a start and an exit" {
	run -127 gs-launch --id a --journal j -- ./nosuch
	[ "$(events)" = "start exit" ]
	[ "$(jq -c 'select(.event == "exit") | [.cause, .status]' j)" = \
	    '["exec",127]' ]
}

@test "an attempt that was started is never started again" {
	job
	run -125 --separate-stderr job
	refused claimed "attempt 1 was started already"
	[ "$(cat ran)" = x ]
	[ "$(events)" = "start exit" ]
}

@test "an earlier attempt that has not ended refuses the next" {
	mkfifo hold
	gs-launch --id a --journal j --shell 'read x <hold' >out
	run -125 --separate-stderr job --attempt 2
	refused claimed "attempt 1 has not ended"
	[ ! -e ran ]
	echo >hold
	wait_for 10 ended
	run -0 job --attempt 2
	[ "$(cat ran)" = x ]
}

@test "other jobs in the journal do not matter" {
	gs-launch --id b --journal j --wait -- true >/dev/null
	run -0 job
}

@test "of twenty at once exactly one starts" {
	for i in $(seq 20); do
		job >"out.$i" 2>/dev/null &
	done
	wait
	[ "$(cat ran)" = x ]
	[ "$(cat out.* | grep -c $'^refused\ta\t1\tclaimed')" -eq 19 ]
	[ "$(cat out.* | grep -c ^start)" -eq 1 ]
}

@test "a cancelled job does not start" {
	gs-journal --journal j append queued id=a no=1 cmd=x 'attrs=[]'
	gs-journal --journal j append cancel id=a
	run -125 --separate-stderr job
	refused claimed "it has ended: cancelled"
	[ ! -e ran ]
}

@test "what was appended behind --seen is read, what is before it is not" {
	job
	seen=$(stat -c %s j)
	# The caller says it knows the file up to here.
	run -0 job --seen "$seen"
	run -125 --separate-stderr job --seen "$seen"
	refused claimed "attempt 1 was started already"
}

@test "an offset behind the end of the journal is not believed" {
	job
	run -125 --separate-stderr job --seen 999999999
	refused claimed "attempt 1 was started already"
}

@test "damage in the journal does not hide a start behind it" {
	head -c 300 /dev/zero >j
	printf '{"v":1,"event":"sta' >>j
	job
	run -125 --separate-stderr job
	refused claimed "attempt 1 was started already"
}

@test "what cannot be recorded is not started" {
	run -125 --separate-stderr gs-launch --id a --journal no/j --shell \
	    'echo x >>ran'
	refused record "no/j: No such file or directory"
	mkdir dir
	run -125 --separate-stderr gs-launch --id a --journal dir --shell \
	    'echo x >>ran'
	refused record "dir: Is a directory"
	[ ! -e ran ]
}

@test "a full disk refuses the start and leaves the journal as it was" {
	job
	run -125 --separate-stderr prlimit --fsize="$(stat -c %s j)" \
	    gs-launch --id a --attempt 2 --journal j --shell 'echo x >>ran'
	refused record "j: File too large"
	[ "$(cat ran)" = x ]
	[ "$(events)" = "start exit" ]
}

@test "an exit that cannot be recorded is tried until it can be" {
	mkdir d
	mkfifo hold
	gs-launch --id a --journal d/j --log l --shell 'read x <hold; exit 9' \
	    >out
	pid=$(awk -F'\t' '$1 == "start" { print $4 }' out)
	sup=$(awk -F'\t' '$1 == "start" { print $5 }' out)
	mv d away
	echo >hold
	wait_for 10 grep -q 'd/j: .*not recorded yet' l
	# Not reaped before it is recorded, and still there.
	grep -q '^State:.Z' "/proc/$pid/status"
	mv away d
	wait_for 20 dead "$sup"
	[ "$(jq -r 'select(.event == "exit").status' d/j)" = 9 ]
	[ "$(grep -c 'not recorded' l)" -eq 1 ]
}

@test "a supervisor that dies before the gate opens starts nothing" {
	command -v strace >/dev/null || skip "no strace(1)"
	export ASAN_OPTIONS=detect_leaks=0 # which cannot be traced
	run -125 --separate-stderr strace -f -qq -o trace -e trace=fdatasync \
	    -e inject=fdatasync:signal=KILL \
	    gs-launch --id a --journal j --shell 'echo x >>ran'
	grep -q 'killed by SIGKILL' trace
	wait_for 10 sh -c '! pgrep -f "echo x >>ra[n]"'
	[ ! -e ran ]
	[ "$(events)" = start ]
}

@test "killing the front at any time never makes a job run twice" {
	for i in $(seq 20); do
		gs-launch --id a --attempt "$i" --journal j --shell \
		    "echo $i >>ran" >/dev/null 2>&1 &
		front=$!
		sleep "0.00$((i % 10))"
		kill -KILL "$front" 2>/dev/null || true
		wait "$front" || true
		# Whoever comes next asks for the same attempt.
		gs-launch --id a --attempt "$i" --journal j --wait --shell \
		    "echo $i >>ran" >/dev/null 2>&1 || true
		over() {
			[ "$(jq "select(.event == \"exit\" and
			    .attempt == $i).attempt" j)" = "$i" ]
		}
		wait_for 10 over
	done
	[ "$(sort -n ran)" = "$(seq 20)" ]
}
