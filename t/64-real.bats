#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# gs-loop from end to end: real commands, on machines whose nvidia-smi was
# recorded.

# Jobs hold the variables of their own shells, and each test is a subshell:
# shellcheck disable=SC2016,SC2030,SC2031,SC2154

load lib
load loop

A=GPU-11111111-aaaa-4bbb-8ccc-000000000001
B=GPU-22222222-aaaa-4bbb-8ccc-000000000002

setup() {
	gs_setup
	export PATH=$T/bin:$PATH
	F=$T/fixtures/smi
}

teardown() {
	loop_teardown
}

# machine DIR: it is the one that we are on.
machine() {
	export GS_FAKE_SMI=$1 GS_FAKE_SLEEP=0.2 GS_FAKE_LOG=$PWD/looks
	unset GS_SMI
	! grep -qs absent "$1/behaviour" || export GS_SMI=no-such-program
}

# kinds DIR...: what a job of 1 GiB meets on each recorded machine (it fits,
# waits or fails), the machine, and INDEX:UUID of each GPU that surely has
# room.  With the margin that is 1.5 GiB, and a tenth of what others hold is
# kept for them.
kinds() {
	awk -F'\t' '
	function machine(  u, room) {
		for (u in free)
			if (free[u] - held[u] / 10 >= 2000)
				room = room " " no[u] ":" u
		if (dir != "")
			print (failed ? "fails" : room ? "fits" : "waits"),
			    dir room
		split("", held)
		split("", free)
		failed = 0
	}
	FNR == 1 {
		machine()
		dir = FILENAME
		sub("/[^/]*$", "", dir)
	}
	$1 == "verdict" { failed = $2 == "fail" }
	$1 == "proc" && $4 != "-" { held[$2] += $4 }
	$1 == "gpu" && $8 == "yes" { no[$3] = $2; free[$3] = $6 }
	END { machine() }' "${@/%/expect.tsv}"
}

# for_each KIND: do what the function of that name does on each recorded
# machine of that kind, in a folder of its own.  It fails if one fails, after
# all, and tells which.  Much of the time is waiting, so several go at once.
for_each() {
	local machines dir kind rooms n=0
	shared fixtures/smi >path
	dir=$(cd "$(cat path)" && pwd)
	machines=$(kinds "$dir"/*/)
	: >bad
	while read -r kind dir rooms; do
		[ "$kind" = "$1" ] || continue
		n=$((n + 1))
		one_machine "$1" "$dir" "$rooms" 3>&- &
		[ $((n % 4)) -ne 0 ] || wait
	done <<<"$machines"
	wait
	echo "$n machines, wrong:"
	cat bad
	[ "$(wc -l <<<"$machines")" -ge 40 ]
	[ "$n" -ge 5 ]
	[ ! -s bad ]
}

one_machine() {
	local name=${2##*/}
	mkdir "$name"
	cd "$name" || return
	machine "$2"
	LOOP=
	"$@" >report 2>&1 ||
		{ echo "$name:"; tail -n 20 report out err; } >>../bad 2>&1
	[ -z "$LOOP" ] || kill -TERM "$LOOP" 2>/dev/null || true
}

# jobs: a file with jobs 1 and 2 for the processors and job 3 for a GPU.
jobs() {
	printf '%s\n' '[cpu] echo "no gpu"' '[cpu] seq 1000 | tail -n 1' \
	    '[vram=1G] echo "$CUDA_VISIBLE_DEVICES $CUDA_DEVICE_ORDER"' \
	    >jobs.txt
}

