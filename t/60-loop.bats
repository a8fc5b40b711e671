#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# gs-loop: a jobs file runs to its end.
# shellcheck disable=SC2016,SC2154

load lib
load loop

setup() {
	gs_setup
}

teardown() {
	loop_teardown
}

@test "the tour: two jobs share gpu 0, the third goes to gpu 1" {
	for hold in 0.8 0.9 1; do
		echo "[vram=8G] gs-simjob --vram 8000 --ramp 0.2 --hold $hold"
	done >jobs.txt
	LC_ALL=C.UTF-8 run -0 --separate-stderr gs-loop jobs.txt --sim 2 \
	    --poll 0.1 -v
	[ "$stderr" = "" ]
	grep -q '^\[[0-9:]\{8\}\] job 1 started on gpu \[0\] (1/3 dispatched, declared 8192 MiB/gpu) — gs-simjob --vram 8000' <<<"$output"
	grep -q 'job 2 started on gpu \[0\] (2/3 dispatched' <<<"$output"
	grep -q 'job 3 started on gpu \[1\] (3/3 dispatched' <<<"$output"
	grep -q 'job 1 finished \[OK\] in 1s — peak vram gpu0:8000 MiB | declared 8192 MiB → within ±10% | avg gpu util [0-9]*%$' <<<"$output"
	grep -q 'job 3 finished \[OK\] in [12]s — peak vram gpu1:8000 MiB' <<<"$output"
	grep -q '3 jobs: 3 ok' <<<"$output"
	grep -q 'job 1 peak vram gpu0:[0-9]* MiB of 8192 MiB declared' <<<"$output"
}

@test "without a UTF-8 locale the messages are ASCII" {
	echo '[vram=8G] gs-simjob --vram 8000 --ramp 0 --hold 0.3' >jobs.txt
	LC_ALL=C run -0 gs-loop jobs.txt --sim 1 --poll 0.1
	[[ "$output" != *[$'\x80'-$'\xff']* ]]
	[[ "$output" = *"declared 8192 MiB -> within +-10%"* ]]
}

@test "started lines come in the order of the queue" {
	for i in $(seq 12); do
		echo "[cpu] until [ -e go ]; do sleep 0.1; done; echo $i"
	done >jobs.txt
	loop_start --sim 1
	wait_for 20 grep -q '(12/12 dispatched' out
	touch go
	loop_end
	grep -o 'job [0-9]* started' out >order
	sort -V -c order
}

@test "the status is the greatest failing one, and the others run all the same" {
	printf '[cpu] exit 3\n[cpu] exit 7\n[cpu] true\n' >jobs.txt
	run -7 gs-loop jobs.txt --sim 1
	[[ "$output" = *"job 2 finished [FAILED exit 7] in 0s"* ]]
	[[ "$output" = *"3 jobs: 1 ok, 2 failed"* ]]
	job_is 1 failed 3
	job_is 2 failed 7
	job_is 3 ok 0
}

@test "statuses of signals, missing commands and time limits are the usual ones" {
	cat >jobs.txt <<-'EOF'
	[cpu] kill -9 $$
	[cpu] nosuchcommand
	[cpu timeout=0.2s] sleep 60
	EOF
	run -137 gs-loop jobs.txt --sim 1 --grace 0.2
	job_is 1 failed 137
	job_is 2 failed 127
	job_is 3 timeout 124
	[[ "$output" = *"job 3 finished [TIMEOUT]"* ]]
}

@test "what can never fit is infeasible at once and costs the others nothing" {
	printf '[vram=100G] true a\n[gpus=9] true b\n[vram=1G] true c\n' >jobs.txt
	run -125 gs-loop jobs.txt --sim 2
	[[ "$output" = *"job 1 INFEASIBLE: "* ]]
	job_is 1 infeasible 125
	job_is 2 infeasible 125
	job_is 3 ok
}

@test "a job without a declaration has a GPU for itself" {
	printf 'until [ -e go ]; do sleep 0.1; done\n[vram=1G] true\n' >jobs.txt
	loop_start --sim 1 --poll 0.1
	wait_for 10 job_is 1 running
	wait_for 10 grep -q 'busy' gs_logs/status.txt
	job_is 2 pending
	touch go
	loop_end
	job_is 2 ok
}

