# SPDX-License-Identifier: MIT
# Helpers of the gs-loop tests, behind lib.bash.
# shellcheck shell=bash

# loop_start OPTION...: gs-loop on jobs.txt in the background.
loop_start() {
	gs-loop jobs.txt "$@" >out 2>err 3>&- 4>&- &
	LOOP=$!
}

# loop_end [STATUS]: it ends by itself, with that status.
loop_end() {
	local status=0
	wait_for 20 gone_or_zombie "$LOOP"
	wait "$LOOP" || status=$?
	if [ "$status" -ne "${1:-0}" ]; then
		echo "gs-loop ended with $status"
		cat out err
		return 1
	fi
}

# job_is NO STATE [STATUS]: what the journal knows of a job, by number.
job_is() {
	local word
	word=$(gs-journal -l gs_logs state 2>/dev/null |
	    awk -F'\t' -v no="$1" '$1 == "state" && $2 == no { print $4 " " $6 }')
	[ "${word%% *}" = "$2" ] && { [ -z "${3-}" ] || [ "${word#* }" = "$3" ]; }
}

# started N: N attempts were started in all.
started() {
	[ "$(grep -c '"event":"start"' gs_logs/journal.jsonl)" -eq "$1" ]
}

# has_looked N: so often the fake nvidia-smi was asked for the GPUs by now.
has_looked() {
	[ "$(grep -c ' gpu ' looks)" -ge "$1" ]
}

look_again() {
	wait_for 20 has_looked $(($(grep -c ' gpu ' looks) + 3))
}

said() {
	grep -qF -- "$1" out err
}

# Nothing of a test outlives it.
loop_teardown() {
	local p
	touch "$BATS_TEST_TMPDIR/go"
	for p in ${LOOP:-} $(pgrep -f -- "--journal $BATS_TEST_TMPDIR" || true); do
		kill -TERM "$p" 2>/dev/null || true
	done
}