# states WORD...: the jobs are in these, NO:STATE:STATUS each.
states() {
	[ "$(gs-journal -l gs_logs state | awk -F'\t' '
	$1 == "state" { printf " %s:%s:%s", $2, $4, $6 }')" = " $*" ]
}

cpu_logs() {
	[ "$(<gs_logs/job-1.log)" = "no gpu" ] &&
		[ "$(<gs_logs/job-2.log)" = 1000 ]
}

cpu_jobs_ran() {
	job_is 1 ok 0 && job_is 2 ok 0 && cpu_logs
}

# start_of NO: GPUs and UUIDs that the journal has for the latest start.
start_of() {
	jq -r --argjson no "$1" 'select(.event == "start" and .no == $no) |
	    [(.gpus | join(",")), (.uuids | join(","))] | @tsv' \
	    gs_logs/journal.jsonl | tail -n 1
}

# reason_of NO: what the board says that a job waits for.
reason_of() {
	jq -er --argjson no "$1" '.jobs[] | select(.no == $no) | .reason' \
	    gs_logs/status.json
}

has_reason() {
	reason_of "$@"
}

fits() {
	local start
	jobs
	timeout 60 gs-loop jobs.txt --poll 0.2 >out 2>err || return
	start=$(start_of 3)
	echo "started on $start, not one of $2"
	states 1:ok:0 2:ok:0 3:ok:0 && cpu_logs &&
		[[ " $2 " = *" ${start/$'\t'/:} "* ]] &&
		[ "$(<gs_logs/job-3.log)" = "${start%%$'\t'*} PCI_BUS_ID" ]
}

# want_reason NAME: why it waits on that machine.
want_reason() {
	case $1 in
	unified-*) echo memory-unknown ;;
	mps) echo busy ;;
	names-not-found) echo memory ;;
	*) echo gpus ;;
	esac
}