@test "ten small jobs never overcommit a GPU that shows no use yet" {
	for i in $(seq 10); do
		echo "[vram=8G] sleep 0.2; echo $i"
	done >jobs.txt
	run -0 gs-loop jobs.txt --sim 1 --poll 0.1
	jq -r 'select(.event == "start" or .event == "exit") | .event' \
	    gs_logs/journal.jsonl |
	    awk '{ n += $1 == "start" ? 1 : -1; if (n > most) most = n }
		END { exit most != 2 }'
}

@test "every log is in place and holds what the job wrote" {
	printf '[cpu] echo out; echo err >&2\n[cpu] printf "a\\0b"\n' >jobs.txt
	run -0 gs-loop jobs.txt --sim 1
	[ "$(cat gs_logs/job-1.log)" = $'out\nerr' ]
	[ "$(od -An -c gs_logs/job-2.log | tr -d ' ')" = 'a\0b' ]
	[ "$(stat -c %a gs_logs/job-1.log gs_logs/journal.jsonl | sort -u)" = 600 ]
	[ "$(stat -c %a gs_logs)" = 700 ]
}

@test "the job gets its command as the shell would, and a clean environment" {
	printf '#!/bin/sh\nfor a; do echo "<$a>"; done\n' >argv
	chmod +x argv
	line=$'./argv \'a b\' "c\'d" $HOME \\\\ \'&\' \'#x\' \'[y]\' $(echo z) | cat'
	printf '[cpu] %s\n[cpu] env\n' "$line" >jobs.txt
	run -0 env -i PATH="$PATH" HOME=/h A=1 gs-loop jobs.txt --sim 1
	env -i PATH="$PATH" HOME=/h sh -c "$line" >want
	cmp want gs_logs/job-1.log
	cut -d= -f1 gs_logs/job-2.log | grep -v '^GS_\|^CUDA_' | sort >names
	printf 'A\nHOME\nPATH\nPWD\n' | cmp - names
}

@test "only the GPUs of --gpus are used" {
	for i in $(seq 6); do echo "[vram=8G] echo \$CUDA_VISIBLE_DEVICES $i"; done >jobs.txt
	run -0 gs-loop jobs.txt --sim 4 --gpus 1,3
	cat gs_logs/job-*.log | cut -d' ' -f1 | sort -u >masks
	printf '1\n3\n' >want
	run ! grep -vxFf want masks
	[ -s masks ]
}

@test "--exclusive gives every job its own GPU" {
	printf '[vram=1G] sleep 0.3; echo a\n[vram=1G] sleep 0.3; echo b\n' >jobs.txt
	run -0 gs-loop jobs.txt --sim 2 --exclusive
	[[ "$output" = *"job 1 started on gpu [0]"* ]]
	[[ "$output" = *"job 2 started on gpu [1]"* ]]
}

@test "under-declaration is said at once, with the numbers" {
	echo '[vram=1G] gs-simjob --vram 3000 --ramp 0 --hold 0.6' >jobs.txt
	run -0 gs-loop jobs.txt --sim 1 --poll 0.1
	[[ "$output" = *"WARN job 1 EXCEEDS declared VRAM on gpu 0: 3000 MiB used, 1024 MiB declared"* ]]
	[[ "$output" = *"UNDER-declared (+192%)"* ]]
}

@test "over-declaration is said at the end" {
	echo '[vram=8G] gs-simjob --vram 1000 --ramp 0 --hold 0.5' >jobs.txt
	run -0 gs-loop jobs.txt --sim 1 --poll 0.1
	[[ "$output" = *"declared 8192 MiB -> over-declared (-87%)"* ]]
	[[ "$output" != *WARN* ]]
}

@test "after= waits for success, and skips what waits for a failure" {
	cat >jobs.txt <<-'EOF'
	[cpu after=b] test -e made
	[cpu name=b] sleep 0.2; touch made
	[cpu name=bad] exit 4
	[cpu after=bad name=c] echo never
	[cpu after=c] echo never either
	EOF
	run -4 gs-loop jobs.txt --sim 1
	job_is 1 ok
	job_is 4 skipped
	job_is 5 skipped
	[ ! -e gs_logs/job-4.log ]
}

