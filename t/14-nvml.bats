#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The NVML backend against a library that plays scenarios (nvmlstub.c).

# Each test is a subshell, and run sets stderr_lines:
# shellcheck disable=SC2016,SC2030,SC2031,SC2154

load lib
load expect

setup() {
	gs_setup
	STUB=$BIN/../t/nvmlstub
	export GS_NVML=$STUB.so GS_FAKE_NVML=$PWD/scene
	JOBS=
}

teardown() {
	# shellcheck disable=SC2086
	[ -z "$JOBS" ] || kill -KILL $JOBS 2>/dev/null || true
}

# scene LINE...: the scenario from now on.
scene() {
	printf '%s\n' "$@" >new
	mv new scene
}

A100='gpu 0 uuid=GPU-a bus=00000000:C1:00.0 total=42949672960 reserved=629145600 used=14994636800 free=27325890560 util=55 mig=ns mode=0 name=NVIDIA A100'

# one_case FILE: is what gs-probe makes of it what its expect.tsv says?
one_case() {
	local lib=$STUB.so want
	! grep -q '^no nvmlDeviceGetMemoryInfo_v2' "$1" || lib=$STUB-v2.so
	! grep -qx 'symbols v1' "$1" || lib=$STUB-v1.so
	GS_NVML=$lib GS_FAKE_NVML=$1 run --separate-stderr \
	    gs-probe --backend nvml --timeout 3
	if grep -q '^verdict.fail' "${1%.txt}.expect.tsv"; then
		[ "$status" -eq 2 ] && [ -z "$output" ] &&
			[ "${#stderr_lines[@]}" -eq 1 ]
		return
	fi
	want=$(grep -E '^(gpu|proc)' "${1%.txt}.expect.tsv")
	[ "$status" -eq 0 ] && [ "$(as_expected)" = "$want" ]
}

