#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# gs-loop: whatever dies, nothing is lost and nothing runs twice.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154

load lib
load loop

setup() {
	gs_setup
}

teardown() {
	loop_teardown
}

# The pid of job NO's supervisor, or of its first process.
pid_of() {
	jq -r --argjson no "$1" --arg what "$2" \
	    'select(.event == "start" and .no == $no) | .[$what]' \
	    gs_logs/journal.jsonl | tail -n 1
}

@test "what is over is not run again, what is pending is" {
	printf '[cpu] echo a\n[cpu] exit 3\n' >jobs.txt
	run -3 gs-loop jobs.txt --sim 1
	echo '[cpu] echo b' >>jobs.txt
	run -3 gs-loop jobs.txt --sim 1
	started 3
	[[ "$output" != *"job 1 started"* ]]
	[[ "$output" = *"job 3 started on cpu (3/3 dispatched)"* ]]
}

@test "--fresh runs all again and puts the old journal aside" {
	echo '[cpu] echo a' >jobs.txt
	run -0 gs-loop jobs.txt --sim 1
	run -0 gs-loop jobs.txt --sim 1 --fresh
	started 1
	set -- gs_logs/journal.jsonl.*
	[ "$#" -eq 1 ] && [ -s "$1" ]
	[ "$(cat gs_logs/job-1.log)" = $'a\na' ]
}

@test "TERM ends gs-loop, the jobs go on, and the next one takes them back" {
	echo '[cpu] until [ -e go ]; do sleep 0.1; done; exit 5' >jobs.txt
	loop_start --sim 1
	wait_for 10 job_is 1 running
	kill -TERM "$LOOP"
	loop_end 143
	job_is 1 running
	loop_start --sim 1
	wait_for 10 said 'job 1 is still running on cpu'
	touch go
	loop_end 5
	job_is 1 failed 5
	started 1
}

@test "kill -9 of gs-loop: the true status is recorded meanwhile" {
	echo '[cpu] until [ -e go ]; do sleep 0.1; done; exit 6' >jobs.txt
	loop_start --sim 1
	wait_for 10 job_is 1 running
	kill -KILL "$LOOP"
	loop_end 137
	touch go
	wait_for 10 grep -q '"event":"exit"' gs_logs/journal.jsonl
	run -6 gs-loop jobs.txt --sim 1
	[[ "$output" = *"job 1 finished [FAILED exit 6]"* ]]
	started 1
}

@test "kill -9 of the supervisor: gs-loop inherits the job and its status" {
	echo '[cpu] until [ -e go ]; do sleep 0.1; done; exit 7' >jobs.txt
	loop_start --sim 1
	wait_for 10 job_is 1 running
	kill -KILL "$(pid_of 1 supervisor)"
	wait_for 10 said 'its supervisor is gone'
	touch go
	loop_end 7
	job_is 1 failed 7
	started 1
}

@test "a job without a supervisor can be cancelled, tree and all" {
	echo '[cpu] setsid sleep 300 & echo $! >pid; sleep 300' >jobs.txt
	loop_start --sim 1 --grace 0.3
	wait_for 10 test -s pid
	wait_for 10 job_is 1 running
	kill -KILL "$(pid_of 1 supervisor)"
	wait_for 10 said 'its supervisor is gone'
	sed -i 's/cpu/cpu cancel/' jobs.txt
	loop_end
	job_is 1 cancelled
	wait_for 5 gone_or_zombie "$(cat pid)"
}

@test "both killed: the job is watched, never started twice, then pending again" {
	printf '%s\n' '[cpu] echo run >>runs; until [ -e go ]; do sleep 0.1; done' >jobs.txt
	loop_start --sim 1
	wait_for 10 job_is 1 running
	kill -KILL "$LOOP" "$(pid_of 1 supervisor)"
	loop_end 137
	loop_start --sim 1 --poll 0.1
	wait_for 10 said 'its supervisor is gone'
	[ "$(wc -l <runs)" -eq 1 ]
	touch go
	loop_end
	said 'job 1 interrupted'
	[ "$(wc -l <runs)" -eq 2 ]
	job_is 1 ok
}

@test "a start from before a reboot is pending again" {
	echo '[cpu] echo again' >jobs.txt
	mkdir -m 700 gs_logs
	gs-journal -l gs_logs append queued no=1 id="$(printf %s 'echo again' | sha256sum | head -c 12)" 'cmd=echo again' 'attrs=[cpu]'
	gs-journal -l gs_logs append start id="$(printf %s 'echo again' | sha256sum | head -c 12)" attempt=1 pgid=$$ start=1 supervisor=$$ sup_start=1 boot=another gpus:='[]' uuids:='[]' log=x
	run -0 gs-loop jobs.txt --sim 1
	[[ "$output" = *"job 1 interrupted"* ]]
	[ "$(cat gs_logs/job-1.2.log)" = again ]
	job_is 1 ok
}

