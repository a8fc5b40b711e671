#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# gs-place: where jobs go, and what is refused.
# shellcheck disable=SC2030,SC2031,SC2154

load lib

setup() {
	gs_setup
	PATH=$BIN/../t:$PATH
	F=$T/fixtures/place
}

# frame GPUS-FILE RECORD...: a frame; fields of the records are split by "|".
frame() {
	local gpus r
	mapfile -t gpus <"$1"
	shift
	tsv gs 1 test time=1000
	for r in "${gpus[@]}" "${@//|/$'\t'}"; do
		printf '%s\n' "$r"
	done
	tsv end $((${#gpus[@]} + $#))
}

# The records of an answer in one line, without keys and frame.
brief() {
	local r all=
	while IFS= read -r r; do
		case $r in
		gs$'\t'* | end$'\t'*) continue ;;
		esac
		r=${r%%$'\t'text=*}
		all+="${all:+; }${r//$'\t'/ }"
	done <"$1"
	printf '%s\n' "$all"
}

# case LINE ARGUMENTS SNAPSHOT EXPECTED
check_case() {
	local args=() snap=() s
	eval "args=($2)"
	IFS=';' read -ra snap <<<"$3"
	s=${snap[0]}
	snap=("${snap[@]:1}")
	frame "$F/$s.gpus" "${snap[@]# }" >in
	gs-place "${args[@]}" <in >out 2>err || [ $? -eq 1 ]
	if [ -s err ] || [ "$(brief out)" != "$4" ]; then
		printf 'cases:%s: gs-place %s\n' "$1" "$2"
		printf '    want: %s\n    have: %s\n' "$4" "$(brief out)"
		cat err
		return 1
	fi
}

@test "every case of the table comes out as it says" {
	local no=0 got=() line bad=0 count=0
	while IFS= read -r line || [ ${#got[@]} -gt 0 ]; do
		no=$((no + 1))
		case $line in
		'#'*) continue ;;
		?*) got+=("$line") ;;
		esac
		[ ${#got[@]} -eq 3 ] || continue
		check_case $no "${got[@]}" || bad=$((bad + 1))
		count=$((count + 1))
		got=()
	done <"$F/cases"
	echo "$count cases, $bad wrong"
	[ $bad -eq 0 ]
	[ $count -gt 80 ]
}

@test "the refusals name the facts" {
	frame "$F/server.gpus" 'job|big|[vram=70G]' 'job|none|[]' \
	    'job|two|[gpus=2 vram=50G]' 'job|huge|[vram=100G]' \
	    'job|x|[on=h100]' 'job|nine|[gpus=9]' >in
	run -1 --separate-stderr gs-place <in
	[ "${lines[1]}" = "$(tsv wait big memory \
	    'text=gpu 1 has 58.7G free of 80G, 70G + 512M asked')" ]
	[ "${lines[2]}" = "$(tsv wait none busy \
	    'text=gpu 1 is not idle: 21811 MiB kept for others')" ]
	[ "${lines[3]}" = "$(tsv never two infeasible \
	    'text=1 of 2 gpus hold 51200 + 512 MiB, 2 asked')" ]
	[ "${lines[4]}" = "$(tsv never huge infeasible \
	    'text=gpu 1 holds 81920 MiB when empty, 102400 + 512 asked')" ]
	[ "${lines[5]}" = "$(tsv never x infeasible "text=no gpu is 'h100'")" ]
	[ "${lines[6]}" = "$(tsv never nine infeasible \
	    'text=9 gpus asked, 2 here')" ]
}

@test "the refusals name the job that is in the way" {
	frame "$F/one.gpus" 'run|ann|0|5|[]' 'job|bob|[vram=8G]' >in
	run -1 gs-place <in
	[ "${lines[1]}" = "$(tsv wait bob busy \
	    'text=gpu 0 is taken by job ann')" ]
	frame "$F/lost.gpus" 'job|bob|[on=1]' >in
	run -1 gs-place <in
	[ "${lines[1]}" = "$(tsv wait bob gpus \
	    'text=gpu 1 takes no job: lost')" ]
}

@test "the answers to a busy machine are the golden ones, twice" {
	gs-place --slots 20 <"$F/busy.rec" >one
	gs-place --slots 20 <"$F/busy.rec" >two
	cmp one two
	diff -u "$F/busy.answer" one
	gs-place --policy fifo <"$F/busy.rec" >one || [ $? -eq 1 ]
	diff -u "$F/busy.fifo" one
}

@test "random snapshots keep the promises of the manual" {
	placecheck make 2000 >in
	gs-place <in >out || [ $? -eq 1 ]
	run -0 placecheck test in out
	gs-place <in >again || [ $? -eq 1 ]
	cmp out again
	# The check itself must be able to fail.
	gs-place --margin 0 <in >out || [ $? -eq 1 ]
	run -1 placecheck test in out
}

@test "each frame of a stream has an answer before the next is read" {
	mkfifo in out
	gs-place --job '[vram=8G]' <in >out &
	exec 8>in 9<out
	frame "$F/one.gpus" >&8
	read -t 10 -r line <&9
	[ "$line" = "$(tsv gs 1 gs-place time=1000)" ]
	read -t 10 -r line <&9
	[ "$line" = "$(tsv place 1 0 24576)" ]
	read -t 10 -r line <&9
	frame "$F/one.gpus" 'run|x|0|5|[]' >&8
	read -t 10 -r line <&9
	read -t 10 -r line <&9
	[ "${line%%	text*}" = "$(tsv wait 1 busy)" ]
	exec 8>&-
	wait $! || [ $? -eq 1 ]
	exec 9<&-
}

@test "the status is that of the last frame" {
	frame "$F/one.gpus" >yes
	frame "$F/one.gpus" 'run|x|0|5|[]' >no
	cat yes no >in
	run -1 gs-place --job '[]' <in
	cat no yes >in
	run -0 gs-place --job '[]' <in
	run -0 gs-place <in
}

@test "--wait ends at the first frame in which something is placed" {
	frame "$F/one.gpus" >yes
	frame "$F/one.gpus" 'run|x|0|5|[]' >no
	cat no no yes no >in
	run -0 gs-place --wait --gpus-only --job '[]' <in
	[ "$output" = 0 ]
	run -0 gs-place --wait --job '[]' <in
	[ "$(grep -c '^end' <<<"$output")" -eq 3 ]
	run -1 gs-place --wait --job '[]' <no
}

@test "--wait does not wait for the end of its input" {
	mkfifo in
	gs-place --wait --gpus-only --job '[]' <in >out &
	exec 8>in
	frame "$F/one.gpus" >&8
	wait_for 10 gone $!
	exec 8>&-
	[ "$(cat out)" = 0 ]
}

@test "--gpus-only prints a list that CUDA_VISIBLE_DEVICES takes" {
	frame "$F/four.gpus" 'run|x|0|5|[]' >in
	export CUDA_VISIBLE_DEVICES
	CUDA_VISIBLE_DEVICES=$(gs-place --job '[gpus=2]' --gpus-only <in)
	[ "$CUDA_VISIBLE_DEVICES" = 1,2 ]
	run -0 gs-place --gpus-only --job '[gpus=4]' --job '[]' <in
	[ "$output" = 1 ]
	run -0 gs-place --gpus-only --job '[cpu]' <in
	[ "$output" = '' ]
	run -1 --separate-stderr gs-place --gpus-only --job '[gpus=4]' <in
	[ "$output" = '' ]
	[ "$stderr" = '' ]
}

@test "with one GPU free a job that wants two gets none" {
	frame "$F/two.gpus" 'run|x|0|5|[]' >in
	run -1 gs-place --gpus-only --job '[gpus=2]' <in
	[ "$output" = '' ]
}

@test "a GPU that was renumbered keeps its jobs by UUID" {
	tsv gpu 0 GPU-b 24576 0 0 yes >b.gpus
	frame b.gpus 'run|x|GPU-b|5|[vram=20G]' >in
	run -1 gs-place --job '[vram=8G]' <in
}

@test "records and keys of a newer release are skipped" {
	frame "$F/one.gpus" 'fan|0|fast' 'run|x|0|5|[vram=8G]|?|new=1' \
	    'job|j|[vram=8G]|colour=blue' >in
	run -0 gs-place <in
	[ "${lines[1]}" = "$(tsv place j 0 16384)" ]
}

@test "an id with odd bytes comes back as it was written" {
	frame "$F/one.gpus" 'job|a\tb\\c|[vram=8G]' >in
	run -0 gs-place <in
	[ "${lines[1]}" = "$(tsv place 'a\tb\\c' 0 24576)" ]
}

# bad RECORD MESSAGE: it spoils its frame.
bad() {
	frame "$F/one.gpus" "$1" 'job|j|[]' >in
	run -2 --separate-stderr gs-place <in
	[ "$output" = '' ]
	echo "$stderr"
	[ "$stderr" = "gs-place: stdin: $2" ]
}

@test "a malformed record is named and spoils its frame" {
	bad 'gpu|-|A|1|1|0|yes' 'gpu -: not an index'
	bad 'gpu|x|A|1|1|0|yes' 'gpu x: not an index'
	bad 'gpu|0|A|1|1|0|yes' 'gpu 0: index given twice'
	bad 'gpu|1|A|1x|1|0|yes' "gpu 1: '1x': not an amount of memory"
	bad 'gpu|1|A|1|-1|0|yes' "gpu 1: '-1': not an amount of memory"
	bad 'gpu|1|A|1|1|0|yes|reserved=?' "gpu 1: '?': not an amount of memory"
	bad 'gpu|1|A|1|1|0' 'gpu 1: 5 fields, 6 expected'
	bad 'proc|0|9|9|9|1|?|1|-' "proc 0: '?': not an amount of memory"
	bad 'proc|x|9|9|9|1|1|1|-' 'proc x: not an index'
	bad 'proc|0|9' 'proc 0: 2 fields, 8 expected'
	bad 'run|r|0|1|[vramm=1]' "run r: 'vramm=1': unknown attribute"
	bad 'run|r|0,,1|1|[]' "run r: '0,,1': not a list of GPUs"
	bad 'run|r|0|1|[]|peak=0' "run r: '0': not GPU:MIB"
	bad 'run|r|0|1|[]|peak=0:x' "run r: 'x': not an amount of memory"
	bad 'run|-|0|1|[]' 'run -: no id'
	bad 'job|k|[vram=8G' "job k: '[vram=8G': '[' is not closed"
	bad 'job|k' 'job k: 1 fields, 2 expected'
	bad 'gpu|1|A|99999999999999999999|1|0|yes' \
	    "gpu 1: '99999999999999999999': not an amount of memory"
}

@test "a run that is there twice is refused" {
	frame "$F/one.gpus" 'run|r|0|1|[]' 'run|r|0|1|[]' >in
	run -2 --separate-stderr gs-place <in
	[ "$output" = '' ]
	[ "$stderr" = 'gs-place: stdin: run r: given twice' ]
}

@test "the frames before a malformed one are answered" {
	frame "$F/one.gpus" 'job|j|[]' >in
	frame "$F/one.gpus" 'job|j|[x]' >>in
	run -2 --separate-stderr gs-place <in
	[ "${#lines[@]}" -eq 3 ]
}

@test "no input, cut input and a closed stdin are errors" {
	for f in /dev/null half; do
		frame "$F/one.gpus" | head -n 2 >half
		run -2 --separate-stderr gs-place --job '[]' <$f
		[ "$output" = '' ]
		[ "$stderr" = \
		    'gs-place: stdin: truncated input (writer died?)' ]
	done
	run -2 --separate-stderr bash -c 'gs-place --job "[]" <&-'
	[ "$output" = '' ]
}

@test "an answer that cannot be written is an error" {
	frame "$F/one.gpus" >in
	run -2 bash -c 'gs-place --job "[]" <in >/dev/full'
	run -2 bash -c 'gs-place --gpus-only --job "[]" <in >/dev/full'
	run -2 bash -c 'gs-place --help >/dev/full'
	run -2 bash -c 'gs-place --version >/dev/full'
}

@test "it opens no file of its own and asks for no time" {
	command -v strace >/dev/null || skip 'strace is not here'
	frame "$F/one.gpus" >in
	strace -o trace -e trace=openat,clock_gettime,time,gettimeofday \
	    gs-place --job '[]' <in >out || skip 'strace does not work here'
	run -1 grep -Ev 'ld.so|/lib|\+\+\+' trace
}

# wrong MESSAGE ARGUMENT...: wrong use.
wrong() {
	run -2 --separate-stderr gs-place "${@:2}" </dev/null
	[ "$output" = '' ]
	echo "$stderr"
	[ "${stderr_lines[0]}" = "gs-place: $1" ]
	[ "${stderr_lines[1]}" = 'usage: gs-place [option ...] <FRAMES' ]
}

@test "wrong use is told in one line and the usage" {
	wrong "--margin 'x': invalid" --margin x
	wrong "--margin '-1': invalid" --margin -1
	wrong "--spike-buffer '11': too large" --spike-buffer 11
	wrong "--idle-threshold '1e3': invalid" --idle-threshold 1e3
	wrong "--policy 'best': unknown policy" --policy best
	wrong "--slots '0': too small" --slots 0
	wrong "--shared-gpu 'a': invalid" --shared-gpu a
	wrong "--gpus '0,,1': invalid" --gpus 0,,1
	wrong "--gpus '0,0': given twice" --gpus 0,0
	wrong "--job: 'vramm=8G': unknown attribute" --job '[vramm=8G]'
	wrong "--job: 'x': no attribute block" --job x
	wrong "--job: 'x': text behind the block" --job '[]x'
	wrong "'f': unexpected operand" f
	run -2 --separate-stderr gs-place --nonsense
	[ "$output" = '' ]
	[ "${#stderr_lines[@]}" -eq 2 ]
}

@test "--help and --version go to stdout" {
	run -0 --separate-stderr gs-place --help
	[ "${lines[0]}" = 'usage: gs-place [option ...] <FRAMES' ]
	[ "$stderr" = '' ]
	run -0 gs-place -V
	[[ $output =~ ^gs-place\ \(gs\)\ [0-9] ]]
}

@test "64 GPUs, 2000 runs and 200 jobs take no noticeable time" {
	awk 'BEGIN {
		OFS = "\t"
		for (i = 0; i < 64; i++)
			print "gpu", i, "GPU-" i, 81920, 40000, 0, "yes"
	}' >big.gpus
	{
		tsv gs 1 test
		cat big.gpus
		awk 'BEGIN {
			OFS = "\t"
			for (i = 0; i < 2000; i++) {
				g = i % 64
				print "proc", g, i, i, i, 1, 900, 1000, "j" i
				print "run", "j" i, "GPU-" g, 1, "[vram=1G]"
			}
			for (i = 0; i < 200; i++)
				print "job", "q" i, "[vram=8G gpus=2]"
		}'
		tsv end 4264
	} >in
	# Far above what it needs, far below what squares would.
	run -0 bash -c 'ulimit -t 1; gs-place <in >out'
	[ "$(wc -l <out)" -eq 202 ]
}