@test "a held job stays pending and does not keep gs-loop" {
	printf '[cpu hold] echo a\n[cpu] echo b\n' >jobs.txt
	run -0 gs-loop jobs.txt --sim 1
	job_is 1 pending
	job_is 2 ok
}

@test "jobs that wait for each other end the run with a message" {
	printf '[cpu name=a after=b] true\n[cpu name=b after=a] true\n' >jobs.txt
	run -125 gs-loop jobs.txt --sim 1
	[[ "$output" = *"jobs.txt:1: job 'a' waits for a job that never ends"* ]]
}

@test "cwd= and env= are obeyed" {
	mkdir "a b"
	printf 'X=from file\n' >vars
	printf '[cpu cwd="a b" env=%s] /bin/pwd; echo "$X"\n' "$PWD/vars" >jobs.txt
	run -0 gs-loop jobs.txt --sim 1
	printf '%s/a b\nfrom file\n' "$PWD" | cmp - gs_logs/job-1.log
}

@test "a missing cwd fails that job with its reason" {
	printf '[cpu cwd=/no/such] true\n[cpu] true\n' >jobs.txt
	run -125 gs-loop jobs.txt --sim 1
	[[ "$output" = *"job 1 finished [FAILED exit 125]: not started: "*"/no/such"* ]]
	job_is 1 failed 125
	job_is 2 ok
}

@test "a line of 100 KiB runs, one that exec refuses fails alone" {
	{
		printf '[cpu] echo %s | wc -c\n' "$(head -c 100000 /dev/zero | tr '\0' x)"
		printf '[cpu] true\n'
	} >jobs.txt
	run -0 gs-loop jobs.txt --sim 1
	[ "$(cat gs_logs/job-1.log)" -eq 100001 ]
}

@test "bytes that are no UTF-8, tabs and escapes leave board and journal whole" {
	printf '[cpu] printf %%s "\xff\t\x1b[31m\xe6\x97\xa5" | wc -c\n' >jobs.txt
	LC_ALL=C.UTF-8 run -0 gs-loop jobs.txt --sim 1
	[[ "$output" != *$'\x1b'* ]]
	run ! grep -q $'\x1b' gs_logs/status.txt
	jq -e .schema gs_logs/status.json
	jq -s -e 'length > 3' gs_logs/journal.jsonl
	[ "$(tr -d ' \n' <gs_logs/job-1.log)" = 10 ]
}

@test "the board shows GPUs, jobs and reasons, and its JSON twin the same" {
	printf '[vram=20G] until [ -e go ]; do sleep 0.1; done\n[vram=20G] true\n' >jobs.txt
	loop_start --sim 1 --poll 0.1
	wait_for 10 grep -q 'memory: ' gs_logs/status.txt
	grep -q '^  gpu 0  0/24576 MiB  0%$' gs_logs/status.txt
	grep -q '^  >    1  running .* gpu 0 .*/20480 MiB' gs_logs/status.txt
	grep -q '^  \.    2  pending  *memory: ' gs_logs/status.txt
	jq -e '.schema == 1 and (.jobs | length) == 2 and .jobs[0].state == "running"
	    and .jobs[1].reason == "memory" and .gpus[0].total == 24576' gs_logs/status.json
	touch go
	loop_end
	jq -e 'all(.jobs[]; .state == "ok")' gs_logs/status.json
}

@test "--board-lines limits what is shown of a state" {
	for i in $(seq 9); do echo "[cpu] echo $i"; done >jobs.txt
	run -0 gs-loop jobs.txt --sim 1 --board-lines 4
	[ "$(grep -c ' ok ' gs_logs/status.txt)" -eq 4 ]
	grep -q 'and 5 more' gs_logs/status.txt
}

@test "CPU jobs run where no GPU can be seen" {
	printf '[cpu] echo hi\n' >jobs.txt
	GS_SMI=/nonexistent run -0 gs-loop jobs.txt
	job_is 1 ok
}

@test "GPU jobs without any GPU end with a clear line and status 2" {
	echo true >jobs.txt
	GS_SMI=/nonexistent run -2 --separate-stderr gs-loop jobs.txt
	[[ "$stderr" = *"gs-loop: no GPUs; "* ]]
}

