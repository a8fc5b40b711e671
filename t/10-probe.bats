#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# gs-probe itself: frames, streams, options, the sim and file backends.

# Each test is a subshell, and run sets stderr_lines:
# shellcheck disable=SC2030,SC2031,SC2154

load lib

setup() {
	gs_setup
	boot=$(cat /proc/sys/kernel/random/boot_id)
}

# Frames without their time, which is never twice the same.
timeless() {
	sed 's/	time=[0-9]*//' "$@"
}

frames() {
	grep -c '^end' "$1"
}

has_frames() {
	[ "$(frames "$2")" -ge "$1" ]
}

@test "a frame is exactly this" {
	gs-probe --sim 2 >out
	{
		tsv gs 1 gs-probe backend=sim "boot=$boot"
		tsv gpu 0 SIM-0 24576 0 0 yes name=simulated free=24576
		tsv gpu 1 SIM-1 24576 0 0 yes name=simulated free=24576
		tsv end 2
	} >want
	timeless out >got
	diff want got
	grep -q "^gs.*	time=[0-9]\{10\}	" out
}

@test "a simulated GPU has the size asked for" {
	run -0 --separate-stderr gs-probe --sim 1x80G
	[[ ${lines[1]} == "$(tsv gpu 0 SIM-0 81920 0 0 yes)"* ]]
}

@test "--gpus restricts and orders" {
	run -0 --separate-stderr gs-probe --sim 4 --gpus 3,1
	[[ ${lines[1]} == "$(tsv gpu 3 SIM-3)"* ]]
	[[ ${lines[2]} == "$(tsv gpu 1 SIM-1)"* ]]
	[ "${lines[3]}" = "$(tsv end 2)" ]
}

@test "CUDA_VISIBLE_DEVICES restricts by index, UUID and its beginning" {
	local v
	for v in 2,0 SIM-2,SIM-0 SIM-2,0,7,1 'SIM-2, 0,-1,1'; do
		CUDA_VISIBLE_DEVICES=$v run -0 --separate-stderr \
		    gs-probe --sim 4
		[[ ${lines[1]} == "$(tsv gpu 2)"* ]]
		[[ ${lines[2]} == "$(tsv gpu 0)"* ]]
		[ "${lines[3]}" = "$(tsv end 2)" ]
	done
	for v in '' -1 NoDevFiles SIM-; do
		CUDA_VISIBLE_DEVICES=$v run -0 --separate-stderr \
		    gs-probe --sim 4
		[ "${lines[1]}" = "$(tsv end 0)" ]
	done
}

@test "--gpus cannot name what CUDA_VISIBLE_DEVICES leaves out" {
	CUDA_VISIBLE_DEVICES=1 run -2 --separate-stderr \
	    gs-probe --sim 2 --gpus 0
	[ -z "$output" ]
	[ "$stderr" = \
	    "gs-probe: --gpus '0': CUDA_VISIBLE_DEVICES leaves it out" ]
}

@test "a GPU that is not there is an error" {
	run -2 --separate-stderr gs-probe --sim 2 --gpus 0,2
	[ -z "$output" ]
	[ "$stderr" = "gs-probe: --gpus '2': no such GPU" ]
}

@test "wrong use is one line about it and one of usage" {
	local args
	while read -ra args; do
		run -2 --separate-stderr gs-probe "${args[@]}"
		echo "${args[*]}: $stderr"
		[ -z "$output" ]
		[ "${#stderr_lines[@]}" -eq 2 ]
		[[ ${stderr_lines[1]} == usage:* ]]
	done <<-'END'
	--interval 0
	--interval x
	--interval -1
	--sim 1 --gpus 0,0
	--sim 1 --gpus 0,
	--sim 1 --gpus a
	--sim 1 --sample 1
	--sim 1 --interval 1 --sample 2
	--sim 1 --backend smi
	--check --interval 1
	--backend nothing
	--timeout 0
	--no-such-option
	operand
	END
}

@test "a simulation that makes no sense is refused" {
	local n
	for n in 0 -1 x 2x 2x0 2xy 99999 ''; do
		run -2 --separate-stderr gs-probe --sim "$n"
		[ -z "$output" ]
		[ "${#stderr_lines[@]}" -eq 1 ]
	done
}

