#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Which logs speak of a GPU that was out of memory.
# shellcheck disable=SC2030,SC2031,SC2154

load lib

setup() {
	gs_setup
	PATH=$BIN/../t:$PATH
}

# log EXPECTED LINE...: class, MiB asked for and MiB of the card.
log() {
	printf '%s\n' "${@:2}" >log
	run -0 oomscan <log
	echo "$output"
	[ "$output" = "$1" ]
}

@test "an allocation that failed is told with its size and the card's" {
	log 'oom 4096 24136' 'torch.OutOfMemoryError: CUDA out of memory.'\
' Tried to allocate 4.00 GiB. GPU 0 has a total capacity of 23.57 GiB of which'
	log 'oom 256 11019' 'RuntimeError: CUDA out of memory. Tried to'\
' allocate 256.00 MiB (GPU 0; 10.76 GiB total capacity; 9 GiB allocated)'
	log 'oom 25 -1' 'cupy.cuda.memory.OutOfMemoryError: Out of memory'\
' allocating 25,600,000 bytes'
	log 'oom -1 -1' 'CUDA error: out of memory'
}

@test "host memory, other errors and names with oom are no sign" {
	log 'no -1 -1' ''
	log 'no -1 -1' 'Cannot allocate memory'
	log 'no -1 -1' 'CUDA error: device-side assert triggered'
	log 'no -1 -1' 'Killed' 'oom-kill: constraint=CONSTRAINT_MEMCG'
	log 'no -1 -1' 'test_cuda_out_of_memory PASSED'
	log 'no -1 -1' 'java.lang.OutOfMemoryError: Java heap space'
}

@test "an error that was caught is no sign" {
	log 'no -1 -1' 'ran out of memory: CUDA out of memory. Tried to'\
' allocate 1.00 GiB. Skipping batch'
	log 'no -1 -1' 'cudaMalloc failed: out of memory' \
	    'retrying without pipeline parallelism'
}

@test "quoted lines and source lines are no sign" {
	log 'no -1 -1' '> CUDA error: out of memory'
	log 'no -1 -1' '# CUDA error: out of memory'
	log 'no -1 -1' '  File "x.py", line 3, in f' \
	    '    raise X("CUDA error: out of memory")'
	log 'oom -1 -1' '    CUDA error: out of memory'
}

@test "what no room would have helped is told apart" {
	log 'absurd 40960 24136' 'torch.OutOfMemoryError: CUDA out of memory.'\
' Tried to allocate 40.00 GiB. GPU 0 has a total capacity of 23.57 GiB'
	log 'absurd -1 -1' 'RuntimeError: CUDA out of memory. Tried to'\
' allocate more than 1EB memory.'
	log 'weak -1 -1' 'CUBLAS_STATUS_NOT_INITIALIZED'
}

@test "colours, NUL bytes and carriage returns do not hide it" {
	printf '\033[31mCUDA error:\033[0m out of memory\n' >log
	run -0 oomscan <log
	[ "$output" = 'oom -1 -1' ]
	printf '10%%\rCUDA error: out of memory\r20%%\r' >log
	run -0 oomscan <log
	[ "$output" = 'oom -1 -1' ]
	printf 'a\0b\377 CUDA error: out of memory\0\n\033[' >log
	run -0 oomscan <log
	[ "$output" = 'oom -1 -1' ]
}

@test "it is found above 200 KiB of other lines" {
	{
		echo 'CUDA error: out of memory'
		yes 'frame of a traceback' | head -c 204800
	} >log
	run -0 oomscan <log
	[ "$output" = 'oom -1 -1' ]
}

@test "the collection of logs is classified as its index says" {
	local d file expect rc rest class bad=0
	shared fixtures/oom >path
	d=$(<path)
	while IFS=$'\t' read -r file expect rc rest; do
		[ "$file" != file ] || continue
		class=$(oomscan <"$d/$file" | cut -d ' ' -f 1)
		case $expect.$rc.$class in
		oom.*.oom | not-oom.*.no) ;;
		no-retry.0.*) ;; # never asked about
		no-retry.*.weak | no-retry.*.absurd) ;;
		*)
			echo "$file: $expect, and it is $class"
			bad=$((bad + 1))
			;;
		esac
	done <"$d/INDEX.tsv"
	[ $bad -eq 0 ]
}
