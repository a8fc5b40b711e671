#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# gs-journal: its verbs.
# Words in single quotes are jq's.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154

load lib

setup() {
	gs_setup
	mkdir gs_logs
	PIDS=()
}

teardown() {
	local pid
	for pid in "${PIDS[@]}"; do
		kill "$pid" 2>/dev/null || :
	done
}

ev() {
	gs-journal append "$@"
}

# A job with an attempt that runs and has printed `text`.
running() {
	printf '%s' "$1" >gs_logs/job-1.log
	ev queued no=1 id=train cmd='python train.py' tag=night \
	    attrs='[vram=18G eta=40m]' vram=18432
	ev start id=train attempt=1 gpus=0,1 log=gs_logs/job-1.log
}

ended() {
	ev exit id=train attempt=1 cause=exit "status=$1" wall=1.5
}

# background OUT COMMAND...: its status will be in OUT.rc.
background() {
	local out=$1
	shift
	{
		rc=0
		"$@" >"$out" 2>"$out.err" || rc=$?
		echo "$rc" >"$out.new"
		mv "$out.new" "$out.rc"
	} 3>&- &
	PIDS+=("$!")
}

holds() {
	[ "$(cat "$1")" = "$2" ]
}

# Does the last one in the background wait for inotify already?
watching() {
	local child
	child=$(pgrep -P "${PIDS[-1]}" -f 'gs-journal -l') &&
	    grep -q anon_inode:inotify <(readlink "/proc/$child/fd/"*)
}

@test "help and version go to stdout, wrong use to stderr with status 2" {
	local words
	run -0 --separate-stderr gs-journal --help
	[ "${lines[0]}" = "usage: gs-journal [-j FILE | -l DIR] VERB [OPTION...] [OPERAND...]" ]
	[ -z "$stderr" ]
	run -0 gs-journal -V
	[[ $output == 'gs-journal (gs) '* ]]
	while read -r words; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr gs-journal $words
		[ -z "$output" ]
		[ "$(wc -l <<<"$stderr")" = 2 ]
	done <<-END

	frobnicate
	-x
	state --follow
	query
	query . .
	wait
	check now
	-j a -l b state
	log train -n x
	wait train -t 5y
	append eclipse
	append note
	append note text
	append note text=a text=b
	append note text=a v=2
	append note text=a k:={
	append exit id=a attempt=1 status=0 cause=boredom
	append done id=a attempt=1 state=pending
	append start id=a attempt=one
	END
}

@test "a missing journal is said, and only append makes one" {
	run -2 --separate-stderr gs-journal state
	[ "$stderr" = \
	    "gs-journal: gs_logs/journal.jsonl: no journal here" ]
	[ -z "$output" ]
	run -2 --separate-stderr gs-journal -l nowhere append note text=a
	[ "$stderr" = \
	    "gs-journal: nowhere/journal.jsonl: there is no such folder" ]
	ev note text=a
	run -0 gs-journal state
}

@test "the journal is found by option, environment and default" {
	mkdir a b
	ev note text=default
	GS_LOG_DIR=a ev note text=environment
	GS_LOG_DIR=a ev -l b note text=option
	GS_LOG_DIR=a gs-journal -j c append note text=file
	run -0 gs-journal query -r .text
	[ "$output" = default ]
	run -0 gs-journal -j a/journal.jsonl query -r .text
	[ "$output" = environment ]
	run -0 gs-journal query -l b -r .text
	[ "$output" = option ]
	run -0 gs-journal query .text -r -j c
	[ "$output" = file ]
}

@test "append gives values the types they look like, or that are known" {
	ev note text=5 n=5 d=-0.25 z=007 t1=true f=false s='a b' \
	    big=1234567890123456 'raw:=[1,{"a":null}]' gpus=0,1 e=
	run -0 gs-journal query -c 'del(.t, .c)'
	[ "$output" = '{"v":1,"event":"note","text":"5","n":5,"d":-0.25,"z":"007","t1":true,"f":false,"s":"a b","big":"1234567890123456","raw":[1,{"a":null}],"gpus":["0","1"],"e":""}' ]
}

@test "append takes the start and exit records of frames" {
	{
		tsv gs 1 gs-launch time=5
		tsv start a 1 77 70 123 boot-id 0,1 a.log
		tsv future x
		tsv end 2
		tsv gs 1 gs-launch
		tsv exit a 1 signal 137 9 user=2 sys=1 maxrss=4096
		tsv end 1
	} >frames
	run -0 gs-journal append <frames
	run -0 gs-journal query -c 'del(.t, .c, .v)'
	[ "${lines[0]}" = '{"event":"start","id":"a","attempt":1,"pgid":77,"supervisor":70,"start":123,"boot":"boot-id","gpus":["0","1"],"log":"a.log"}' ]
	[ "${lines[1]}" = '{"event":"exit","id":"a","attempt":1,"cause":"signal","status":137,"wall":9,"user":2,"sys":1,"maxrss":4096}' ]
	[ "${#lines[@]}" = 2 ]
}

@test "append records nothing of a frame that is cut off" {
	{
		tsv gs 1 gs-launch
		tsv start a 1 77 70 123 boot-id 0 a.log
	} >frames
	run -2 --separate-stderr gs-journal append <frames
	[ "$stderr" = \
	    "gs-journal: stdin: truncated input (writer died?)" ]
	[ ! -e gs_logs/journal.jsonl ]
	run -2 gs-journal append </dev/null
}

@test "state prints a frame of what is known" {
	running x
	ended 3
	ev queued no=2 id=b cmd='sleep 1'
	gs-journal state >out
	run -0 awk -F'\t' -v OFS=, '$1 == "state" && $10 > 1e9 {
		$10 = "Q"; if ($11 != "-") $11 = $12 = "T"; print }' out
	[ "${lines[0]}" = 'state,1,train,failed,1,3,0,1,18432,-,Q,T,T,python train.py,tag=night,eta=2400' ]
	[ "${lines[1]}" = 'state,2,b,pending,0,-,-,-,-,Q,-,-,sleep 1' ]
	[[ $(head -n 1 out) == "$(tsv gs 1 gs-journal time=)"* ]]
	[ "$(tail -n 1 out)" = "$(tsv end 2)" ]
}

