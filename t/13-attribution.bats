#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Whose process is it?  GPU processes here are sleeping shells, put on a
# simulated card by a claim file or on the fake nvidia-smi's list.

# Each test is a subshell, and run sets stderr_lines:
# shellcheck disable=SC2030,SC2031,SC2154

load lib

setup() {
	gs_setup
	export PATH=$T/bin:$PATH
	gs-probe --sim 1 >/dev/null
	JOBS=
}

teardown() {
	# shellcheck disable=SC2086
	{ kill -9 $JOBS || true; wait || true; } 2>/dev/null
}

# on_gpu PID: put it on the simulated card.
on_gpu() {
	echo "100 1" >"sim/claim.0.$1.$(awk '{ print $22 }' "/proc/$1/stat")"
}

# job_of PID [OPTION...]: the JOB of its record.
job_of() {
	local pid=$1
	shift
	gs-probe --sim 1 "$@" |
		awk -F'\t' -v p="$pid" '$1 == "proc" && $3 == p { print $9 }'
}

# idle: a process that waits to be looked at; its pid is in $!.
idle() {
	"$@" sleep 600 3>&- &
	JOBS+=" $!"
}

# began PID: its own program is running.
began() {
	[ "$(cat "/proc/$1/comm")" = sleep ]
}

# pid_in FILE: what was written there, once it is.
pid_in() {
	wait_for 20 test -s "$1" && cat "$1"
}

@test "a process without any mark is foreign" {
	idle env
	wait_for 20 began $!
	on_gpu $!
	[ "$(job_of $!)" = - ]
}

@test "GS_JOB in its environment says whose it is" {
	idle env GS_JOB=a1
	wait_for 20 began $!
	on_gpu $!
	[ "$(job_of $!)" = a1 ]
}

@test "the nearest ancestor with GS_JOB speaks for a child without" {
	GS_JOB=outer sh -c '
		GS_JOB=inner sh -c "
			env -u GS_JOB sleep 600 & echo \$! >pid; wait"
		' 3>&- &
	JOBS+=" $! $(pid_in pid)"
	wait_for 20 began "$(cat pid)"
	on_gpu "$(cat pid)"
	[ "$(job_of "$(cat pid)")" = inner ]
}

@test "the variable does not spread over a session" {
	idle env GS_JOB=a1
	wait_for 20 began $!
	on_gpu $!
	idle env
	wait_for 20 began $!
	on_gpu $!
	[ "$(job_of $!)" = - ]
}

@test "with a log directory only its jobs are known" {
	mkdir mine yours
	ln -s mine link
	idle env GS_JOB=a1 GS_LOG_DIR="$PWD/mine"
	wait_for 20 began $!
	on_gpu $!
	[ "$(job_of $!)" = a1 ]
	[ "$(job_of $! --log-dir mine)" = a1 ]
	[ "$(job_of $! --log-dir link)" = a1 ]
	[ "$(job_of $! --log-dir yours)" = - ]
	idle env GS_JOB=a1
	wait_for 20 began $!
	on_gpu $!
	[ "$(job_of $! --log-dir mine)" = - ]
	run -2 --separate-stderr gs-probe --sim 1 --log-dir none
	[[ $stderr == "gs-probe: --log-dir 'none': No such file"* ]]
}

# supervised OPTION...: something called gs-launch with those options runs
# ./job, whose environment says nothing.
supervised() {
	[ -x dir/gs-launch ] || {
		mkdir -p dir
		cp "$(command -v bash)" dir/gs-launch
	}
	# The words behind -c SCRIPT are what a supervisor would have.
	setsid dir/gs-launch -c 'sh ./job & wait; :' gs-launch "$@" 3>&- &
}

@test "a descendant of a job's gs-launch is the job's" {
	cat >job <<-'END'
	echo $$ >pid
	exec sleep 600
	END
	supervised --id b2 --attempt 1 -- x --id wrong
	JOBS+=" $! $(pid_in pid)"
	wait_for 20 began "$(cat pid)"
	on_gpu "$(cat pid)"
	[ "$(job_of "$(cat pid)")" = b2 ]
}

@test "a worker in a session of its own is the job's, too" {
	cat >job <<-'END'
	setsid sleep 600 &
	echo $! >pid
	wait
	END
	supervised --id=b2 --journal logs/journal.jsonl --
	JOBS+=" $! $(pid_in pid)"
	wait_for 20 began "$(cat pid)"
	[ "$(ps -o sid= -p "$(cat pid)")" -eq "$(cat pid)" ]
	on_gpu "$(cat pid)"
	[ "$(job_of "$(cat pid)")" = b2 ]
	mkdir logs other
	touch logs/journal.jsonl other/journal.jsonl
	[ "$(job_of "$(cat pid)" --log-dir logs)" = b2 ]
	[ "$(job_of "$(cat pid)" --log-dir other)" = - ]
}

