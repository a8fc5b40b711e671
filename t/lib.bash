# SPDX-License-Identifier: MIT
# Helpers of all tests: `load lib` and call gs_setup from setup().
# shellcheck shell=bash

bats_require_minimum_version 1.5.0

# A known environment, the programs first in PATH, and a folder of our own.
gs_setup() {
	local v bin=${GS_TEST_BIN:-}
	for v in ${!GS_@} NO_COLOR CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER \
	    ROCR_VISIBLE_DEVICES HIP_VISIBLE_DEVICES; do
		unset "$v"
	done
	# The GPUs of the machine that we are on are none of ours.
	export GS_NVML=no-such-library GS_SYSROOT=/nonexistent
	# SHELL is what script(1) runs its command with.
	export LC_ALL=C TZ=UTC SHELL=/bin/sh
	T=$BATS_TEST_DIRNAME
	ROOT=${T%/*}
	BIN=${bin:-$ROOT/.build/bin}
	export PATH=$BIN:$PATH
	# What wait_for reads while it waits; nobody writes to it.
	[ -p "$BATS_FILE_TMPDIR/never" ] || mkfifo "$BATS_FILE_TMPDIR/never"
	cd "$BATS_TEST_TMPDIR" || return 1
	export GS_SIM_DIR=$BATS_TEST_TMPDIR/sim
}

# wait_for SECONDS COMMAND...: until it succeeds, or fail after the limit.
# It waits without starting processes, because many tests wait at a time.
wait_for() {
	local limit=$((${EPOCHREALTIME/./} + $1 * 1000000)) never
	local pauses=(0.01 0.02 0.04 0.08) i=0
	shift
	until "$@" >/dev/null 2>&1; do
		if ((${EPOCHREALTIME/./} >= limit)); then
			echo "gave up waiting for: $*" >&2
			return 1
		fi
		[ -n "${never-}" ] || exec {never}<>"$BATS_FILE_TMPDIR/never"
		read -rt "${pauses[i]}" -u "$never" || :
		[ $i -eq 3 ] || i=$((i + 1))
	done
	[ -z "${never-}" ] || exec {never}>&-
}

# shared DIR: its path in ../shared, or skip the test loudly.
shared() {
	local d=$ROOT/../shared/$1
	[ -e "$d" ] || skip "../shared/$1 is not here"
	printf '%s\n' "$d"
}

# tsv WORD...: a record line.
tsv() {
	local IFS=$'\t'
	printf '%s\n' "$*"
}

gone() {
	! kill -0 "$1" 2>/dev/null
}

# Has the process ended, whether or not it was reaped?
gone_or_zombie() {
	[ ! -e "/proc/$1" ] || grep -q '^State:.[ZX]' "/proc/$1/status"
}

# has_frames N FILE: are there that many by now?
has_frames() {
	[ "$(grep -c '^end' "$2")" -ge "$1" ]
}