@test "state of named jobs is in that order, and an unknown one is said" {
	running x
	ev queued no=2 id=b
	run -1 --separate-stderr gs-journal state b nobody 1
	[[ ${lines[1]} == "$(tsv state 2 b)"* ]]
	[[ ${lines[2]} == "$(tsv state 1 train)"* ]]
	[ "${lines[3]}" = "$(tsv end 2)" ]
	[ "$stderr" = "gs-journal: 'nobody': no such job" ]
}

@test "query filters events one by one, or all at once" {
	running x
	ended 3
	run -0 gs-journal query -r .event
	[ "$output" = "$(printf '%s\n' queued start exit)" ]
	run -0 gs-journal query -s 'length # a comment'
	[ "$output" = 3 ]
	run -0 gs-journal query -r 'failed | $state[.id].cmd'
	[ "$output" = 'python train.py' ]
	run -0 gs-journal query 'first(inputs) | .event'
	[ "$output" = '"start"' ]
}

@test "the functions of the query library do what the manual says" {
	running x
	ev usage id=train attempt=1 'peak:={"U0":5,"U1":9}'
	ended 3
	ev start id=train attempt=2
	ev exit id=train attempt=2 cause=exit status=0 wall=2
	ev queued id=b
	run -0 gs-journal query -s -c '[attempts, durations, peaks]'
	[ "$output" = '[{"train":2},{"train":[1.5,2]},{"train":9}]' ]
	run -0 gs-journal query -r 'of("b") | .event'
	[ "$output" = queued ]
	run -0 gs-journal query -c 'failed | .attempt'
	[ "$output" = 1 ]
	run -0 gs-journal query -r 'of("b") | when'
	[[ $output == 20??-??-??T??:??:??Z ]]
	run -0 gs-journal query -s -c 'per_job(select(.status) | .status)'
	[ "$output" = '{"train":[3,0]}' ]
}