@test "a simulation is only made in a directory of our own" {
	mkdir sim
	chmod 777 sim
	run -2 --separate-stderr gs-probe --sim 1
	[ "$stderr" = "gs-probe: sim: $GS_SIM_DIR: Operation not permitted" ]
	rmdir sim
	mkdir other
	ln -s other sim
	run -2 --separate-stderr gs-probe --sim 1
	[ -z "$(ls other)" ]
}

@test "files of the simulation are ours alone whatever the umask" {
	(umask 0 && gs-probe --sim 1 >/dev/null)
	[ "$(stat -c %a sim)" = 700 ]
	[ "$(stat -c %a sim/gpus)" = 600 ]
}

@test "--help and --version go to stdout" {
	run -0 --separate-stderr gs-probe --help
	[[ ${lines[0]} == "usage: gs-probe "* ]]
	[ -z "$stderr" ]
	run -0 --separate-stderr gs-probe --version
	[[ $output == "gs-probe (gs) "* ]]
}

@test "output that does not arrive is a failure" {
	run -2 --separate-stderr sh -c 'gs-probe --sim 1 >/dev/full'
	[[ $stderr == "gs-probe: stdout: No space left on device" ]]
	run -2 --separate-stderr sh -c \
	    'gs-probe --sim 1 --interval 0.1 >/dev/full'
	run -2 --separate-stderr sh -c 'gs-probe --help >/dev/full'
	run -2 --separate-stderr sh -c 'gs-probe --check --sim 1 >/dev/full'
}

@test "--interval prints one frame after another" {
	gs-probe --sim 1 --interval 0.05 >out &
	wait_for 20 has_frames 3 out
	kill $!
	[ "$(grep -c '^gs' out)" -ge 3 ]
}

@test "a stream ends when nobody reads it" {
	mkfifo pipe
	gs-probe --sim 1 --interval 3600 >pipe &
	head -n 3 pipe >out
	wait_for 20 gone $!
	[ "$(frames out)" -eq 1 ]
}

@test "on demand each line gets a frame, and the end is the end" {
	mkfifo ask
	gs-probe --sim 1 --on-demand <ask >out &
	exec 8>ask
	[ ! -s out ]
	echo >&8
	wait_for 20 has_frames 1 out
	echo now >&8
	wait_for 20 has_frames 2 out
	printf 'a\nb\nc' >&8
	exec 8>&-
	wait $!
	[ "$(frames out)" -eq 5 ]
}

@test "a frame on demand does not wait for the interval" {
	mkfifo ask
	gs-probe --sim 1 --on-demand --interval 3600 <ask >out &
	exec 8>ask
	wait_for 20 has_frames 1 out
	echo >&8
	wait_for 20 has_frames 2 out
	exec 8>&-
	kill -0 $!
	kill $!
}

@test "on demand a failure is the end, since nobody would ask again" {
	GS_SMI=no-such-program run -2 --separate-stderr sh -c \
	    'echo | gs-probe --on-demand'
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
}

@test "--check names what works" {
	run -0 --separate-stderr gs-probe --check --sim 3
	[ "$output" = "sim: works, 3 GPUs" ]
	GS_SMI=no-such-program run -1 --separate-stderr gs-probe --check
	[[ ${lines[0]} == "nvml: does not work: no-such-library: "* ]]
	[[ ${lines[*]} == *"smi: does not work: no-such-program: No such file"* ]]
	[[ ${lines[*]} == *"smi: install the tools of the NVIDIA driver"* ]]
}

@test "--prometheus prints each known figure as a sample" {
	{
		tsv gs 1 me
		tsv gpu 0 GPU-a 1000 100 7 yes 'name=A "quoted" \\ name'
		tsv gpu 1 GPU-b - - - no why=lost
		tsv proc 0 4194301 - - - 90 90 c1
		tsv end 3
	} >frame
	run -0 --separate-stderr gs-probe --backend file:frame --prometheus
	[ -z "$stderr" ]
	grep -qxF 'gs_gpu_memory_total_bytes{gpu="0",uuid="GPU-a",name="A \"quoted\" \\ name"} 1048576000' <<<"$output"
	grep -qxF 'gs_gpu_utilization_percent{gpu="0",uuid="GPU-a",name="A \"quoted\" \\ name"} 7' <<<"$output"
	grep -qxF 'gs_gpu_placeable{gpu="1",uuid="GPU-b",name="",place="no",why="lost"} 0' <<<"$output"
	grep -qxF 'gs_process_memory_bytes{gpu="0",pid="4194301",job="c1"} 94371840' <<<"$output"
	[ "$(grep -c '^gs_gpu_memory_used_bytes' <<<"$output")" -eq 1 ]
	# Every line is a comment or a sample, and every sample has its type.
	run ! grep -vE '^# (HELP|TYPE) gs_|^gs_[a-z_]+(\{.*\})? [0-9]+$' <<<"$output"
	sed -n 's/^\(gs_[a-z_]*\).*/\1/p' <<<"$output" | sort -u >samples
	sed -n 's/^# TYPE \(gs_[a-z_]*\) gauge$/\1/p' <<<"$output" | sort -u >types
	[ -z "$(comm -23 samples types)" ]
}