@test "a reused pid is never taken for the job, nor signalled" {
	echo '[cpu] echo again' >jobs.txt
	mkdir -m 700 gs_logs
	id=$(printf %s 'echo again' | sha256sum | head -c 12)
	sleep 60 3>&- &
	other=$!
	gs-journal -l gs_logs append queued no=1 id="$id" 'cmd=echo again' 'attrs=[cpu]'
	gs-journal -l gs_logs append start id="$id" attempt=1 pgid=$other start=1 supervisor=$other sup_start=1 boot="$(cat /proc/sys/kernel/random/boot_id)" gpus:='[]' uuids:='[]' log=x
	run -0 gs-loop jobs.txt --sim 1
	job_is 1 ok
	kill -0 $other
	kill $other
}

@test "INT stops the jobs, which are pending again, and is the status" {
	printf '%s\n' '[cpu] trap "echo term; exit 0" TERM; echo up; while :; do sleep 0.1; done' >jobs.txt
	loop_start --sim 1
	wait_for 10 grep -q up gs_logs/job-1.log
	kill -INT "$LOOP"
	loop_end 130
	grep -q term gs_logs/job-1.log
	job_is 1 pending
	said 'job 1 interrupted'
}

@test "^C at a terminal reaches gs-loop alone, and the jobs as a TERM" {
	command -v script >/dev/null || skip "no script(1)"
	cat >jobs.txt <<-'EOF'
	[cpu] trap "echo int" INT; trap "echo term; exit" TERM; echo up; while :; do sleep 0.1; done
	EOF
	mkfifo keys
	script -qec 'exec gs-loop jobs.txt --sim 1' /dev/null <keys >screen 2>&1 3>&- &
	LOOP=$!
	exec 7>keys
	wait_for 10 grep -q up gs_logs/job-1.log
	printf '\003' >&7
	loop_end 130
	exec 7>&-
	grep -x term gs_logs/job-1.log
	run ! grep -x int gs_logs/job-1.log
	run ! grep -e 'signal' -e 'gs-probe' -e 'gs-place' screen
	job_is 1 pending
}

@test "a job that stopped its supervisor is stopped all the same" {
	echo '[cpu] kill -STOP $PPID; echo up; sleep 300' >jobs.txt
	loop_start --sim 1
	wait_for 10 grep -q up gs_logs/job-1.log
	kill -INT "$LOOP"
	loop_end 130
	job_is 1 pending
}

@test "a second INT hurries" {
	printf '%s\n' '[cpu] trap "" TERM; echo up; while :; do sleep 0.1; done' >jobs.txt
	loop_start --sim 1 --grace 1h
	wait_for 10 grep -q up gs_logs/job-1.log
	kill -INT "$LOOP"
	wait_for 10 said 'stopping what runs (1)'
	kill -INT "$LOOP"
	loop_end 130
	job_is 1 pending
}

@test "one gs-loop for a log directory; the lock dies with it, not with its jobs" {
	echo '[cpu] until [ -e go ]; do sleep 0.1; done' >jobs.txt
	loop_start --sim 1
	wait_for 10 job_is 1 running
	run -2 --separate-stderr gs-loop jobs.txt --sim 1
	[[ "$stderr" = *"another gs-loop is at work here, pid $LOOP" ]]
	kill -KILL "$LOOP"
	loop_end 137
	loop_start --sim 1
	wait_for 10 said 'still running'
	touch go
	loop_end
}

@test "signals that mean nothing change nothing" {
	echo '[cpu] until [ -e go ]; do sleep 0.1; done' >jobs.txt
	loop_start --sim 1
	wait_for 10 job_is 1 running
	for i in $(seq 50); do
		kill -WINCH "$LOOP"
		kill -CHLD "$LOOP"
		kill -CONT "$LOOP"
		kill -STOP "$LOOP"
		kill -CONT "$LOOP"
	done
	touch go
	loop_end
	job_is 1 ok
}

@test "an ignored SIGCHLD and a blocked mask are not inherited" {
	echo '[cpu] exit 4' >jobs.txt
	run -4 env --ignore-signal=CHLD,INT,TERM,PIPE --block-signal gs-loop jobs.txt --sim 1
	job_is 1 failed 4
}

@test "damage in the journal is skipped and said, and no finished job re-runs" {
	printf '[cpu] echo a\n[cpu] echo b\n' >jobs.txt
	run -0 gs-loop jobs.txt --sim 1
	printf 'garbage\n\0\0\0\0\n{"v":1,"torn' >>gs_logs/journal.jsonl
	run -0 --separate-stderr gs-loop jobs.txt --sim 1
	[[ "$stderr" = *"damaged lines skipped"* ]]
	started 2
}

