#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The simulated GPU program and what gs-probe --sim sees of it.

# Each test is a subshell, and run sets stderr_lines:
# shellcheck disable=SC2030,SC2031,SC2154

load lib

setup() {
	gs_setup
	gs-probe --sim 2 >/dev/null
}

# used INDEX: what is in use on that simulated GPU.
used() {
	gs-probe --sim "${SIM:-2}" |
		awk -F'\t' -v g="$1" '$1 == "gpu" && $2 == g { print $5 }'
}

uses() {
	[ "$(used "$1")" -eq "$2" ]
}

# Is something in use on the first GPU, but less than 8G?
grows() {
	local mib
	mib=$(used 0)
	[ "$mib" -gt 0 ] && [ "$mib" -lt 8192 ]
}

# hold ARG...: a gs-simjob in the background that stays until the test ends.
hold() {
	gs-simjob --hold 600 "$@" 3>&- &
	JOBS+=" $!"
}

teardown() {
	# shellcheck disable=SC2086
	{ kill -9 ${JOBS-} || true; wait || true; } 2>/dev/null
}

@test "a job is a process with what it claimed" {
	hold --vram 8G --util 30
	wait_for 20 uses 0 8192
	run -0 --separate-stderr gs-probe --sim 2
	[[ ${lines[1]} == "$(tsv gpu 0 SIM-0 24576 8192 30 yes)"*free=16384* ]]
	[[ ${lines[2]} == "$(tsv gpu 1 SIM-1 24576 0 0 yes)"* ]]
	start=$(awk '{ print $22 }' "/proc/$!/stat")
	[[ ${lines[3]} == "$(tsv proc 0 $!)"*"$(printf '\t%s\t' "$start")"* ]]
	[[ ${lines[3]} == *"$(tsv 8192 8192 - type=C)"*comm=gs-simjob ]]
}

@test "without a list it takes the first GPU, else what it is given" {
	CUDA_VISIBLE_DEVICES=1 hold --vram 1G
	wait_for 20 uses 1 1024
	hold --vram 2G
	wait_for 20 uses 0 2048
	CUDA_VISIBLE_DEVICES=SIM-1,0 hold --vram 3G
	wait_for 20 uses 1 4096
	[ "$(used 0)" -eq 5120 ]
	hold --vram 4G --gpus 1
	wait_for 20 uses 1 8192
}

@test "a claim goes away with its process, however that ends" {
	hold --vram 8G
	wait_for 20 uses 0 8192
	kill -9 $!
	wait $! || true
	wait_for 20 uses 0 0
	hold --vram 8G
	wait_for 20 uses 0 8192
	kill $!
	wait $! || true
	[ "$(used 0)" -eq 0 ]
	gs-simjob --vram 8G
	[ "$(used 0)" -eq 0 ]
	[ -z "$(find sim -name 'claim.*')" ]
}

@test "a zombie claims nothing" {
	sh -c 'gs-simjob --vram 8G --hold 600 3>&- & echo $! >pid
	    exec sleep 600 3>&-' &
	JOBS+=" $!"
	wait_for 20 uses 0 8192
	kill -9 "$(cat pid)"
	wait_for 20 uses 0 0
	grep -q '^State:.Z' "/proc/$(cat pid)/status"
}

@test "a stopped job keeps its memory" {
	hold --vram 8G
	wait_for 20 uses 0 8192
	kill -STOP $!
	[ "$(used 0)" -eq 8192 ]
	gs-simjob --vram 1G
	kill -CONT $!
}

@test "a job that does not fit fails as in CUDA" {
	hold --vram 20G
	wait_for 20 uses 0 20480
	run -1 --separate-stderr gs-simjob --vram 5G
	[ -z "$output" ]
	[ "$stderr" = "RuntimeError: CUDA out of memory. Tried to allocate \
5120 MiB on simulated GPU 0, which has 24576 MiB and 4096 MiB of it left" ]
	[ "$(used 0)" -eq 20480 ]
	gs-simjob --vram 4G
}

@test "a ramp runs into its neighbour on the way" {
	hold --vram 20G
	wait_for 20 uses 0 20480
	run -1 --separate-stderr gs-simjob --vram 8G --ramp 0.2 --hold 600
	[[ $stderr == *"Tried to allocate 409 MiB"* ||
	    $stderr == *"Tried to allocate 410 MiB"* ]]
}