waits() {
	jobs
	loop_start --poll 0.5
	wait_for 30 has_reason 3 && wait_for 30 has_looked 3 &&
		wait_for 30 cpu_jobs_ran && kill -TERM "$LOOP" &&
		loop_end 143 || return
	echo "waits for $(reason_of 3)"
	[ "$(reason_of 3)" = "$(want_reason "${1##*/}")" ] &&
		states 1:ok:0 2:ok:0 3:pending:- && started 2
}

fails() {
	local status=0
	jobs
	sed -n 3p jobs.txt >gpu.txt
	timeout 60 gs-loop gpu.txt --poll 0.2 -l gpu_logs >out 2>err || status=$?
	[ "$status" -eq 2 ] && [ ! -s out ] &&
		grep -q '^gs-probe: ' err &&
		grep -q '^gs-loop: no GPUs; ' err &&
		! grep -q '"event":"start"' gpu_logs/journal.jsonl || return
	sed -i 3d jobs.txt
	timeout 60 gs-loop jobs.txt --poll 0.2 >out 2>err &&
		states 1:ok:0 2:ok:0 && cpu_logs
}

# bats test_tags=long
@test "a job that fits runs on a GPU with room, whatever the machine prints" {
	for_each fits
}

@test "GPUs that take nothing now are given nothing, and the rest is done" {
	for_each waits
}

@test "a machine without a working nvidia-smi still does what needs no GPU" {
	for_each fails
}

@test "the jobs that need no GPU run to their end where there is none" {
	export GS_SMI=no-such-program
	# That the others have none must not be known too early:
	printf '#!/bin/sh\nsleep 0.5\nexec gs-place "$@"\n' >place
	chmod +x place
	jobs
	echo '[cpu name=one] sleep 0.1' >>jobs.txt
	echo '[cpu after=one] echo two' >>jobs.txt
	run -2 --separate-stderr timeout 60 gs-loop jobs.txt --poll 0.2 \
	    --place ./place
	[[ $stderr = *"gs-loop: no GPUs; "* ]]
	cpu_jobs_ran
	job_is 3 pending
	job_is 5 ok 0
	started 4
}

@test "with --watch the GPUs may come later" {
	export GS_FAKE_SMI=$PWD/m
	mkdir m
	cp "$F"/mismatch/* m
	jobs
	loop_start --poll 0.1 --watch
	wait_for 20 cpu_jobs_ran
	wait_for 20 said 'mismatch'
	job_is 3 pending
	[ "$(reason_of 3)" = gpus ]
	rm m/rc*
	cp "$F"/plain/* m
	wait_for 20 job_is 3 ok 0
	kill -TERM "$LOOP"
	loop_end 143
}

@test "a hanging nvidia-smi holds up no job but those for a GPU" {
	machine "$F/hang"
	jobs
	loop_start --poll 0.1
	wait_for 20 cpu_jobs_ran
	job_is 3 pending
	[ "$(reason_of 3)" = gpus ]
	kill -TERM "$LOOP"
	loop_end 143
	started 2
	wait_for 20 gone "$(tail -n 1 looks | cut -d' ' -f1)"
	sed -i 3d jobs.txt
	timeout 5 gs-loop jobs.txt --poll 0.1
	wait_for 20 gone "$(tail -n 1 looks | cut -d' ' -f1)"
}

@test "real work: compile, sort, pipe, quote and fail" {
	machine "$F/plain"
	cat >sum.c <<-'END'
	#include <stdio.h>
	int main(void)
	{
		long i, n = 0;
		for (i = 1; i <= 1000; i++)
			n += i;
		printf("%ld\n", n);
		return 0;
	}
	END
	cat >jobs.txt <<-'END'
	# What a day's work may look like.
	[cpu name=cc] ${CC:-cc} -O2 -o sum sum.c && ./sum
	[cpu after=cc] test "$(./sum)" -eq 500500 && echo 'it is right'
	[cpu name=sort timeout=5m] seq 200000 -1 1 | awk '{ print $1 * 7919 % 200003 }' >numbers; sort -n -o sorted numbers && sort -n -c sorted && wc -l <sorted
	[cpu] echo begun; false || { echo "failed as it should" >&2; exit 9; }
	[cpu] printf '%s\n' "it's" 'a "b"' "\$HOME" | sed 's/"/<&>/g' | tr a-z A-Z
	[cpu] awk -v OFS=": " 'BEGIN { print "it'"'"'s", "\"quoted\"" }' | cat -
	[vram=2G] echo "gpu $CUDA_VISIBLE_DEVICES, $CUDA_DEVICE_ORDER, job $GS_NO"
	[gpus=2 vram=2G] echo "gpus $CUDA_VISIBLE_DEVICES, $GS_VRAM_MIB MiB"
	END
	run -9 --separate-stderr timeout 60 gs-loop jobs.txt --poll 0.2
	[ "$stderr" = "" ]
	[[ $output = *"8 jobs: 7 ok, 1 failed"* ]]
	states 1:ok:0 2:ok:0 3:ok:0 4:failed:9 5:ok:0 6:ok:0 7:ok:0 8:ok:0
	[ "$(cat gs_logs/job-1.log)" = 500500 ]
	[ "$(cat gs_logs/job-2.log)" = "it is right" ]
	[ "$(cat gs_logs/job-3.log)" = 200000 ]
	sort -n -c sorted
	[ "$(cat gs_logs/job-4.log)" = $'begun\nfailed as it should' ]
	[ "$(cat gs_logs/job-5.log)" = $'IT\'S\nA <">B<">\n$HOME' ]
	[ "$(cat gs_logs/job-6.log)" = "it's: \"quoted\"" ]
	[ "$(cat gs_logs/job-7.log)" = "gpu 0, PCI_BUS_ID, job 7" ]
	[ "$(cat gs_logs/job-8.log)" = "gpus 0,1, 2048 MiB" ]
	[ "$(start_of 7)" = "$(tsv 0 $A)" ]
	[ "$(start_of 8)" = "$(tsv 0,1 "$A,$B")" ]
	logs=(gs_logs/job-*.log)
	[ "${#logs[@]}" -eq 8 ]
}

# plug DIR: from now on that is the machine.
plug() {
	ln -sfn "$1" next
	mv -T next now
}

# big NAME: a job that fills a GPU until the file NAME is there.
big() {
	echo "[vram=38G] until [ -e $1 ] || [ -e go ]; do sleep 0.02; done; echo \$CUDA_VISIBLE_DEVICES"
}

@test "a GPU that drops out takes its own job's room along, not another's" {
	plug "$F/gap-before"
	machine "$PWD/now"
	{ big one; big two; } >jobs.txt
	loop_start --poll 0.1
	wait_for 20 job_is 1 running
	wait_for 20 job_is 2 running
	[ "$(start_of 1)" = "$(tsv 0 $A)" ]
	[ "$(start_of 2)" = "$(tsv 1 $B)" ]

	# What is left is B, by the number that A had.
	plug "$F/gap-after"
	wait_for 20 jq -e '.gpus | length == 1' gs_logs/status.json
	{ big three; big four; } >>jobs.txt
	wait_for 20 has_reason 3
	look_again
	job_is 3 pending
	job_is 1 running
	[ "$(start_of 2)" = "$(tsv 1 $B)" ]

	# The end of A's job makes no room on B, ...
	touch one
	wait_for 20 job_is 1 ok 0
	look_again
	job_is 3 pending
	# ... that of B's own does, for one.
	touch two
	wait_for 20 job_is 3 running
	[ "$(start_of 3)" = "$(tsv 0 $B)" ]
	look_again
	job_is 4 pending

	# A is back, and empty.
	plug "$F/gap-before"
	wait_for 20 job_is 4 running
	[ "$(start_of 4)" = "$(tsv 0 $A)" ]
	touch go
	loop_end
	started 4
	[ "$(cat gs_logs/job-[1-4].log | tr '\n' ' ')" = "0 1 0 0 " ]
}

@test "a job of a GPU that dropped out holds no room on the one that is left" {
	plug "$F/gap-before"
	machine "$PWD/now"
	big one >jobs.txt
	loop_start --poll 0.1
	wait_for 20 job_is 1 running
	plug "$F/gap-after"
	wait_for 20 jq -e '.gpus | length == 1' gs_logs/status.json
	big two >>jobs.txt
	wait_for 20 job_is 2 running
	[ "$(start_of 1)" = "$(tsv 0 $A)" ]
	[ "$(start_of 2)" = "$(tsv 0 $B)" ]
	touch go
	loop_end
}

@test "what needs the GPU that dropped out waits for it" {
	plug "$F/gap-before"
	machine "$PWD/now"
	big one >jobs.txt
	loop_start --poll 0.1
	wait_for 20 job_is 1 running
	plug "$F/gap-after"
	wait_for 20 jq -e '.gpus | length == 1' gs_logs/status.json
	echo '[gpus=2 vram=1G] echo $CUDA_VISIBLE_DEVICES' >>jobs.txt
	wait_for 20 has_reason 2
	[ "$(reason_of 2)" = gpus ]
	touch go
	wait_for 20 job_is 1 ok 0
	look_again
	job_is 2 pending
	plug "$F/gap-before"
	loop_end
	job_is 2 ok 0
	[ "$(start_of 2)" = "$(tsv 0,1 "$A,$B")" ]
}

@test "a GPU that drops out is named once" {
	plug "$F/gap-before"
	machine "$PWD/now"
	big one >jobs.txt
	loop_start --poll 0.1
	wait_for 20 job_is 1 running
	plug "$F/gap-after"
	wait_for 5 said "$A"
	look_again
	touch go
	loop_end
	[ "$(grep -ch "$A" out err | awk '{ n += $1 } END { print n }')" -eq 1 ]
}

@test "the memory of a job is what nvidia-smi says of its processes" {
	cp -r "$F/gap-before" m
	machine "$PWD/m"
	{
		echo '[vram=4G] echo $$ >pid; until [ -e go ]; do sleep 0.1; done'
		echo '[vram=38G] echo elsewhere'
	} >jobs.txt
	loop_start --poll 0.1
	wait_for 20 test -s pid
	wait_for 20 job_is 2 ok 0
	[ "$(start_of 2)" = "$(tsv 1 $B)" ]
	echo "$A, $(cat pid), 5000, python" >apps
	mv apps m/query-compute-apps.csv
	sed 's/597, 0, 40363/597, 5010, 35353/;2d' m/query-gpu.csv >gpu
	sed -n 2p m/query-gpu.csv >>gpu
	mv gpu m/query-gpu.csv
	wait_for 20 said 'WARN job 1 EXCEEDS declared VRAM on gpu 0: 5000 MiB used, 4096 MiB declared'
	touch go
	loop_end
	said 'peak vram gpu0:5000 MiB | declared 4096 MiB'
	jq -e --arg a $A 'select(.event == "done" and .peak[$a] == 5000)' \
	    gs_logs/journal.jsonl
}