@test "a journal that cannot be written starts nothing, says so once, and resumes" {
	[ "$(id -u)" -eq 0 ] || skip "needs root to make a small file system"
	mkdir gs_logs
	mount -t tmpfs -o size=64k,mode=700 tmpfs gs_logs 2>/dev/null ||
		skip "no tmpfs can be mounted here"
	echo '[cpu] echo a' >jobs.txt
	dd if=/dev/zero of=gs_logs/filler bs=1k 2>/dev/null || true
	loop_start --sim 1
	wait_for 10 said 'nothing new is started until it can be written'
	[ ! -s gs_logs/job-1.log ]
	rm gs_logs/filler
	loop_end
	job_is 1 ok
	[ "$(grep -c 'nothing new is started' err)" -eq 1 ]
	umount gs_logs
}

@test "the end of a run whose journal was removed is credited to no other" {
	cat >jobs.txt <<-'EOF'
	[cpu] if [ -e second ]; then touch up; until [ -e go2 ]; do sleep 0.1; done; exit 3; fi; touch second; until [ -e go ]; do sleep 0.02; done
	EOF
	loop_start --sim 1
	wait_for 10 test -e second
	first=$(pid_of 1 supervisor)
	kill -TERM "$LOOP"
	loop_end 143
	rm -r gs_logs
	loop_start --sim 1
	wait_for 10 test -e up
	touch go
	wait_for 10 gone_or_zombie "$first"
	job_is 1 running
	touch go2
	loop_end 3
	job_is 1 failed 3
}

@test "a cancel in the journal stops a running job" {
	echo '[cpu] sleep 300' >jobs.txt
	loop_start --sim 1
	wait_for 10 job_is 1 running
	gs-journal -l gs_logs append cancel id="$(printf %s 'sleep 300' | sha256sum | head -c 12)"
	loop_end 0
	job_is 1 cancelled
}

@test "a journal that is removed is missed" {
	echo '[cpu] until [ -e go ]; do sleep 0.1; done' >jobs.txt
	loop_start --sim 1 --poll 0.1
	wait_for 10 job_is 1 running
	rm gs_logs/journal.jsonl
	loop_end 2
	said 'journal.jsonl: was removed or replaced'
	touch go
}

@test "gs-probe killed or hung: jobs end and time limits hold meanwhile" {
	printf '[cpu timeout=0.5s] sleep 60\n[vram=1G] true\n' >jobs.txt
	printf '#!/bin/sh\ntrap "" TERM\nwhile :; do sleep 1; done\n' >hang
	chmod +x hang
	loop_start --probe "$PWD/hang" --grace 0.2
	wait_for 10 job_is 1 timeout
	job_is 2 pending
	kill -TERM "$LOOP"
	loop_end 143
	pkill -KILL -f "$BATS_TEST_TMPDIR/hang" || true
}

@test "gs-place killed: the question is asked again" {
	echo 'until [ -e go ]; do sleep 0.1; done' >jobs.txt
	loop_start --sim 1 --poll 0.1
	wait_for 10 job_is 1 running
	pkill -KILL -P "$LOOP" gs-place
	wait_for 10 said 'gs-place: signal 9; it is started again'
	echo '[cpu] echo b' >>jobs.txt
	wait_for 10 job_is 2 ok
	touch go
	loop_end
}

# gs-loop has reaped all its children that have ended.
no_zombies() {
	local p
	for p in $(pgrep -P "$LOOP"); do
		! grep -q '^State:.Z' "/proc/$p/status" || return 1
	done
}

# bats test_tags=long
@test "300 short jobs leave no zombie and lose no result" {
	for i in $(seq 300); do echo "[cpu] exit $((i % 2))"; done >jobs.txt
	echo '[cpu] until [ -e go ]; do sleep 0.1; done' >>jobs.txt
	loop_start --sim 1 --slots 4
	wait_for 90 grep -q '(301/301 dispatched' out
	wait_for 20 no_zombies
	touch go
	loop_end 1
	[ "$(grep -c '"event":"done"' gs_logs/journal.jsonl)" -eq 301 ]
	started 301
}

@test "workers in sessions of their own are counted, warned about and stopped" {
	cat >job <<-'EOF'
	setsid gs-simjob --vram 3000 --hold 300 &
	echo $! >>pids
	(nohup gs-simjob --vram 2000 --hold 300 >/dev/null 2>&1 & echo $! >>pids)
	until [ -e go ]; do sleep 0.1; done
	EOF
	echo '[vram=6G] sh ./job' >jobs.txt
	loop_start --sim 1 --poll 0.05 -v
	wait_for 20 said 'job 1 peak vram gpu0:5000 MiB of 6144 MiB declared'
	touch go
	loop_end
	said 'job 1 finished [OK]'
	said 'peak vram gpu0:5000 MiB | declared 6144 MiB'
	grep -o 'WARN job 1 left processes behind, which are stopped: pid .*' out |
	    grep -oE '[0-9]{2,}' | sort | cmp - <(sort pids)
	gone "$(head -n 1 pids)"
	gone "$(tail -n 1 pids)"
}