@test "query fails with status 2 when jq does, or is not there" {
	ev note text=a
	run -2 gs-journal query '.('
	run -2 gs-journal query 'error("no")'
	run -2 --separate-stderr env PATH=/nonexistent "$BIN/gs-journal" \
	    query .
	[ "$stderr" = \
	    "gs-journal: jq: it is not installed, and query needs it" ]
	GS_JQ_LIB=/nonexistent run -2 --separate-stderr gs-journal query .
	[ "$stderr" = \
	    "gs-journal: /nonexistent/gs.jq: No such file or directory" ]
}

@test "query gives a journal of many events to jq without a deadlock" {
	ev note text=a
	for _ in {1..14}; do
		cat gs_logs/journal.jsonl gs_logs/journal.jsonl >twice
		mv twice gs_logs/journal.jsonl
	done
	run -0 timeout 60 gs-journal query -s length
	[ "$output" = 16384 ]
	run -0 timeout 60 gs-journal query 'first(inputs) | halt'
}

@test "show tells the facts of a job and of each attempt" {
	running x
	ev usage id=train attempt=1 'peak:={"U0":5,"U1":9}'
	ended 3
	ev retry id=train attempt=1 vram=20480 reason='out of memory'
	ev start id=train attempt=2 gpus=0 log=$'odd\e.log'
	run -0 gs-journal show 1
	sed 's/20..-..-.. ..:..:../TIME/g; s/([0-9]*s)/(AGE)/' \
	    <<<"$output" >out
	diff - out <<-END
	job 1: running
	  id        train
	  command   python train.py
	  attrs     [vram=18G eta=40m]
	  tag       night
	  declared  20480 MiB
	  queued    TIME
	  attempt 1
	    ran     TIME to TIME (AGE), exit, status 3
	    gpus    0,1
	    peak    9 MiB
	    log     gs_logs/job-1.log
	    note    out of memory
	  attempt 2
	    ran     TIME
	    gpus    0
	    log     odd\\033.log
	END
	run -1 --separate-stderr gs-journal show 7 train
	[[ ${lines[0]} == 'job 1: running' ]]
	[ "$stderr" = "gs-journal: '7': no such job" ]
}

@test "log prints the latest attempt byte for byte, or its last lines" {
	running $'one\ntwo\n\nfour'
	printf 'a\0b\xff\n' >second
	run -0 gs-journal log 1
	[ "$output" = $'one\ntwo\n\nfour' ]
	run -0 --keep-empty-lines gs-journal log train -n 2
	[ "$output" = $'\nfour' ]
	run -0 gs-journal log train -n 0
	[ -z "$output" ]
	run -0 gs-journal log train -n 99
	[ "$output" = $'one\ntwo\n\nfour' ]
	printf 'one\ntwo\n' >gs_logs/job-1.log
	run -0 gs-journal log train -n 1
	[ "$output" = two ]
	ended 1
	ev start id=train attempt=2 log=second
	gs-journal log train >out
	cmp out second
	run -0 gs-journal log train --attempt 1
	[ "${lines[0]}" = one ]
	run -1 gs-journal log train --attempt 3
	[ "$output" = "gs-journal: job 1: no attempt 3" ]
}

@test "the last lines are found over block borders" {
	seq 1 60000 >gs_logs/big
	ev start id=big attempt=1 log=gs_logs/big
	gs-journal log big -n 41234 >out
	tail -n 41234 gs_logs/big | cmp - out
}

@test "log says why there is none" {
	ev queued id=b no=2
	ev start id=c attempt=1
	ev start id=d attempt=1 log=missing.log
	run -1 gs-journal log 2
	[ "$output" = \
	    "gs-journal: job 2: it has not been started (pending)" ]
	run -1 gs-journal log c
	[ "$output" = "gs-journal: job c: its attempt 1 has no log" ]
	run -2 gs-journal log d
	run -1 gs-journal log nobody
}

@test "log -f prints what comes and ends with the attempt" {
	running 'first '
	background out gs-journal -l "$PWD/gs_logs" log -f train
	wait_for 10 holds out 'first '
	printf 'second ' >>gs_logs/job-1.log
	wait_for 10 holds out 'first second '
	printf 'last' >>gs_logs/job-1.log
	ended 0
	wait_for 10 test -e out.rc
	holds out 'first second last'
	holds out.rc 0
}