@test "all scenarios seen in the wild are read as they should be" {
	local dir c n=0 bad=()
	shared fixtures/nvml >path
	dir=$(cat path)
	for c in "$dir"/*.txt; do
		n=$((n + 1))
		one_case "$c" || bad+=("$(basename "$c")")
	done
	echo "$n scenarios, wrong: ${bad[*]}"
	[ "$n" -ge 16 ]
	[ "${#bad[@]}" -eq 0 ]
}

@test "cards and processes come with all that is known and nothing else" {
	scene "$A100" \
	    'gpu 1 uuid=GPU-b bus=0000000F:5B:00.0 total=42949672960 reserved=0 used=0 free=42949672960 util=0 mode=3 name=NVIDIA A100' \
	    'proc 0 list=compute pid=4194301 mem=8589934592' \
	    'proc 0 list=graphics pid=4194302 mem=unknown'
	run -0 --separate-stderr gs-probe
	[ -z "$stderr" ]
	[[ ${lines[0]} == "$(tsv gs 1 gs-probe)"*"backend=nvml"* ]]
	[ "${lines[1]}" = "$(tsv gpu 0 GPU-a 40960 14300 55 yes \
	    'name=NVIDIA A100' free=26060 reserved=600 bus=0000:c1:00.0 mode=Default)" ]
	[ "${lines[2]}" = "$(tsv gpu 1 GPU-b 40960 0 0 alone \
	    'name=NVIDIA A100' free=40960 reserved=0 bus=000f:5b:00.0 mode=Exclusive_Process)" ]
	[ "${lines[3]}" = "$(tsv proc 0 4194301 - - - 8192 8192 - type=C)" ]
	[ "${lines[4]}" = "$(tsv proc 0 4194302 - - - - - - type=G)" ]
	[ "${lines[5]}" = "$(tsv end 4)" ]
}

@test "it is preferred to nvidia-smi, which is asked where it cannot work" {
	scene "$A100"
	export PATH=$T/bin:$PATH GS_FAKE_SMI=$T/fixtures/smi/plain
	run -0 --separate-stderr gs-probe
	[[ ${lines[0]} == *backend=nvml* ]]
	scene 'init 9'
	run -0 --separate-stderr gs-probe
	[[ ${lines[0]} == *backend=smi* ]]
	GS_NVML=no-such-library run -0 --separate-stderr gs-probe
	[[ ${lines[0]} == *backend=smi* ]]
}

@test "the library of the driver is found by its name" {
	scene "$A100"
	mkdir lib
	ln -s "$GS_NVML" lib/libnvidia-ml.so.1
	unset GS_NVML
	LD_LIBRARY_PATH=$PWD/lib run -0 gs-probe --backend nvml
	[[ ${lines[1]} == *GPU-a* ]]
}

@test "a program in the lists of compute and graphics counts once" {
	scene "$A100" \
	    'proc 0 list=compute pid=4194301 mem=104857600' \
	    'proc 0 list=graphics pid=4194301 mem=104857600'
	run -0 gs-probe
	[ "${lines[2]}" = "$(tsv proc 0 4194301 - - - 100 100 - type=C+G)" ]
	[ "${#lines[@]}" -eq 4 ]
}

@test "a list longer than there was room for is read whole" {
	{
		echo "$A100"
		for i in $(seq 300); do
			echo "proc 0 list=compute pid=$((4190000 + i)) mem=1048576"
		done
	} >scene
	run -0 gs-probe
	[ "$(grep -c '^proc' <<<"$output")" -eq 300 ]
	GS_NVML=$STUB-v1.so run -0 gs-probe
	[ "$(grep -c '^proc.*	1	1	-' <<<"$output")" -eq 300 ]
}

@test "a lost card keeps its name and hides no other" {
	scene "$A100" "${A100//GPU-a/GPU-b}"
	mkfifo ask
	gs-probe --on-demand <ask >out 2>err 3>&- &
	JOBS+=" $!"
	exec 8>ask
	echo >&8
	wait_for 20 grep -q ^end out
	scene "${A100/ mode=/ handle_rc=15 mode=}" "${A100//GPU-a/GPU-b}"
	echo >&8
	wait_for 20 has_frames 2 out
	exec 8>&-
	grep -qx "$(tsv gpu 0 GPU-a - - - no bus=0000:c1:00.0 'why=GPU is lost')" out
	[ "$(grep -c 'GPU-b.*	yes	' out)" -eq 2 ]
}

@test "compute modes decide who may be placed" {
	scene "$A100" "${A100/mode=0/mode=2}" "${A100/mode=0/mode=3}"
	run -0 gs-probe
	[[ ${lines[1]} == *$'\tyes\t'*mode=Default ]]
	[[ ${lines[2]} == *$'\tno\t'*mode=Prohibited$'\twhy=compute mode is Prohibited' ]]
	[[ ${lines[3]} == *$'\talone\t'*mode=Exclusive_Process ]]
}

@test "a divided card takes no job, its instances do, with their processes" {
	scene "${A100/mig=ns/mig=1}" "${A100//GPU-a/GPU-b}" \
	    'inst 0 gi=1 ci=0 uuid=MIG-1 total=20937965568 reserved=0 used=2407530496 free=18530435072 name=NVIDIA A100 MIG 3g.20gb' \
	    'inst 0 gi=2 ci=0 uuid=MIG-2 total=20937965568 reserved=0 used=0 free=20937965568 name=NVIDIA A100 MIG 3g.20gb' \
	    'proc 0 list=compute pid=4194301 mem=2407530496 gi=1 ci=0' \
	    'proc 0 list=compute pid=4194302 mem=1048576 gi=9 ci=0'
	run -0 --separate-stderr gs-probe
	grep -qx "gpu	0	GPU-a	.*	no	.*why=MIG is enabled" <<<"$output"
	grep -qx "$(tsv gpu 2 MIG-1 19968 2296 - yes \
	    'name=NVIDIA A100 MIG 3g.20gb' free=17672 reserved=0 mode=Default \
	    parent=0 env=CUDA_VISIBLE_DEVICES=MIG-1 'why=Not Supported')" <<<"$output"
	grep -q "^gpu	3	MIG-2	19968	0	-	yes" <<<"$output"
	grep -q "^proc	2	4194301	" <<<"$output"
	grep -q "^proc	0	4194302	" <<<"$output"
}

@test "a job on a MIG instance sees it by the name that CUDA knows" {
	scene "${A100/mig=ns/mig=1}" \
	    'inst 0 gi=1 ci=0 uuid=MIG-1 total=20937965568 reserved=0 used=0 free=20937965568' \
	    'inst 0 gi=2 ci=0 uuid=MIG-2 total=20937965568 reserved=0 used=0 free=20937965568'
	[ "$(gs-probe | gs-place --job '[vram=8G]' --gpus-only)" = MIG-1 ]
	{
		echo '[vram=15G] echo $CUDA_VISIBLE_DEVICES; until [ -e go ]; do sleep 0.1; done'
		echo '[vram=15G] echo $CUDA_VISIBLE_DEVICES; touch go'
		echo '[vram=8G gpus=2] echo no program can use two'
	} >jobs.txt
	run -125 gs-loop jobs.txt --poll 0.1
	[ "$(cat gs_logs/job-1.log gs_logs/job-2.log)" = $'MIG-1\nMIG-2' ]
	[[ $output == *'job 3 INFEASIBLE: '* ]]
}

@test "the driver's accounts know peaks that nobody saw" {
	sleep 300 3>&- &
	JOBS+=" $!"
	scene "${A100/ mode=/ accounting=1 mode=}" \
	    "proc 0 list=compute pid=$! mem=1048576 peak=8589934592"
	run -0 gs-probe
	[[ ${lines[2]} == "$(tsv proc 0 "$!")"*"$(tsv '' 1 8192 - type=C)"* ]]
}

@test "without a process list the cards are still told" {
	scene "${A100/ mode=/ procs_rc=4 mode=}"
	run -0 --separate-stderr gs-probe
	[[ ${lines[0]} == *procs=unknown ]]
	[[ ${lines[1]} == *GPU-a* ]]
}

@test "unified memory is unknown, not zero" {
	scene "${A100/ mode=/ mem_rc=3 mem2_rc=3 mode=}"
	run -0 gs-probe
	[ "${lines[1]}" = "$(tsv gpu 0 GPU-a - - 55 yes 'name=NVIDIA A100' \
	    bus=0000:c1:00.0 mode=Default 'why=Not Supported')" ]
}

@test "--gpu-mem says what a machine without figures has" {
	local none=${A100/ mode=/ mem_rc=3 mem2_rc=3 mode=}
	scene "$none" 'proc 0 list=compute pid=4194301 mem=8589934592'
	run -0 gs-probe --gpu-mem 0=120G
	[ "${lines[1]}" = "$(tsv gpu 0 GPU-a 122880 8192 55 yes \
	    'name=NVIDIA A100' free=114688 bus=0000:c1:00.0 mode=Default)" ]
	run -0 gs-probe --gpu-mem GPU-a=120G
	[[ ${lines[1]} == *$'\t122880\t8192\t'* ]]
	run -0 --separate-stderr gs-probe --gpu-mem 7=1G
	[ "$stderr" = "gs-probe: --gpu-mem '7': no such GPU" ]
	run -2 --separate-stderr gs-probe --gpu-mem 0
	[ "${stderr_lines[0]}" = "gs-probe: --gpu-mem '0': not GPU=SIZE" ]
	# A job waits for the figure, and no longer than that.
	scene "$none"
	echo '[vram=8G] echo ran' >jobs.txt
	gs-loop jobs.txt --poll 0.05 >out 2>err 3>&- &
	JOBS+=" $!"
	wait_for 20 grep -q 'memory-unknown' gs_logs/status.txt
	kill "$!"
	wait_for 20 sh -c "! kill -0 $!"
	run -0 gs-loop jobs.txt --poll 0.05 --gpu-mem 0=120G
	run -2 --separate-stderr gs-loop jobs.txt --gpu-mem 0=x
	[[ $stderr == "gs-loop: --gpu-mem 'x': "* ]]
}

@test "a call that hangs ends at the time limit, with one line and no child" {
	scene "$A100" 'hang nvmlDeviceGetComputeRunningProcesses'
	t0=$EPOCHREALTIME
	run -2 --separate-stderr gs-probe --backend nvml --timeout 0.5
	[ $(((${EPOCHREALTIME/./} - ${t0/./}) / 1000)) -lt 8000 ]
	[ "$stderr" = "gs-probe: timeout after 0.5 s" ]
	[ -z "$output" ]
	run ! pgrep -f "gs-probe --backend nvml --timeout 0[.]5"
}

@test "a crash is told by its signal, and the next look starts anew" {
	scene 'crash nvmlInit_v2'
	run -2 --separate-stderr gs-probe --backend nvml
	[[ $stderr == *'crashed: signal 11, Segmentation fault' ]]
	scene "$A100"
	gs-probe --backend nvml --interval 0.05 >out 2>err 3>&- &
	JOBS+=" $!"
	wait_for 20 grep -q ^end out
	scene "$A100" 'crash nvmlDeviceGetComputeRunningProcesses'
	wait_for 20 test -s err
	scene "$A100"
	n=$(grep -c ^end out)
	wait_for 20 has_frames $((n + 2)) out
	grep -q 'crashed: signal 11' err
	[ "$(wc -l <err)" -eq 1 ]
}

@test "what a library prints does not get into the frames" {
	scene 'banner stdout' "$A100"
	run -0 --separate-stderr gs-probe --backend nvml
	[[ ${lines[0]} == gs$'\t'1* ]]
	[ "${#lines[@]}" -eq 3 ]
}

@test "a killed helper is replaced, and dies with gs-probe" {
	scene "$A100"
	gs-probe --backend nvml --interval 0.05 >out 2>err 3>&- &
	probe=$!
	JOBS+=" $probe"
	wait_for 20 grep -q ^end out
	helper=$(pgrep -P "$probe")
	kill -KILL "$helper"
	wait_for 20 sh -c "pgrep -P $probe | grep -vx $helper"
	helper=$(pgrep -P "$probe")
	kill -KILL "$probe"
	wait_for 20 gone "$helper"
}

@test "--check tells of each backend, and what to do" {
	scene 'init 9'
	run -1 --separate-stderr gs-probe --check --backend nvml
	[ "$output" = "nvml: does not work: NVML: Driver Not Loaded (9)
nvml: load the kernel module: modprobe nvidia" ]
	scene "$A100"
	run -0 --separate-stderr gs-probe --check --backend nvml
	[ "$output" = "nvml: works, 1 GPU" ]
	GS_NVML=no-such.so run -1 gs-probe --check --backend nvml
	[[ $output == *'no-such.so: cannot open shared object file'* ]]
}

# Of a frame: what every backend can know.
common() {
	awk -F'\t' '
	$1 == "gpu" { print $1, $2, $4, $5, $6, $7 }
	$1 == "proc" { print $1, $2, $3, $4, $5, $6, $7, $9 }' | sort
}

@test "the same jobs look the same through sim, NVML and nvidia-smi" {
	mkdir m
	: >m/query-compute-apps.csv
	gs-probe --sim 3 >/dev/null
	for i in 0 1; do
		GS_JOB=job$i gs-simjob --gpus $i --vram $((4000 + i)) --hold 300 3>&- &
		JOBS+=" $!"
	done
	gs-simjob --gpus 1,2 --vram 1000 --util 40 --hold 300 3>&- &
	JOBS+=" $!"
	wait_for 20 sh -c '[ "$(gs-probe --sim 3 | grep -c ^proc)" -eq 4 ]'
	gs-probe --sim 3 >seen
	# What the drivers' tools would say of these cards and programs.
	awk -F'\t' -v MIB=1048576 '
	$1 == "gpu" {
		uuid[$2] = $3
		printf "gpu %d uuid=%s total=%.0f reserved=0 used=%.0f free=%.0f util=%d mode=0 name=S\n",
		    $2, $3, $4 * MIB, $5 * MIB, ($4 - $5) * MIB, $6 >"scene"
		printf "%d, %s, 00000000:0%d:00.0, S, %d, 0, %d, %d, %d, Default, Disabled, 30\n",
		    $2, $3, $2, $4, $5, $4 - $5, $6 >"m/query-gpu.csv"
	}
	$1 == "proc" {
		printf "proc %d list=compute pid=%d mem=%.0f\n", $2, $3, $7 * MIB >"scene"
		printf "%s, %d, %d, S\n", uuid[$2], $3, $7 >"m/query-compute-apps.csv"
	}' seen
	common <seen >want
	[ "$(wc -l <want)" -eq 7 ]
	grep -q 'job1$' want
	gs-probe --backend nvml | common | diff want -
	PATH=$T/bin:$PATH GS_FAKE_SMI=$PWD/m gs-probe --backend smi | common | diff want -
}

@test "a library that hangs holds up no limit, no cancel and no CPU job" {
	scene "$A100"
	{
		echo '[vram=1G timeout=1.5s] echo up; sleep 300'
		echo '[vram=1G] echo up; sleep 300'
	} >jobs.txt
	gs-loop jobs.txt --poll 0.1 --watch >out 2>err 3>&- &
	loop=$!
	JOBS+=" $loop"
	wait_for 20 grep -q up gs_logs/job-2.log
	from=$EPOCHSECONDS
	scene "$A100" 'hang nvmlDeviceGetComputeRunningProcesses'
	echo '[cpu] true' >>jobs.txt
	wait_for 20 sh -c 'gs-journal state | grep -q "^state	3	.*	ok	"'
	sed -i '2s/vram/cancel vram/' jobs.txt
	wait_for 20 sh -c 'gs-journal state | grep -q "^state	2	.*	cancelled	"'
	wait_for 20 sh -c 'gs-journal state | grep -q "^state	1	.*	timeout	"'
	[ $((EPOCHSECONDS - from)) -lt 8 ]
	kill -TERM "$loop"
	wait_for 20 gone_or_zombie "$loop"
}
