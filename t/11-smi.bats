#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The nvidia-smi backend against a fake nvidia-smi (t/bin).

# Each test is a subshell, and run sets stderr_lines:
# shellcheck disable=SC2030,SC2031,SC2154

load lib
load expect

setup() {
	gs_setup
	export PATH=$T/bin:$PATH
	F=$T/fixtures/smi
}

# one_case DIR: is what gs-probe makes of it what its expect.tsv says?
one_case() {
	local want
	export GS_FAKE_SMI=$1 GS_FAKE_SLEEP=0.1
	unset GS_SMI
	! grep -qs absent "$1/behaviour" || export GS_SMI=no-such-program
	run --separate-stderr gs-probe
	if grep -q '^verdict.fail' "$1/expect.tsv"; then
		[ "$status" -eq 2 ] && [ -z "$output" ] &&
			[ "${#stderr_lines[@]}" -eq 1 ]
		return
	fi
	want=$(grep -E '^(gpu|proc)' "$1/expect.tsv" |
		sed 's/(escaped)/bad\\tname\\001/')
	[ "$status" -eq 0 ] && [ "$(as_expected)" = "$want" ]
}

# fake NAME: our own fixture NAME is the machine.
fake() {
	export GS_FAKE_SMI=$F/$1
}

has_lines() {
	[ "$(wc -l <"$2")" -ge "$1" ]
}