@test "log -f waits for a job that has not been started" {
	ev queued id=b no=1
	background out gs-journal -l "$PWD/gs_logs" log -f b
	wait_for 10 watching
	echo text >b.log
	ev start id=b attempt=1 log="$PWD/b.log"
	wait_for 10 holds out text
	ev exit id=b attempt=1 cause=exit status=0
	wait_for 10 test -e out.rc
	ev queued id=c
	background out2 gs-journal -l "$PWD/gs_logs" log -f c
	wait_for 10 watching
	ev cancel id=c
	wait_for 10 test -e out2.rc
	holds out2.rc 1
}

@test "wait ends when the job does, with its status" {
	running x
	background out gs-journal -l "$PWD/gs_logs" wait train
	wait_for 10 watching
	[ ! -e out.rc ]
	ended 3
	wait_for 10 test -e out.rc
	holds out.rc 3
	[ ! -s out.err ]
}

@test "wait gives the status of each kind of end, and the greatest" {
	local words status
	while read -r status words; do
		rm -f gs_logs/journal.jsonl
		running x
		# shellcheck disable=SC2086
		ev $words
		run -"$status" gs-journal wait train
	done <<-END
	0 exit id=train attempt=1 cause=exit status=0
	137 exit id=train attempt=1 cause=signal status=137
	124 exit id=train attempt=1 cause=timeout status=143
	1 done id=train attempt=1 state=failed
	9 done id=train attempt=1 state=failed_oom status=9
	125 done id=train attempt=1 state=infeasible
	125 done id=train attempt=1 state=skipped
	130 done id=train attempt=1 state=cancelled
	END
	rm gs_logs/journal.jsonl
	ev exit id=a attempt=1 cause=exit status=2
	ev exit id=b attempt=1 cause=exit status=5
	ev exit id=c attempt=1 cause=exit status=0
	run -5 gs-journal wait a b c
	[ -z "$output" ]
}

@test "wait gives up at its own limit, and on unknown jobs at once" {
	running x
	run -124 gs-journal wait train --timeout 0.1
	[ "$output" = \
	    "gs-journal: job 1: still running at the time limit" ]
	run -1 gs-journal wait train nobody
	[ "$output" = "gs-journal: 'nobody': no such job" ]
}

@test "wait does not take an end for final while a scheduler may judge it" {
	running x
	ended 1
	exec 9>gs_logs/lock
	flock 9
	run -124 gs-journal wait train -t 0.1
	[ "$output" = \
	    "gs-journal: job 1: still not judged at the time limit" ]
	background out gs-journal -l "$PWD/gs_logs" wait train 9>&-
	wait_for 10 watching
	ev 'done' id=train attempt=1 state=failed_oom status=1
	wait_for 10 test -e out.rc
	holds out.rc 1
	exec 9>&-
	run -1 gs-journal wait train
}

@test "wait notices that the journal was moved away" {
	running x
	background out gs-journal -l "$PWD/gs_logs" wait train
	wait_for 10 watching
	mv gs_logs/journal.jsonl gs_logs/old
	wait_for 10 test -e out.rc
	holds out.rc 2
	holds out.err "gs-journal: $PWD/gs_logs/journal.jsonl: it was moved away"
}

@test "check is silent about a journal that is whole" {
	running x
	run -0 gs-journal check
	[ -z "$output" ]
}

@test "the examples of the manual work" {
	local cmd
	rmdir gs_logs
	sed -n 's/^\$ //p' "$ROOT/gs-journal/gs-journal.1" |
	    sed 's/\\e/\\/g' >examples
	[ -s examples ]
	while read -r cmd; do
		run -0 sh -c "$cmd"
	done <examples
}

@test "the help lists every option of the manual" {
	gs-journal --help >help
	sed -n 's/^\.It Fl.*Fl \?-\?\([a-z-]*\).*/\1/p; s/.*, -\([a-z-]*\).*/\1/p' \
	    "$ROOT/gs-journal/gs-journal.1" | grep -v '^-*$' | sort -u >options
	[ -s options ]
	while read -r option; do
		grep -q -e "--${option#-}" help
	done <options
}