@test "a malformed attribute names file, line and word, and nothing is started" {
	printf 'true\n[vram=8G vrom=1] true\n' >jobs.txt
	run -2 --separate-stderr gs-loop jobs.txt --sim 1
	[[ "$stderr" = "gs-loop: jobs.txt:2: 'vrom"* ]]
	[ "$output" = "" ]
	[ ! -e gs_logs ]
}

@test "wrong use is one clear line and status 2" {
	run -2 --separate-stderr gs-loop
	[ "$output" = "" ]
	[ "${stderr%%$'\n'*}" = "gs-loop: no jobs file named" ]
	run -2 --separate-stderr gs-loop nosuch.txt --sim 1
	[ "$stderr" = "gs-loop: nosuch.txt: No such file or directory" ]
	echo true >jobs.txt
	run -2 --separate-stderr gs-loop jobs.txt --nosuch
	[[ "$stderr" = *"--nosuch"* ]]
	run -2 --separate-stderr gs-loop jobs.txt --poll soon
	[ "$stderr" = "gs-loop: --poll 'soon': invalid" ]
	run -2 --separate-stderr gs-loop jobs.txt other.txt
	[[ "$stderr" = "gs-loop: 'other.txt': only one jobs file"* ]]
	run -2 --separate-stderr gs-loop . --sim 1
	[ "$stderr" = "gs-loop: .: not a regular file" ]
	touch file
	run -2 --separate-stderr gs-loop jobs.txt --sim 1 --log-dir file
	[ "$stderr" = "gs-loop: file: not a directory" ]
	run -2 --separate-stderr gs-loop jobs.txt --sim 1 --log-dir no/such/dir
	[ "$stderr" = "gs-loop: no/such/dir: No such file or directory" ]
}

@test "a FIFO in place of the jobs file does not hang it" {
	mkfifo jobs.txt
	run -2 --separate-stderr timeout 5 gs-loop jobs.txt --sim 1
	[ "$stderr" = "gs-loop: jobs.txt: not a regular file" ]
}

@test "options may stand behind the jobs file or before it" {
	echo '[cpu] true' >jobs.txt
	run -0 gs-loop --sim 1 jobs.txt --log-dir elsewhere
	[ -s elsewhere/journal.jsonl ]
}

@test "GS_LOG_DIR names the log directory" {
	echo '[cpu] true' >jobs.txt
	GS_LOG_DIR=there run -0 gs-loop jobs.txt --sim 1
	[ -s there/journal.jsonl ]
}

@test "other programs can stand in for probe, place and launch" {
	echo 'echo "$CUDA_VISIBLE_DEVICES"' >jobs.txt
	cat >myplace <<-'EOF'
	#!/bin/sh
	# Everything goes to GPU 1.
	n=0
	while IFS='	' read -r tag id rest; do
		case $tag in
		gs) printf 'gs\t1\tmine\n'; n=0 ;;
		job) printf 'place\t%s\t1\t1000\n' "$id"; n=$((n + 1)) ;;
		end) printf 'end\t%s\n' "$n" ;;
		esac
	done
	EOF
	chmod +x myplace
	run -0 gs-loop jobs.txt --sim 2 --place ./myplace
	[ "$(cat gs_logs/job-1.log)" = 1 ]
}

@test "much output goes to the log, not through gs-loop" {
	echo '[cpu] head -c 20000000 /dev/zero' >jobs.txt
	loop_start --sim 1
	wait_for 20 job_is 1 ok
	loop_end
	[ "$(stat -c %s gs_logs/job-1.log)" -eq 20000000 ]
}

@test "planted FIFOs hold up neither a job nor the board" {
	mkdir -m 700 gs_logs
	mkfifo gs_logs/job-1.log gs_logs/status.txt.tmp gs_logs/status.json.tmp
	printf '[cpu] true\n[cpu] echo b\n' >jobs.txt
	run -125 timeout 20 gs-loop jobs.txt --sim 1
	[[ "$output" = *"job 1 finished [FAILED exit 125]: not started: "*"job-1.log"* ]]
	job_is 2 ok
	[ -f gs_logs/status.txt ]
	jq -e .schema gs_logs/status.json
}