@test "who was a job's stays so when its gs-launch is gone" {
	local sup worker
	cat >job <<-'END'
	sleep 600 &
	echo $! >worker
	wait
	END
	supervised --id b2 --
	sup=$!
	worker=$(pid_in worker)
	JOBS+=" $sup $worker"
	wait_for 20 began "$worker"
	on_gpu "$worker"
	mkfifo ask
	gs-probe --sim 1 --on-demand <ask >out 3>&- &
	JOBS+=" $!"
	exec 8>ask
	echo >&8
	wait_for 20 grep -q "^proc.0.$worker	.*	b2	" out
	kill -9 "$sup" "$(ps -o ppid= -p "$worker")"
	echo >&8
	wait_for 20 has_frames 2 out
	[ "$(grep -c "^proc.0.$worker	.*	b2	" out)" -eq 2 ]
	exec 8>&-
	# A look that does not remember cannot know.
	[ "$(job_of "$worker")" = - ]
}

@test "a process in the session of a known one is the job's" {
	cat >job <<-'END'
	sleep 600 &
	echo $! >known
	# Not a descendant any more, but of the same session.
	(sleep 600 & echo $! >orphan)
	wait
	END
	supervised --id b2 --
	JOBS+=" $! $(pid_in known) $(pid_in orphan)"
	wait_for 20 began "$(cat orphan)"
	[ "$(ps -o ppid= -p "$(cat orphan)")" -ne \
	    "$(ps -o ppid= -p "$(cat known)")" ]
	on_gpu "$(cat orphan)"
	[ "$(job_of "$(cat orphan)")" = - ]
	on_gpu "$(cat known)"
	[ "$(job_of "$(cat orphan)")" = b2 ]
}

# nvidia PID...: the fake nvidia-smi lists these.
nvidia() {
	local pid
	mkdir -p m
	export GS_FAKE_SMI=$PWD/m
	echo '0, GPU-1, 00000000:01:00.0, X, 10000, 0, 5000, 5000, 7, Default, [N/A], 30' \
	    >m/query-gpu.csv
	for pid; do
		echo "GPU-1, $pid, 50, x"
	done >m/new
	mv m/new m/query-compute-apps.csv
}

@test "a foreign number that is a local pid by chance is nobody's" {
	nvidia $$ 4194303
	run -0 --separate-stderr gs-probe
	[[ ${lines[0]} != *procs=* ]]
	[[ ${lines[2]} == "$(tsv proc 0 $$)"*"$(tsv '' 50 50 - type=C)"* ]]
	[ "${lines[3]}" = "$(tsv proc 0 4194303 - - - 50 50 - type=C comm=x)" ]
}

@test "if none of the pids is here they are those of elsewhere" {
	nvidia 4194302 4194303
	run -0 --separate-stderr gs-probe
	[[ ${lines[0]} == *$'\tprocs=foreign' ]]
	[ "${#lines[@]}" -eq 5 ]
	nvidia
	run -0 --separate-stderr gs-probe
	[[ ${lines[0]} != *procs=* ]]
}

@test "a process that ended but still holds memory is still the job's" {
	idle env GS_JOB=c3
	wait_for 20 began $!
	nvidia $!
	mkfifo ask
	gs-probe --on-demand <ask >out 3>&- &
	JOBS+=" $!"
	worker=${JOBS% *}
	worker=${worker##* }
	exec 8>ask
	echo >&8
	wait_for 20 grep -q "^proc.0.$worker	[0-9].*	50	c3	" out
	kill -9 "$worker"
	wait "$worker" || true
	sed -i 's/50, x/20, x/' m/query-compute-apps.csv
	echo >&8
	wait_for 20 grep -qx \
	    "$(tsv proc 0 "$worker" - - - 20 50 c3 type=C comm=x)" out
	run ! grep -q procs= out
	exec 8>&-
}

# bats test_tags=long
@test "processes that end between two looks at them do no harm" {
	cat >churn <<-'END'
	while :; do
		for i in 1 2 3 4 5 6 7 8; do
			sleep 0.05 &
			echo "GPU-1, $!, 5, x"
		done >m/churn
		mv m/churn m/query-compute-apps.csv
		wait
	done
	END
	nvidia $$
	sh churn 3>&- &
	JOBS+=" $!"
	gs-probe --interval 0.01 >out 2>err &
	JOBS+=" $!"
	wait_for 60 has_frames 60 out
	[ ! -s err ]
}

@test "real jobs of gs-launch are known, workers in sessions of their own too" {
	command -v gs-launch >/dev/null || skip "gs-launch is not built"
	mkdir logs
	cat >work <<-'END'
	# What torchrun does, with an environment that says nothing.
	env -i PATH="$PATH" GS_SIM_DIR="$GS_SIM_DIR" setsid \
	    gs-simjob --vram 1G --hold 600 &
	echo $! >pid
	wait
	END
	gs-launch --id d4 --gpus 0 --journal logs/journal.jsonl \
	    --log log --wait -- sh ./work 3>&- &
	JOBS+=" $!"
	pid_in pid
	JOBS+=" $(cat pid)"
	wait_for 20 sh -c 'gs-probe --sim 1 | grep ^proc'
	[ "$(job_of "$(cat pid)")" = d4 ]
	[ "$(job_of "$(cat pid)" --log-dir logs)" = d4 ]
	mkdir other
	[ "$(job_of "$(cat pid)" --log-dir other)" = - ]
	kill "${JOBS%% *}" 2>/dev/null || true
}