@test "a ramp grows in steps and ends at what was asked for" {
	gs-simjob --vram 8G --ramp 2 --hold 600 3>&- &
	JOBS+=" $!"
	wait_for 20 grows
	wait_for 20 uses 0 8192
}

@test "two that start together do not both get what only one can have" {
	local i ok=0 pids=()
	for i in 1 2 3 4 5 6; do
		gs-simjob --vram 10G --hold 2 2>/dev/null 3>&- &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		if wait "$i"; then
			ok=$((ok + 1))
		fi
	done
	# The first two surely; a late one only once they are done.
	[ "$ok" -ge 2 ]
	[ "$(used 0)" -eq 0 ]
}

@test "--oom-at fails there, and --oom-once only once" {
	run -1 --separate-stderr gs-simjob --vram 8G --ramp 0.1 --oom-at 4G
	[[ $stderr == "RuntimeError: CUDA out of memory. "* ]]
	gs-simjob --vram 3G --oom-at 4G
	run -1 gs-simjob --vram 8G --oom-at 4G --oom-once mark
	[ -e mark ]
	gs-simjob --vram 8G --oom-at 4G --oom-once mark
	run -1 gs-simjob --vram 8G --oom-once mark2
	gs-simjob --vram 8G --oom-once mark2
}

@test "it ends with the status it was told" {
	run -7 gs-simjob --vram 1G --exit-code 7
	run -0 gs-simjob --vram 0
}

@test "the size of a card is that of the simulation" {
	gs-probe --sim 1x8G >/dev/null
	run -1 gs-simjob --vram 9G
	gs-simjob --vram 8G
	run -2 --separate-stderr gs-simjob --vram 1G --gpus 1
	[ "$stderr" = "gs-simjob: GPU '1': no such simulated GPU" ]
}

@test "without a simulation it says so" {
	GS_SIM_DIR=$PWD/none run -2 --separate-stderr gs-simjob --vram 1G
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == *"/none: no simulation (gs-probe --sim makes one)"* ]]
	[ ! -e none ]
}

@test "no visible GPU is an error of the program, not of its use" {
	CUDA_VISIBLE_DEVICES='' run -1 --separate-stderr gs-simjob --vram 1G
	[ -n "$stderr" ]
}

@test "wrong use of it is told" {
	local args
	while read -ra args; do
		run -2 --separate-stderr gs-simjob "${args[@]}"
		[ -z "$output" ]
		[ "${#stderr_lines[@]}" -eq 2 ]
	done <<-'END'
	--hold 1
	--vram x
	--vram 1G --exit-code 256
	--vram 1G --util 101
	--vram 1G operand
	END
	run -0 --separate-stderr gs-simjob --help
	[[ ${lines[0]} == "usage: gs-simjob "* ]]
}

@test "what is in use adds up, and utilisation ends at 100" {
	hold --vram 1G --util 60
	hold --vram 2G --util 60
	wait_for 20 uses 0 3072
	run -0 gs-probe --sim 2
	[[ ${lines[1]} == "$(tsv gpu 0 SIM-0 24576 3072 100 yes)"* ]]
}

@test "peaks are of the stream, and sampling sees what frames do not" {
	mkfifo ask
	gs-probe --sim 2 --on-demand --interval 3600 --sample 0.02 \
	    <ask >out 3>&- &
	JOBS+=" $!"
	exec 8>ask
	wait_for 20 grep -q ^end out
	# A spike of a second between two frames.
	cat >spike <<-'END'
	claim=sim/claim.0.$$.$(awk '{ print $22 }' /proc/$$/stat)
	echo "8192 5" >"$claim"
	sleep 1
	echo "1024 5" >"$claim"
	exec sleep 600
	END
	sh spike 3>&- 8>&- &
	JOBS+=" $!"
	wait_for 20 uses 0 1024
	echo >&8
	wait_for 20 grep -q "^proc.0.$!	.*	1024	8192	" out
	exec 8>&-
}

@test "claims that come and go do no harm" {
	cat >churn <<-'END'
	while :; do
		gs-simjob --vram 100 --hold 0.01
	done
	END
	sh churn 3>&- &
	JOBS+=" $!"
	for _ in $(seq 100); do
		gs-probe --sim 2 >out 2>err
		[ ! -s err ]
		grep -q '^end' out
	done
}
