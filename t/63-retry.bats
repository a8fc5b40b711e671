#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# gs-loop: jobs that run out of GPU memory, and jobs that fail otherwise.

load lib
load loop

setup() {
	gs_setup
}

teardown() {
	loop_teardown
}

# events NAME KEY: one value a line.
events() {
	gs-journal query -r "select(.event == \"$1\") | .$2"
}

# Of job 1.
vram_in_force() {
	gs-journal state | awk -F'\t' '$1 == "state" && $2 == 1 { print $8 }'
}

# fails_as TEXT [STATUS]: a job that prints TEXT and fails runs to its end.
fails_as() {
	printf '%s\n' "$1" >text
	echo "[vram=4G retries=1] cat ../text; exit ${2:-1}" >jobs.txt
	rm -rf gs_logs
	sed -i 's,\.\./text,'"$PWD"'/text,' jobs.txt
	loop_start --sim 1
	loop_end "${2:-1}"
}

@test "a job that ran out of GPU memory is tried again with 1.25 times its peak" {
	echo '[vram=8G retries=2] gs-simjob --vram 10000 --hold 0.3 --oom-once once' >jobs.txt
	loop_start --sim 1 --poll 0.05
	loop_end
	[ "$(events retry vram)" -ge 10240 ]
	[ "$(events start vram)" = "8192
$(events retry vram)" ]
	said 'ran out of GPU memory [exit 1]'
	said "retry 1/2 with $(events retry vram) MiB/gpu"
	job_is 1 ok 0
}

@test "the new declaration is 1.25 times the old one if no peak was seen" {
	echo '[vram=8G retries=1] gs-simjob --vram 1 --oom-once once' >jobs.txt
	loop_start --sim 1 --poll 60
	loop_end
	[ "$(events retry vram)" = 10240 ]
	said '(1/1 dispatched, declared 10240 MiB/gpu, attempt 2)'
	job_is 1 ok
}

@test "retries run out, each asking for more, and the job has failed_oom" {
	echo '[vram=4000 retries=2] gs-simjob --vram 1 --oom-at 1' >jobs.txt
	loop_start --sim 1 --poll 60
	loop_end 1
	[ "$(events retry vram | paste -sd' ')" = '5000 6250' ]
	said 'job 1 finished [FAILED out of GPU memory, exit 1]'
	said '1 failed_oom'
	[ "$(events 'done' oom)" = oom ]
	job_is 1 failed_oom 1
}

@test "without retries nothing is tried again, with --oom-retries each line is" {
	echo '[vram=1000] gs-simjob --vram 1 --oom-at 1' >jobs.txt
	loop_start --sim 1 --poll 60
	loop_end 1
	started 1
	job_is 1 failed_oom
	{
		echo '[vram=1000] gs-simjob --vram 1 --oom-at 1 # a'
		echo '[vram=1000 retries=0] gs-simjob --vram 1 --oom-at 1 # b'
	} >jobs.txt
	loop_start --sim 1 --poll 60 --oom-retries 2 --fresh
	loop_end 1
	started 4
	job_is 1 failed_oom
	job_is 2 failed_oom
}

@test "a retry that can never fit ends as failed_oom, with the job's own status" {
	{
		echo '[vram=20G retries=5] gs-simjob --vram 1 --oom-at 1 || exit 9'
		echo '[vram=1G after=1] true'
	} >jobs.txt
	loop_start --sim 1 --poll 60
	loop_end 9
	started 1
	job_is 1 failed_oom 9
	job_is 2 skipped
	said 'a retry is INFEASIBLE: gpu 0 holds 24576 MiB when empty, 25600 + 512 asked'
}

@test "a retry and its declaration survive the death of gs-loop" {
	echo '[vram=8G retries=3] gs-simjob --vram 1 --oom-once once || { touch failed; exit 1; }' >jobs.txt
	echo '[vram=15G] until [ -e go ]; do sleep 0.1; done' >>jobs.txt
	loop_start --sim 1 --poll 60
	wait_for 20 started 2
	wait_for 20 grep -q '"event":"retry"' gs_logs/journal.jsonl
	kill -KILL "$LOOP"
	wait "$LOOP" || true
	[ "$(events retry vram)" = 10240 ]
	job_is 1 pending
	touch go
	loop_start --sim 1
	loop_end
	[ "$(events start vram | sort -n | paste -sd' ')" = '8192 10240 15360' ]
	job_is 1 ok
}

@test "an end that no gs-loop saw is tried again by the next" {
	echo '[vram=8G retries=1] echo up; until [ -e go ]; do sleep 0.1; done; gs-simjob --vram 1 --oom-once once' >jobs.txt
	loop_start --sim 1
	wait_for 20 grep -q up gs_logs/job-1.log
	kill -KILL "$LOOP"
	wait "$LOOP" || true
	touch go
	wait_for 20 job_is 1 failed
	loop_start --sim 1
	loop_end
	[ "$(events retry vram)" = 10240 ]
	job_is 1 ok
}

@test "an edited declaration takes the place of a retry's, other edits do not" {
	{
		echo '[vram=8G retries=1] gs-simjob --vram 1 --oom-once once'
		echo '[vram=15G] until [ -e go ]; do sleep 0.1; done'
	} >jobs.txt
	loop_start --sim 1 --poll 60
	wait_for 20 started 2
	sed -i 's/vram=8G/tag=x vram=8G/' jobs.txt
	wait_for 10 grep -q '"tag":"x"' gs_logs/journal.jsonl
	[ "$(vram_in_force)" = 10240 ]
	sed -i 's/vram=8G/vram=9G/' jobs.txt
	wait_for 10 grep -q '"vram":9216' gs_logs/journal.jsonl
	touch go
	loop_end
	[ "$(events start vram | tail -n 1)" = 9216 ]
}

@test "an undeclared job is tried again with what it was seen to use" {
	echo '[retries=1] gs-simjob --vram 4000 --hold 0.5 --oom-once once' >jobs.txt
	loop_start --sim 1 --poll 0.05
	loop_end
	[ "$(events start vram | head -n 1)" = null ]
	job_is 1 ok
}

@test "while it waits to be tried again the board says so" {
	{
		echo '[vram=8G retries=1] gs-simjob --vram 1 --oom-once once'
		echo '[vram=15G] until [ -e go ]; do sleep 0.1; done'
	} >jobs.txt
	LC_ALL=C.UTF-8 loop_start --sim 1 --poll 0.1
	wait_for 20 grep -q '↻ *1  pending' gs_logs/status.txt
	wait_for 20 grep -q '↻ *1 .*memory: .*10G + 512M asked' gs_logs/status.txt
	wait_for 20 jq -e '.jobs[0].vram == 10240' gs_logs/status.json
	touch go
	loop_end
}

@test "non-OOM failures never retry" {
	fails_as 'RuntimeError: CUDA error: device-side assert triggered'
	started 1
	job_is 1 failed 1
	fails_as 'MemoryError: Cannot allocate memory'
	started 1
	fails_as 'Killed' 137
	started 1
	fails_as 'ValueError: allocate CUDA streams first' 3
	started 1
	job_is 1 failed 3
	run ! said retry
}

@test "a job that ended with 0 is ok whatever its log says" {
	echo '[vram=4G retries=3] echo "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."' >jobs.txt
	loop_start --sim 1
	loop_end
	started 1
	job_is 1 ok 0
}

@test "two hundred kilobytes after the error do not hide it" {
	cat >job <<-'EOF'
	echo "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
	yes "frame #12: noise" | head -c 200000
	exit 1
	EOF
	echo '[vram=4G] sh ./job' >jobs.txt
	loop_start --sim 1
	loop_end 1
	job_is 1 failed_oom 1
}

@test "a time limit, a cancel and an interruption use no retry" {
	oom='echo "RuntimeError: CUDA out of memory. Tried to allocate 1 GiB."'
	echo "[vram=4G retries=5 timeout=0.3s] $oom; sleep 300" >jobs.txt
	loop_start --sim 1
	loop_end 124
	job_is 1 timeout 124
	echo "[vram=4G retries=5] trap 'exit 1' TERM; $oom; while :; do sleep 0.1; done" >jobs.txt
	loop_start --sim 1
	wait_for 20 grep -q memory gs_logs/job-2.log
	kill -INT "$LOOP"
	loop_end 130
	job_is 2 pending
	loop_start --sim 1
	wait_for 20 started 3
	sed -i 's/retries=5/cancel &/' jobs.txt
	loop_end
	job_is 2 cancelled
	[ -z "$(events retry id)" ]
	[ "$(events start vram | sort -u)" = 4096 ]
}

@test "a weak sign counts if the GPU was nearly full" {
	weak='echo "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling x"'
	echo "[vram=4G] gs-simjob --vram 4000 --hold 0.3; $weak; exit 1" >jobs.txt
	loop_start --sim 1 --poll 0.05
	loop_end 1
	job_is 1 failed
	[ "$(events 'done' oom)" = weak ]
	echo "[vram=23G] gs-simjob --vram 23900 --hold 0.5; $weak; exit 1" >jobs.txt
	loop_start --sim 1 --poll 0.05 --fresh
	loop_end 1
	job_is 1 failed_oom
}

@test "--max-fails starts nothing more and lets what runs end" {
	{
		echo '[cpu] until [ -e go ]; do sleep 0.1; done'
		echo '[cpu] exit 3'
		echo '[cpu after=1] exit 4'
		echo '[cpu after=3] true'
		echo '[cpu after=1] true'
	} >jobs.txt
	loop_start --sim 1 --max-fails 1 --watch
	wait_for 10 said '1 job failed: nothing more is started'
	touch go
	loop_end 3
	started 2
	job_is 1 ok
	job_is 3 pending
	job_is 5 pending
	loop_start --sim 1 --max-fails 2
	loop_end 4
	job_is 3 failed
	job_is 4 skipped
	job_is 5 ok
}