@test "all cases seen in the wild are read as they should be" {
	local dir c n=0 bad=()
	shared fixtures/smi >path
	dir=$(cat path)
	for c in "$dir"/*/; do
		n=$((n + 1))
		one_case "$c" || bad+=("$(basename "$c")")
	done
	echo "$n cases, wrong: ${bad[*]}"
	[ "$n" -ge 40 ]
	[ "${#bad[@]}" -eq 0 ]
}

@test "GPUs and processes come with all that is known and nothing else" {
	fake plain
	run -0 --separate-stderr gs-probe
	[ -z "$stderr" ]
	[[ ${lines[0]} == "$(tsv gs 1 gs-probe)"*"backend=smi"* ]]
	[ "${lines[1]}" = "$(tsv gpu 0 \
	    GPU-11111111-aaaa-4bbb-8ccc-000000000001 40960 4012 35 yes \
	    'name=NVIDIA A100-SXM4-40GB' free=36351 reserved=597 \
	    bus=0000:3b:00.0 temp=41 mode=Default)" ]
	[ "${lines[2]}" = "$(tsv gpu 1 \
	    GPU-22222222-aaaa-4bbb-8ccc-000000000002 40960 0 0 yes \
	    'name=NVIDIA A100-SXM4-40GB' free=40363 reserved=597 \
	    bus=000f:5b:00.0 temp=33 mode=Default)" ]
	[ "${lines[3]}" = "$(tsv proc 0 4194301 - - - 2000 2000 - type=C \
	    'comm=python a, b')" ]
	[ "${lines[4]}" = "$(tsv proc 0 4194302 - - - - - - type=C)" ]
	[ "${lines[5]}" = "$(tsv end 4)" ]
}

@test "a card that is lost, wants a reset or is closed takes no job" {
	fake lost-row
	run -0 --separate-stderr gs-probe
	[ "$(printf '%s\n' "$output" |
	    awk -F'\t' '$1 == "gpu" { printf "%s ", $7 }')" = \
	    "yes no no no no alone " ]
	[[ ${lines[2]} == *$'\twhy=GPU is lost' ]]
	[[ ${lines[2]} == *$'\t-\t-\t-\tno\t'* ]]
	[[ ${lines[3]} == *$'\twhy=GPU requires reset' ]]
	[[ ${lines[4]} == *$'\twhy=compute mode is Prohibited' ]]
	[[ ${lines[5]} == *$'\twhy=MIG is enabled' ]]
}

@test "no word in place of a number becomes a zero" {
	local col word fields line
	mkdir m
	: >m/query-compute-apps.csv
	export GS_FAKE_SMI=$PWD/m
	for word in '[N/A]' N/A '[Not Supported]' '[Unknown Error]' \
	    '[Insufficient Permissions]' 'ERR!' '[Function Not Found]' ''; do
		for col in 5 6 7 8 9 10 11 12; do
			fields=(0 GPU-1 00000000:01:00.0 X 100 0 60 40 7 Default Disabled 30)
			fields[col - 1]=$word
			printf -v line '%s, ' "${fields[@]}"
			printf '%s\n' "${line%, }" >m/query-gpu.csv
			run -0 --separate-stderr gs-probe
			[ -z "$stderr" ]
			[ "${#lines[@]}" -eq 3 ]
			case $col in
			5) [[ ${lines[1]} == *$'\t-\t60\t7\tyes\t'* ]] ;;
			7) [[ ${lines[1]} == *$'\t100\t-\t7\tyes\t'* ]] ;;
			9) [[ ${lines[1]} == *$'\t100\t60\t-\tyes\t'* ]] ;;
			*) [[ ${lines[1]} == *$'\t100\t60\t7\tyes\t'* ]] ;;
			esac
		done
	done
}

@test "a machine without memory figures is shown with unknown ones" {
	fake unified
	run -0 --separate-stderr gs-probe
	[ "${lines[1]}" = "$(tsv gpu 0 9d5d11bb-b22a-5fcd-8598-d77940a89c34 \
	    - - - yes 'name=Orin (nvgpu)' why=N/A)" ]
}

@test "a field that an old driver does not know is not asked for again" {
	fake old-driver
	export GS_FAKE_LOG=$PWD/log
	printf '\n' >one
	run -0 --separate-stderr gs-probe --on-demand <one
	[ -z "$stderr" ]
	[[ ${lines[1]} == *$'\t12207\t11409\t-\tyes\t'* ]]
	# Two fields, so the GPUs are asked for three times, ...
	[ "$(grep -c gpu log)" -eq 3 ]
	mkfifo ask
	gs-probe --on-demand <ask >out &
	exec 8>ask
	echo >&8
	wait_for 20 grep -q ^end out
	echo >&8
	exec 8>&-
	wait $!
	# ... and after that once for each frame.
	[ "$(grep -c ^end out)" -eq 2 ]
	[ "$(grep -c gpu log)" -eq 7 ]
}

@test "errors are errors whatever the exit status says" {
	local m
	for m in mismatch mismatch-status-0; do
		fake $m
		run -2 --separate-stderr gs-probe
		[ -z "$output" ]
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ $stderr == *"Driver/library version mismatch"* ]]
	done
	[[ $stderr == *"exit 0"* ]]
}

@test "a message on stderr alone is repeated too" {
	printf '#!/bin/sh\necho "it broke" >&2\nexit 3\n' >smi
	chmod +x smi
	GS_SMI=./smi run -2 --separate-stderr gs-probe
	[ -z "$output" ]
	[ "$stderr" = "gs-probe: ./smi: it broke (exit 3)" ]
}

@test "a row that was cut is no row" {
	fake cut
	run -2 --separate-stderr gs-probe
	[ -z "$output" ]
	[[ $stderr == *"that is no row"* ]]
}

@test "rows count in spite of a warning, which is passed on" {
	fake warning
	run -0 --separate-stderr gs-probe
	[ "${#lines[@]}" -eq 3 ]
	[[ $stderr == *"WARNING: infoROM is corrupted"* ]]
}

@test "rows count in spite of an unknown exit status" {
	cp -r "$F/warning" m
	sed -i '/WARNING/d' m/query-gpu.csv
	GS_FAKE_SMI=$PWD/m run -0 --separate-stderr gs-probe
	[ "${#lines[@]}" -eq 3 ]
	[[ $stderr == *"exit 14"* ]]
}

@test "a crash is told by its signal" {
	fake crash
	run -2 --separate-stderr gs-probe
	[ -z "$output" ]
	[[ $stderr == *"signal 11"* ]]
}

@test "a hang ends at the time limit with one line" {
	local t0
	fake hang
	t0=$(date +%s%N)
	run -2 --separate-stderr gs-probe --timeout 0.5
	[ $((($(date +%s%N) - t0) / 1000000)) -lt 5000 ]
	[ -z "$output" ]
	[ "$stderr" = "gs-probe: nvidia-smi: timeout after 0.5 s" ]
}

@test "a slow answer is no hang" {
	fake slow
	run -0 --separate-stderr gs-probe
	[ "${#lines[@]}" -eq 4 ]
}

@test "no tool is told as such" {
	GS_SMI=no-such-program run -2 --separate-stderr gs-probe
	[ -z "$output" ]
	[[ $stderr == *"; smi: no-such-program: No such file or directory; "* ]]
	[ "${#stderr_lines[@]}" -eq 1 ]
}

@test "without a list of processes the GPUs are still told" {
	local m
	for m in apps-fail apps-hang; do
		fake $m
		run -0 --separate-stderr gs-probe --timeout 0.5
		[[ ${lines[0]} == *$'\tprocs=unknown' ]]
		[ "${#lines[@]}" -eq 3 ]
		[[ $stderr == *"processes unknown"* ]]
	done
}

@test "rows that hide their pid are told as hidden processes" {
	fake hidden
	run -0 --separate-stderr gs-probe
	[[ ${lines[0]} == *$'\tprocs=hidden' ]]
	[ "${#lines[@]}" -eq 3 ]
}

@test "one lost card does not hide the others" {
	fake one-lost
	run -0 --separate-stderr gs-probe
	[ "${#lines[@]}" -eq 5 ]
	[[ ${lines[1]} == *GPU-11111111*$'\tyes\t'* ]]
	[[ ${lines[2]} == "$(tsv gpu 1 - - - - no)"*"GPU is lost"* ]]
	[[ ${lines[3]} == "$(tsv proc 0 4194301)"* ]]
	[[ $stderr == *"each GPU alone"* ]]
}

@test "a card lost on the way keeps its name and address" {
	mkdir m
	cp "$F"/plain/* m
	mkfifo ask
	GS_FAKE_SMI=$PWD/m gs-probe --on-demand <ask >out 2>err &
	exec 8>ask
	echo >&8
	wait_for 20 grep -q ^end out
	cp "$F"/one-lost/q* "$F"/one-lost/rc* m
	mkdir m/i
	cp -r "$F/one-lost/i/0" m/i/0000:3b:00.0
	cp -r "$F/one-lost/i/1" m/i/000f:5b:00.0
	echo >&8
	wait_for 20 has_frames 2 out
	exec 8>&-
	wait $!
	grep -q "^gpu.1.GPU-22222222.*	no	.*bus=000f:5b:00.0.*lost" out
	[ "$(grep -c '	yes	' out)" -eq 3 ]
}

# The fake of a stream that is under way gets the mood $1; what a look sees
# while that happens may be of both.  Waits until $2 more looks have failed.
turns() {
	local said
	cp "$F/$1"/* m
	wait_for 20 test -s err
	wait_for 30 has_lines $(($(wc -l <log) + 2)) log
	said=$(wc -l <err)
	wait_for 30 has_lines $(($(wc -l <log) + $2)) log
	[ "$(wc -l <err)" -eq "$said" ]
}

@test "while streaming a failure is said once and the next frame comes" {
	mkdir m
	cp "$F"/plain/* m
	GS_FAKE_SMI=$PWD/m GS_FAKE_LOG=$PWD/log \
	    gs-probe --interval 0.05 >out 2>err &
	wait_for 20 has_frames 1 out
	turns mismatch 4
	rm m/rc m/rc.apps
	cp "$F"/plain/* m
	wait_for 20 has_frames $(($(grep -c ^end out) + 3)) out
	kill $!
	grep -q mismatch err
}

@test "a stream whose first look fails ends at once" {
	fake mismatch
	run -2 --separate-stderr timeout 20 gs-probe --interval 0.05
	[ -z "$output" ]
	[ "$(grep -c mismatch <<<"$stderr")" -eq 1 ]
}

@test "there is never more than one helper, and none is left behind" {
	mkdir m
	cp "$F"/plain/* m
	GS_FAKE_SMI=$PWD/m GS_FAKE_LOG=$PWD/log gs-probe --interval 0.05 \
	    --timeout 1 >out 2>err &
	wait_for 20 has_frames 1 out
	turns hang 2
	kill $!
	run ! grep -q overlap log
	wait_for 20 gone "$(tail -n 1 log | cut -d' ' -f1)"
}

@test "process names cannot forge records" {
	mkdir m
	head -n 1 "$F/plain/query-gpu.csv" >m/query-gpu.csv
	printf 'GPU-11111111-aaaa-4bbb-8ccc-000000000001, 4194301, 5, a\tb\\\x1b\n' \
	    >m/query-compute-apps.csv
	GS_FAKE_SMI=$PWD/m run -0 --separate-stderr gs-probe
	[[ ${lines[2]} == *$'\tcomm=a\\tb\\\\\\033' ]]
}

@test "--check says what is wrong and what to do" {
	fake mismatch
	run -1 --separate-stderr gs-probe --check
	[[ $output == *"smi: does not work: nvidia-smi: Failed"* ]]
	[[ $output == *"reload the module, or reboot"* ]]
	fake plain
	run -0 --separate-stderr gs-probe --check
	[[ $output == *$'\nsmi: works, 2 GPUs\n'* ]]
}

@test "a card that drops out does not lend its number to another" {
	mkdir m
	cp "$F"/plain/* m
	mkfifo ask
	GS_FAKE_SMI=$PWD/m gs-probe --gpus 0 --on-demand <ask >out 2>err &
	exec 8>ask
	echo >&8
	wait_for 20 grep -q ^end out
	sed -n 's/^1,/0,/p' "$F/plain/query-gpu.csv" >m/query-gpu.csv
	echo >&8
	wait_for 20 has_frames 2 out
	exec 8>&-
	wait $!
	[ "$(grep -c '^gpu' out)" -eq 1 ]
	grep -q "GPU 0 (GPU-11111111.*) is not there any more" err
}
