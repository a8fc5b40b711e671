#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# gs-loop: the jobs file is edited while it is worked on.
# shellcheck disable=SC2016,SC2154

load lib
load loop

# A line that runs until the file `go` appears.
until_go() {
	echo "[cpu] until [ -e go ]; do sleep 0.1; done"
}

setup() {
	gs_setup
	until_go >jobs.txt
	loop_start --sim 1 --poll 0.2 --grace 1s
	wait_for 10 job_is 1 running
}

teardown() {
	loop_teardown
}

# all_ran WORD...: exactly these were echoed, once each.
all_ran() {
	cat gs_logs/job-*.log | sort >ran
	printf '%s\n' "$@" | sort | cmp ran -
}

@test "an appended line is taken at once" {
	echo '[cpu] echo a' >>jobs.txt
	wait_for 5 job_is 2 ok
	touch go
	loop_end
}

@test "a line without its newline is taken after a while" {
	printf '[cpu] echo a' >>jobs.txt
	wait_for 10 job_is 2 ok
	touch go
	loop_end
}

@test "a deleted pending line is never run, a deleted running one runs on" {
	echo '[cpu hold] echo a' >>jobs.txt
	wait_for 5 job_is 2 pending
	echo '[cpu] echo b' >jobs.txt
	wait_for 5 job_is 3 ok
	job_is 1 running
	touch go
	loop_end
	job_is 1 ok
	job_is 2 pending
	all_ran b
}

@test "an edited pending line is another job" {
	{ until_go; echo '[cpu hold] echo old'; } >jobs.txt
	wait_for 5 job_is 2 pending
	{ until_go; echo '[cpu] echo new'; } >jobs.txt
	wait_for 5 job_is 3 ok
	touch go
	loop_end
	all_ran new
}

@test "the order of the file is the order of the queue" {
	{
		echo '[vram=20G] until [ -e gpu ]; do sleep 0.1; done'
		for i in 1 2 3; do echo "[vram=20G] echo $i >>order"; done
	} >jobs.txt
	wait_for 5 job_is 5 pending
	{
		echo '[vram=20G] until [ -e gpu ]; do sleep 0.1; done'
		for i in 3 1 2; do echo "[vram=20G] echo $i >>order"; done
	} >jobs.txt
	wait_for 5 jq -e '.jobs[1].cmd == "echo 3 >>order"' gs_logs/status.json
	touch go gpu
	loop_end
	printf '3\n1\n2\n' | cmp - order
}

@test "releasing a held job starts it" {
	{ until_go; echo '[cpu hold] echo a'; } >jobs.txt
	wait_for 5 job_is 2 pending
	{ until_go; echo '[cpu] echo a'; } >jobs.txt
	wait_for 5 job_is 2 ok
	touch go
	loop_end
}

@test "equal lines are jobs of their own" {
	printf '[cpu] echo same\n[cpu] echo same\n' >>jobs.txt
	wait_for 5 job_is 3 ok
	wait_for 5 job_is 2 ok
	touch go
	loop_end
	all_ran same same
}

@test "a malformed save keeps the last good queue and is said once" {
	{ until_go; echo '[vram=8G echo cut'; } >jobs.txt
	wait_for 5 said "jobs.txt:2: "
	grep -q 'the last good queue is kept' err
	touch jobs.txt
	{ until_go; echo '[cpu] echo good'; } >jobs.txt
	wait_for 5 job_is 2 ok
	[ "$(grep -c 'last good queue' err)" -eq 1 ]
	touch go
	loop_end
}

@test "a save in two steps is not taken half way" {
	for i in 1 2 3 4 5; do
		: >jobs.txt
		# shellcheck disable=SC2129 # one step after the other
		until_go >>jobs.txt
		printf '[cpu] echo whole; touch cut' >>jobs.txt
		printf ' %s.ok\n' "$i" >>jobs.txt
		wait_for 5 job_is "$((i + 1))" ok
	done
	touch go
	loop_end
	[ "$(cat gs_logs/job-*.log | grep -c whole)" -eq 5 ]
}

@test "truncating, renaming and deleting saves lose and repeat nothing" {
	{ until_go; echo '[cpu] echo kept'; } >want
	for i in $(seq 12); do
		case $((i % 4)) in
		0) : >jobs.txt; cat want >jobs.txt ;;
		1) cp want new; mv new jobs.txt ;;
		2) rm jobs.txt; cp want jobs.txt ;;
		3) sed -i 's/kept/kept/' jobs.txt ;;
		esac
	done
	wait_for 5 job_is 2 ok
	rm jobs.txt
	wait_for 5 said 'No such file'
	cp want jobs.txt
	touch go
	loop_end
	all_ran kept
	started 2
	cmp want jobs.txt
}

@test "an empty file does not end the run on first sight" {
	: >jobs.txt
	touch go
	wait_for 5 job_is 1 ok
	echo '[cpu] echo late' >new
	cat new >jobs.txt
	loop_end
	job_is 2 ok
}

@test "CR LF and a byte order mark are accepted" {
	printf '\357\273\277[cpu] echo crlf\r\n' >jobs.txt
	wait_for 5 job_is 2 ok
	touch go
	loop_end
	all_ran crlf
}

@test "a NUL byte is refused, and the queue kept" {
	printf 'a\0b\n' >>jobs.txt
	wait_for 5 said 'jobs.txt:2: '
	touch go
	loop_end
}

@test "cancel stops a running job and what it started" {
	echo '[cpu] trap "" TERM; (trap "" TERM; exec sleep 300) & echo $! >pid; sleep 300' >jobs.txt
	wait_for 5 test -s pid
	sed -i 's/\[cpu\]/[cpu cancel]/' jobs.txt
	touch go
	loop_end
	job_is 2 cancelled
	wait_for 5 gone_or_zombie "$(cat pid)"
	said 'job 2 is being cancelled'
	said 'job 2 finished [CANCELLED]'
}

@test "cancel keeps a pending job from ever starting, also after a restart" {
	{ until_go; echo '[cpu cancel] echo never'; } >jobs.txt
	wait_for 5 job_is 2 cancelled
	{ until_go; echo '[cpu] echo never'; } >jobs.txt
	touch go
	loop_end
	run -0 gs-loop jobs.txt --sim 1
	job_is 2 cancelled
	started 1
}

@test "cancelling twice, and cancelling what is over, changes nothing" {
	{ until_go; echo '[cpu] true x'; } >jobs.txt
	wait_for 5 job_is 2 ok
	{ until_go; echo '[cpu cancel] true x'; } >jobs.txt
	{ until_go | sed 's/cpu/cpu cancel/'; echo '[cpu cancel] true x'; } >jobs.txt
	wait_for 5 job_is 1 cancelled
	touch jobs.txt
	loop_end
	job_is 2 ok
}

@test "--watch waits for more lines when the queue is empty" {
	touch go
	loop_end
	loop_start --sim 1 --watch
	wait_for 10 test -s gs_logs/status.txt
	echo '[cpu] echo more' >>jobs.txt
	wait_for 5 job_is 2 ok
	kill -TERM "$LOOP"
	loop_end 143
}

@test "the user's file is never written" {
	sum=$(stat -c '%i %Y %s' jobs.txt)
	chmod 400 jobs.txt
	touch go
	loop_end
	[ "$(stat -c '%i %Y %s' jobs.txt)" = "$sum" ]
}
