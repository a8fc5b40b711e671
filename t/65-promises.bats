#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# gs-loop: promises of the manuals that the other files do not show.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154

load lib
load loop

A=GPU-11111111-aaaa-4bbb-8ccc-000000000001

setup() {
	gs_setup
	export PATH=$T/bin:$PATH
	FOREIGN=
}

teardown() {
	loop_teardown
	[ -z "$FOREIGN" ] || kill "$FOREIGN" 2>/dev/null || true
}

# A job that runs until the file `go` appears.
until_go() {
	echo "[${1-cpu}] until [ -e go ]; do sleep 0.1; done"
}

# card PID:MIB...: the machine has one card, on which these hold memory.
card() {
	local p used=0
	mkdir -p m
	export GS_FAKE_SMI=$PWD/m GS_FAKE_LOG=$PWD/looks
	: >m/apps
	for p; do
		echo "$A, ${p%:*}, ${p#*:}, python" >>m/apps
		used=$((used + ${p#*:}))
	done
	echo "0, $A, 00000000:3B:00.0, NVIDIA A100-SXM4-40GB, 40960, 597, $used, $((40363 - used)), 0, Default, Disabled, 41" >m/gpu
	mv m/apps m/query-compute-apps.csv
	mv m/gpu m/query-gpu.csv
}

# A process of nobody's job.
foreign() {
	sleep 300 3>&- &
	FOREIGN=$!
}

# waits NO [REASON]: the board says so.
waits() {
	jq -e --argjson no "$1" --arg r "${2-memory}" '.jobs[] |
	    select(.no == $no) | .state == "pending" and .reason == $r' \
	    gs_logs/status.json
}

@test "file order with backfill: smaller jobs run past a big one that waits" {
	{ until_go vram=10G; echo '[vram=20G] echo big'; echo '[vram=4G] echo small'; } >jobs.txt
	loop_start --sim 1 --poll 0.1
	wait_for 20 job_is 3 ok
	job_is 2 pending
	touch go
	loop_end
	job_is 2 ok
}

@test "CPU jobs run at once whatever the GPUs do" {
	{
		until_go vram=23G
		echo '[vram=2G] true'
		echo 'true undeclared'
		echo '[gpus=0] echo "<$CUDA_VISIBLE_DEVICES>"'
		echo '[cpu] true'
	} >jobs.txt
	loop_start --sim 1
	wait_for 20 job_is 5 ok
	job_is 4 ok
	job_is 2 pending
	job_is 3 pending
	[ "$(cat gs_logs/job-4.log)" = '<>' ]
	touch go
	loop_end
}

@test "a job that exceeds its declaration is budgeted by its peak" {
	echo '[vram=4G] gs-simjob --vram 12000 --hold 300' >jobs.txt
	loop_start --sim 1 --poll 0.1
	wait_for 20 said 'WARN job 1 EXCEEDS declared VRAM on gpu 0: 12000 MiB used, 4096 MiB declared'
	{ echo '[vram=11G] echo by its declaration it would fit'; echo '[vram=8G] true'; } >>jobs.txt
	wait_for 20 job_is 3 ok
	wait_for 20 waits 2
	[ "$(grep -c EXCEEDS out)" -eq 1 ]
	sed -i 1s/vram/'cancel vram'/ jobs.txt
	loop_end
	job_is 2 ok
	said 'UNDER-declared (+192%)'
}

@test "a foreign process is held to its peak until it exits" {
	foreign
	card "$FOREIGN:30000"
	until_go >jobs.txt
	loop_start --poll 0.05
	wait_for 20 has_looked 2
	card "$FOREIGN:100"
	look_again
	echo '[vram=20G] echo in the trough' >>jobs.txt
	wait_for 20 waits 2
	look_again
	job_is 2 pending
	card
	wait_for 20 job_is 2 ok
	touch go
	loop_end
}

@test "--spike-buffer says how much is added to what foreigners were seen to use" {
	foreign
	card "$FOREIGN:20000"
	echo '[vram=15G] true' >jobs.txt
	run -0 gs-loop jobs.txt --poll 0.05
	loop_start --poll 0.05 --spike-buffer 1.0 --fresh
	wait_for 20 waits 1
	card
	loop_end
}

@test "a desktop of 153 MiB leaves a GPU idle, unless --idle-threshold is lower" {
	foreign
	card "$FOREIGN:153"
	echo 'echo undeclared' >jobs.txt
	run -0 gs-loop jobs.txt --poll 0.05
	loop_start --poll 0.05 --idle-threshold 100 --fresh
	wait_for 20 waits 1 busy
	grep -q 'gpu 0 is not idle: 169 MiB kept for others' gs_logs/status.txt
	card
	loop_end
}

@test "--margin is added to every declaration" {
	echo '[vram=20G] true' >jobs.txt
	run -0 gs-loop jobs.txt --sim 1 --margin 4G
	run -125 gs-loop jobs.txt --sim 1 --margin 4097M --fresh
	[[ $output == *'holds 24576 MiB when empty, 20480 + 4097 asked'* ]]
}

@test "--tolerance is the band in which a declaration is right" {
	echo '[vram=10000] gs-simjob --vram 10900 --hold 0.3' >jobs.txt
	run -0 gs-loop jobs.txt --sim 1 --poll 0.05
	[[ $output == *'within +-10%'* && $output != *EXCEEDS* ]]
	run -0 gs-loop jobs.txt --sim 1 --poll 0.05 --fresh --tolerance 0.05
	[[ $output == *'EXCEEDS'*'UNDER-declared (+9%)'* ]]
	echo '[vram=10000] gs-simjob --vram 9100 --hold 0.3' >jobs.txt
	run -0 gs-loop jobs.txt --sim 1 --poll 0.05
	[[ $output == *'within +-10%'* ]]
	run -0 gs-loop jobs.txt --sim 1 --poll 0.05 --fresh --tolerance 0.05
	[[ $output == *'over-declared (-9%); lowering it frees packing headroom'* ]]
}

@test "a peak that cannot be attributed is n/a, not a number" {
	card
	until_go vram=4G >jobs.txt
	loop_start --poll 0.05
	wait_for 20 job_is 1 running
	card 4194301:5000
	look_again
	touch go
	loop_end
	said 'peak vram n/a | declared 4096 MiB | avg gpu util 0%'
	run ! said EXCEEDS
	run ! jq -e 'select(.event == "done" and has("peak"))' gs_logs/journal.jsonl
	run -0 gs-journal state
	[ "$(awk -F'\t' '$1 == "state" { print $9 }' <<<"$output")" = - ]
}

@test "--verbose says how memory grows" {
	echo '[vram=8G] gs-simjob --vram 8000 --ramp 1 --hold 0.2' >jobs.txt
	run -0 gs-loop jobs.txt --sim 1 --poll 0.05 -v
	[ "$(grep -c 'job 1 peak vram gpu0:[0-9]* MiB of 8192 MiB declared' <<<"$output")" -gt 3 ]
	run -0 gs-loop jobs.txt --sim 1 --poll 0.05 --fresh
	[ "$(grep -c 'job 1 peak vram gpu' <<<"$output")" -eq 0 ]
}

@test "edits of running and of finished lines change nothing" {
	{ until_go vram=4G; echo '[cpu] echo over'; } >jobs.txt
	loop_start --sim 1
	wait_for 20 job_is 2 ok
	wait_for 20 job_is 1 running
	sed -i 's/vram=4G/vram=30G tag=x timeout=1s/; s/cpu/cpu tag=y/' jobs.txt
	echo '[cpu] echo taken' >>jobs.txt
	wait_for 20 job_is 3 ok
	job_is 1 running
	touch go
	loop_end
	started 3
	[ "$(gs-journal state | awk -F'\t' '$2 == 1 && $1 == "state" { print $8 }')" = 4096 ]
}

@test "a line that is changed trivially runs again, and only that" {
	printf '[cpu] echo a >>ran\n[cpu] echo b >>ran\n' >jobs.txt
	run -0 gs-loop jobs.txt --sim 1
	sed -i '1s/$/ # again/' jobs.txt
	run -0 gs-loop jobs.txt --sim 1
	[ "$(sort ran | tr -d '\n')" = aab ]
}

@test "a time limit holds while no gs-loop is alive" {
	echo '[cpu timeout=0.7s] trap "exit 0" TERM; echo up; while :; do sleep 0.1; done' >jobs.txt
	loop_start --sim 1
	wait_for 20 grep -q up gs_logs/job-1.log
	kill -KILL "$LOOP"
	wait "$LOOP" || true
	wait_for 20 job_is 1 timeout 124
	run -124 gs-loop jobs.txt --sim 1
	[[ $output == *'job 1 finished [TIMEOUT]'* ]]
	started 1
}

# Preloading does not go together with sanitizers.
# bats test_tags=long
@test "steps of the system clock by a day change nothing" {
	echo 0 >shift.now
	echo '[cpu timeout=1.5s] sleep 300' >jobs.txt
	until_go >>jobs.txt
	(
		export CLOCK_SHIFT=$PWD/shift.now LD_PRELOAD=$BIN/../t/clockshift.so
		loop_start --sim 1 --poll 0.1 --watch
		echo "$LOOP" >pid
		wait "$LOOP" || echo $? >status
	) 3>&- &
	LOOP=$!
	wait_for 20 started 2
	from=$EPOCHSECONDS
	echo 86400 >shift.now
	echo '[cpu] true' >>jobs.txt
	wait_for 20 job_is 3 ok
	job_is 1 running
	echo -86400 >shift.now
	echo '[cpu] true x' >>jobs.txt
	wait_for 20 job_is 4 ok
	wait_for 20 job_is 1 timeout 124
	[ $((EPOCHSECONDS - from)) -lt 15 ]
	jq -se 'any(.cause == "timeout" and .wall >= 1.4 and .wall < 10)' \
	    gs_logs/journal.jsonl
	job_is 2 running
	touch go
	wait_for 20 job_is 2 ok
	kill -TERM "$(cat pid)"
	wait_for 20 test -s status
	[ "$(cat status)" = 143 ]
}

@test "HUP ends gs-loop, as TERM does, and the jobs go on" {
	until_go >jobs.txt
	loop_start --sim 1
	wait_for 20 job_is 1 running
	kill -HUP "$LOOP"
	loop_end 129
	job_is 1 running
	touch go
	run -0 gs-loop jobs.txt --sim 1
	started 1
}

@test "the end by TERM is the same with nothing to do and with work" {
	echo '[cpu] true' >jobs.txt
	loop_start --sim 1 --watch
	wait_for 20 job_is 1 ok
	kill -TERM "$LOOP"
	loop_end 143
	until_go >>jobs.txt
	loop_start --sim 1 --watch
	wait_for 20 job_is 2 running
	kill -TERM "$LOOP"
	loop_end 143
}

@test "the board has a mark and a word for every state" {
	{
		until_go
		echo '[cpu] true'
		echo '[cpu] false'
		echo '[cpu cancel] true x'
		echo '[cpu hold] true y'
		echo '[cpu after=3] true z'
		echo '[vram=99G] true'
	} >jobs.txt
	LC_ALL=C.UTF-8 loop_start --sim 1
	wait_for 20 job_is 7 infeasible
	wait_for 20 grep -q '✗ *7  infeasible' gs_logs/status.txt
	wait_for 20 grep -q '✓ *2  ok' gs_logs/status.txt
	wait_for 20 grep -q '✗ *3  failed *exit 1' gs_logs/status.txt
	wait_for 20 grep -q '⊘ *6  skipped' gs_logs/status.txt
	grep -q '▶ *1  running' gs_logs/status.txt
	grep -q '⊘ *4  cancelled' gs_logs/status.txt
	grep -q '· *5  pending *held' gs_logs/status.txt
	grep -qE '^[0-9]{4}-[0-9-]{5} [0-9:]{8}  jobs.txt  ' gs_logs/status.txt
	jq -r '.jobs[].state' gs_logs/status.json | paste -sd' ' |
	    grep -qx 'running ok failed cancelled pending skipped infeasible'
	touch go
	loop_end 125
}

@test "a board that is read at any moment is a whole one" {
	for i in $(seq 40); do echo "[cpu] true $i"; done >jobs.txt
	until_go >>jobs.txt
	loop_start --sim 1 --poll 0.02
	wait_for 20 test -s gs_logs/status.json
	for _ in $(seq 60); do
		[ "$(jq '.schema + (.jobs | length)' gs_logs/status.json)" -eq 42 ]
		tail -n 1 gs_logs/status.txt | grep -q 'until \[ -e go'
	done
	touch go
	loop_end
}

@test "an empty journal is a fresh start" {
	mkdir gs_logs
	: >gs_logs/journal.jsonl
	echo '[cpu] true' >jobs.txt
	run -0 gs-loop jobs.txt --sim 1
	job_is 1 ok
}

@test "lines are for sh: source fails and says so, bash -c takes it" {
	echo 'X=7' >env.sh
	{
		echo '[cpu] source ./env.sh; exit $X'
		printf '%s\n' "[cpu] bash -c 'source ./env.sh; exit \$X'"
	} >jobs.txt
	loop_start --sim 1
	loop_end 127
	grep -q 'sh: .*source: not found' gs_logs/job-1.log || [ "$(readlink -f /bin/sh)" != /usr/bin/dash ]
	job_is 2 failed 7
}

@test "a job that leaves its mask is warned about, with both GPUs named" {
	echo '[vram=1G] CUDA_VISIBLE_DEVICES=1 gs-simjob --vram 100 --hold 300' >jobs.txt
	loop_start --sim 2 --poll 0.05
	wait_for 20 said 'WARN job 1 runs on gpu 1, but was given [0]'
	sed -i 's/vram/cancel vram/' jobs.txt
	loop_end
	[ "$(grep -c 'but was given' out)" -eq 1 ]
}

@test "the mask that a job has is the one in the journal" {
	{ until_go 'vram=20G'; until_go 'vram=16G gpus=2'; } >jobs.txt
	loop_start --sim 4
	wait_for 20 job_is 2 running
	jq -r 'select(.event == "start") | [.pgid, (.gpus | join(","))] | @tsv' \
	    gs_logs/journal.jsonl >starts
	[ "$(wc -l <starts)" -eq 2 ]
	while read -r pid gpus; do
		tr '\0' '\n' <"/proc/$pid/environ" | grep -qx "CUDA_VISIBLE_DEVICES=$gpus"
	done <starts
	touch go
	loop_end
}

@test "memory that an ended job still holds delays the next, and is told of" {
	card
	echo '[vram=30G] echo $$ >pid; until [ -e go ]; do sleep 0.1; done' >jobs.txt
	loop_start --poll 0.05
	wait_for 20 test -s pid
	card "$(cat pid):30000"
	look_again
	echo '[vram=20G] true' >>jobs.txt
	touch go
	wait_for 20 job_is 1 ok
	wait_for 20 said "WARN job 1 has ended, but pid $(cat pid) still holds 30000 MiB on gpu 0"
	look_again
	job_is 2 pending
	[ "$(grep -c 'still holds' out)" -eq 1 ]
	card
	loop_end
}

@test "a cancel in the moment of the launch is obeyed" {
	cat >launch <<-'EOF'
	#!/bin/sh
	touch launching
	until [ -e proceed ]; do sleep 0.05; done
	exec gs-launch "$@"
	EOF
	chmod +x launch
	echo '[cpu] echo up >>ran; sleep 300' >jobs.txt
	loop_start --sim 1 --launch ./launch
	wait_for 20 test -e launching
	sed -i 's/cpu/cpu cancel/' jobs.txt
	wait_for 20 grep -q '"event":"cancel"' gs_logs/journal.jsonl
	touch proceed
	loop_end
	job_is 1 cancelled
	[ "$(grep -c cancelled out)" -ge 1 ]
}

@test "two gs-loops on the same GPUs see each other's jobs as foreign" {
	export GS_SIM_DIR=$PWD/sim
	echo '[vram=20G] gs-simjob --vram 20000 --hold 300' >jobs.txt
	loop_start --sim 1 --poll 0.05
	wait_for 20 said 'job 1 started'
	wait_for 20 sh -c 'gs-probe --sim 1 | grep -q "^proc.*	20000	"'
	mkdir other
	cd other
	echo '[vram=10G] true' >jobs.txt
	gs-loop jobs.txt --sim 1 --poll 0.05 >out 2>err 3>&- &
	other=$!
	wait_for 20 waits 1
	sed -i 's/vram/cancel vram/' ../jobs.txt
	wait_for 20 gone_or_zombie "$other"
	wait "$other"
	job_is 1 ok
	cd "$BATS_TEST_TMPDIR"
	loop_end
}

# One way to save the file `new` as jobs.txt, out of twelve.
save() {
	case $(($1 % 12)) in
	0) cat new >jobs.txt ;;
	1) : >jobs.txt; sleep 0.05; head -c 20 new >jobs.txt; sleep 0.05; cat new >jobs.txt ;;
	2) cp new tmp; mv tmp jobs.txt ;;
	3) rm jobs.txt; cp new jobs.txt ;;
	4) rm jobs.txt; sleep 0.1; cp new jobs.txt ;;
	5) cp new tmp; sed -i 's/$/ /' tmp; sed 's/ $//' tmp >jobs.txt ;;
	6) mv jobs.txt jobs.txt~; cp new jobs.txt ;;
	7) tail -n 1 new >>jobs.txt ;;
	8) tail -n 1 new | head -c 9 >>jobs.txt; sleep 0.1; tail -n 1 new | tail -c +10 >>jobs.txt ;;
	9) dd if=new of=jobs.txt conv=notrunc bs=7 status=none; truncate -s "$(stat -c %s new)" jobs.txt ;;
	10) cp new "saved-$1"; ln -sfn "saved-$1" jobs.txt ;;
	11) cp --remove-destination new jobs.txt ;;
	esac
}

# bats test_tags=long
@test "however an editor saves, no line is lost, repeated or run cut" {
	{ until_go; until_go 'cpu tag=2'; } >jobs.txt
	echo '[vram=23G hold] echo waits' >>jobs.txt
	loop_start --sim 1
	wait_for 20 job_is 2 running
	for i in $(seq 0 23); do
		echo "[cpu] echo saved in way $i >>ran; echo $i" >line
		cat jobs.txt line >new
		save "$i"
		[ "$i" -lt 12 ] || wait_for 20 grep -qx "saved in way $i" ran
	done
	touch go
	loop_end
	seq -f 'saved in way %g' 0 23 | sort >want
	sort ran | cmp want -
	[ "$(grep -c '"event":"cancel"' gs_logs/journal.jsonl)" -eq 0 ]
	job_is 3 pending
}