@test "--prometheus counts the jobs of a log directory" {
	mkdir logs
	for i in 1 2; do
		gs-journal -l logs append queued no=$i id=j$i cmd=x vram=1024
	done
	gs-journal -l logs append start id=j1 attempt=1 pgid=4194301 start=1
	gs-journal -l logs append usage id=j1 attempt=1 'peak:={"GPU-a":512}'
	run -0 gs-probe --sim 1 --prometheus -l logs
	grep -qx 'gs_jobs{state="pending"} 1' <<<"$output"
	grep -qx 'gs_jobs{state="running"} 1' <<<"$output"
	grep -qx 'gs_jobs{state="failed_oom"} 0' <<<"$output"
	grep -qx 'gs_job_declared_bytes{no="1",job="j1",tag=""} 1073741824' <<<"$output"
	grep -qx 'gs_job_peak_bytes{no="1",job="j1",tag=""} 536870912' <<<"$output"
	mkdir empty
	run -2 --separate-stderr gs-probe --sim 1 --prometheus -l empty
	[ -z "$output" ]
	[[ $stderr == 'gs-probe: gs-journal: '*'/journal.jsonl: no journal here' ]]
	run -2 gs-probe --sim 1 --prometheus --interval 1
}

@test "frames of a file go by, one a look, and the last one stays" {
	local n
	{
		tsv gs 1 me time=5 procs=hidden
		tsv gpu 0 A 100 1 - yes
		tsv end 1
		tsv gs 1 me
		tsv gpu 0 A 100 2 50 alone name=x new=y
		tsv proc 0 12 12 12 99 7 9 job1 comm=c
		tsv job 1 '[vram=1G]'
		tsv end 3
	} >file
	mkfifo ask
	gs-probe --backend file:file --on-demand <ask >out &
	exec 8>ask
	for n in 1 2 3; do
		echo >&8
		wait_for 20 has_frames "$n" out
	done
	# Another file of that name starts from its first frame.
	head -n 3 file >new
	mv new file
	echo >&8
	exec 8>&-
	wait $!
	{
		tsv gs 1 gs-probe backend=file "boot=$boot" procs=hidden
		tsv gpu 0 A 100 1 - yes
		tsv end 1
		for n in 1 2; do
			tsv gs 1 gs-probe backend=file "boot=$boot"
			tsv gpu 0 A 100 2 50 alone name=x
			tsv proc 0 12 12 12 99 7 9 job1 comm=c
			tsv end 2
		done
		tsv gs 1 gs-probe backend=file "boot=$boot" procs=hidden
		tsv gpu 0 A 100 1 - yes
		tsv end 1
	} >want
	timeless out >got
	diff want got
}

@test "a file that is malformed gives no frame" {
	local bad
	{
		tsv gs 1 me
		tsv gpu 0 A 100 1 - yes
		tsv end 2
	} >count
	{
		tsv gs 1 me
		tsv gpu 0 A 1e3 1 - yes
		tsv end 1
	} >number
	{
		tsv gs 1 me
		tsv gpu 0 A 100 1 - maybe
		tsv end 1
	} >place
	{
		tsv gs 1 me
		tsv proc 0 12 12 12 99 7 9 job1
		tsv end 1
	} >nogpu
	{
		tsv gs 1 me
		tsv gpu 0 A 100 1 - yes
	} >torn
	tsv gs 2 me >version
	: >empty
	mkdir dir
	mkfifo fifo
	for bad in count number place nogpu torn version empty dir fifo absent; do
		run -2 --separate-stderr gs-probe --backend "file:$bad"
		echo "$bad: $stderr"
		[ -z "$output" ]
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ $stderr == *"$bad: "* ]]
	done
}

@test "a closed stdin does not matter" {
	run -0 --separate-stderr sh -c 'gs-probe --sim 1 <&-'
	[ "${#lines[@]}" -eq 3 ]
}
