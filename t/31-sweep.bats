#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# gs-launch: how a job and all that descends from it are ended.
# Words in single quotes are for the job's shell, not for this one.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154

load lib

setup() {
	gs_setup
}

# Nothing a test started outlives it, even if the test fails.
teardown() {
	local p
	cat pids leader sup 2>/dev/null | while read -r p; do
		dead "$p" || kill -KILL "$p" 2>/dev/null || true
	done
}

# launch ARG...: start a job in the background; $sup and $pid are set.
launch() {
	local start
	gs-launch --id a --journal j "$@" >out
	start=$(grep ^start out)
	pid=$(cut -f4 <<<"$start")
	sup=$(cut -f5 <<<"$start")
	echo "$pid" >leader
	echo "$sup" >sup
}

# event NAME FILTER: that of the first event of that name.
event() {
	jq -rn --arg e "$1" "first(inputs | select(.event == \$e)) | $2" j
}

recorded() {
	[ "$(event "$1" .event)" = "$1" ]
}

# The processes whose number is in file `pids` are gone, and who was launched.
all_gone() {
	local p
	cat pids leader sup 2>/dev/null | while read -r p; do
		dead "$p" || return 1
	done
}

pids_known() {
	[ "$(wc -l <pids)" -ge "$1" ]
}

stopped() {
	grep -q '^State:.T' "/proc/$1/status"
}

running() {
	grep -q '^State:.[SR]' "/proc/$1/status"
}

# milliseconds since $1
since() {
	echo $(($(date +%s%N) / 1000000 - $1))
}

# Ended, whether or not its parent (a slow init, say) has reaped it.  Where so
# much is forked the number soon is somebody else's, who is not at work here.
dead() {
	! [ "/proc/$1/cwd" -ef "$BATS_TEST_TMPDIR" ]
}

# ends STATUS PID: a child of this shell, with that status.
ends() {
	local status=0
	wait "$2" || status=$?
	echo "status $status"
	[ "$status" -eq "$1" ]
}

@test "a child that left session and parent does not outlive the job" {
	run -0 gs-launch --wait --shell '(setsid sh -c "echo \$\$ >>pids
	    exec sleep 300" &) ; until [ -s pids ]; do :; done'
	[ -s pids ]
	all_gone
}

@test "the whole of a deep tree dies of a stop" {
	cat >tree <<-'END'
	echo $$ >>pids
	[ "$1" -gt 0 ] || exec sleep 300
	sh ./tree $(($1 - 1)) &
	setsid sh ./tree $(($1 - 1)) &
	wait
	END
	launch -- sh ./tree 3
	wait_for 10 pids_known 15
	kill -TERM "$sup"
	wait_for 10 all_gone
	[ "$(event exit '"\(.cause) \(.status) \(.own_status)"')" = \
	    "stopped 143 143" ]
}

@test "who ignores TERM is killed after the grace, and not before" {
	launch --grace 0.4 --log l --shell 'trap "echo term" TERM
	    echo $$ >>pids; while :; do sleep 0.05; done'
	wait_for 10 pids_known 1
	from=$(($(date +%s%N) / 1000000))
	kill -TERM "$sup"
	wait_for 10 all_gone
	[ "$(since "$from")" -ge 400 ]
	grep -q term l
	[ "$(event exit .own_status)" = 137 ]
}

@test "a second stop does not wait for the grace" {
	launch --grace 1h --log l --shell 'trap "echo term" TERM
	    echo $$ >>pids; while :; do sleep 0.05; done'
	wait_for 10 pids_known 1
	kill -TERM "$sup"
	wait_for 10 grep -q term l
	kill -TERM "$sup"
	wait_for 10 all_gone
	[ "$(event exit .cause)" = stopped ]
}

@test "a stop is recorded when nobody is left, an end by itself at once" {
	gs-launch --id a --journal j --grace 1s --wait --shell \
	    'trap "exit 0" TERM; (trap "" TERM; echo $$ >>pids; while :; do echo >>grows; sleep 0.05; done) &
	    while :; do sleep 0.05; done' >out &
	wait_for 10 test -s grows
	sup=$(awk -F'\t' '$1 == "start" { print $5 }' out)
	leader=$(awk -F'\t' '$1 == "start" { print $4 }' out)
	kill -TERM "$sup"
	wait_for 10 grep -q '^State:.Z' "/proc/$leader/status"
	run ! recorded exit
	wait_for 10 recorded exit
	was=$(wc -l <grows)
	ends 143 $!
	[ "$(wc -l <grows)" -eq "$was" ]
	[ "$(event exit .cause)" = stopped ]
}

@test "leftovers that ignore TERM are killed after the grace" {
	run -0 gs-launch --wait --grace 0.2 --shell '(trap "" TERM; setsid sh -c "
	    echo \$\$ >>pids; sleep 300; sleep 300" &)
	    until [ -s pids ]; do :; done'
	all_gone
}

@test "what the job left behind is recorded and, to who waits, said" {
	run -0 --separate-stderr gs-launch --id a --journal j --wait --shell \
	    'setsid sleep 300 & echo $! >pids'
	[ "$(event note '.left[0]')" = "$(cat pids)" ]
	[ "$stderr" = "gs-launch: the job left 1 process behind, to be stopped" ]
	all_gone
}

@test "a leftover that soon ends by itself is left in peace" {
	gs-launch --wait --log l --shell \
	    '(trap "echo term" TERM; sleep 0.05; echo over) & :' >out
	[ "$(cat l)" = over ]
}

@test "a tree that forks faster than it is killed is outrun" {
	# Each generation starts the next two and goes; the brake is a file.
	cat >bomb <<-'END'
	trap '' TERM
	[ -e stop ] && exit
	[ "$(ls gen | wc -l)" -lt 100 ] || exec sleep 0.05
	: >"gen/$$"
	setsid sh ./bomb &
	setsid sh ./bomb &
	END
	mkdir gen
	launch --grace 0 -- sh ./bomb
	kill -TERM "$sup"
	wait_for 60 dead "$sup"
	: >stop
	ls gen >pids
	all_gone
}

@test "--linger leaves what the job left behind" {
	run -0 timeout 10 gs-launch --wait --linger --log l --shell '(setsid sh -c "
	    echo \$\$ >>pids; exec sleep 300" &)
	    until [ -s pids ]; do :; done'
	[ -e "/proc/$(cat pids)" ]
}

@test "a stop ends lingering processes, too" {
	launch --linger --shell 'setsid sleep 300 & echo $! >>pids; wait'
	wait_for 10 pids_known 1
	kill -TERM "$sup"
	wait_for 10 all_gone
}

@test "the end is recorded while a leftover still runs" {
	launch --grace 1h --shell '(trap "" TERM; setsid sh -c "
	    echo \$\$ >>pids; sleep 300; sleep 300" &)
	    until [ -s pids ]; do sleep 0.01; done; exit 4'
	wait_for 10 recorded exit
	[ "$(event exit .status)" = 4 ]
	[ -e "/proc/$sup" ]
	# Unreaped, the leader keeps its numbers.
	grep -q '^State:.Z' "/proc/$pid/status"
	# However far the sweep is: TERM, and then KILL.
	hurry() {
		kill -TERM "$sup" 2>/dev/null
		all_gone
	}
	wait_for 10 hurry
	[ "$(event exit .cause)" = exit ]
}

@test "a leader that was killed from outside is swept behind" {
	launch --grace 0.2 --shell 'sleep 300 & echo $! >>pids; wait'
	wait_for 10 pids_known 1
	kill -KILL "$pid"
	wait_for 10 all_gone
	[ "$(event exit '"\(.cause) \(.status)"')" = "signal 137" ]
}

@test "a time limit is 124 whatever the job makes of its TERM" {
	run -124 gs-launch --id a --journal j --wait --timeout 0.2 --shell \
	    'trap "exit 0" TERM; while :; do sleep 0.05; done'
	grep -q $'^exit\ta\t1\ttimeout\t124\t' <<<"$output"
	[ "$(event exit '"\(.cause) \(.status) \(.own_status)"')" = \
	    "timeout 124 0" ]
}

@test "a job that ends within its limit is not touched" {
	run -5 gs-launch --wait --timeout 1h --shell 'exit 5'
}

@test "freezing stops the whole tree and the clock of the limit" {
	launch --timeout 1 --shell 'setsid sleep 300 & echo $! >>pids
	    sleep 300 & echo $! >>pids; wait'
	wait_for 10 pids_known 2
	kill -TSTP "$sup"
	cat pids leader >tree
	while read -r p; do
		wait_for 10 stopped "$p"
	done <tree
	recorded freeze
	sleep 1.2 # more than the limit
	run ! recorded exit
	kill -CONT "$sup"
	wait_for 10 recorded exit
	[ "$(event exit .cause)" = timeout ]
	[ "$(jq -r .event j | paste -sd' ')" = "start freeze thaw exit" ]
	wait_for 10 all_gone
}

@test "a thawed job goes on" {
	mkfifo hold
	launch --log l --shell 'echo $$ >>pids; read x <hold; echo "$x"'
	wait_for 10 pids_known 1
	kill -TSTP "$sup"
	wait_for 10 stopped "$pid"
	kill -CONT "$sup"
	wait_for 10 running "$pid"
	echo on >hold
	wait_for 10 recorded exit
	[ "$(event exit .status)" = 0 ]
	[ "$(cat l)" = on ]
}

@test "a frozen job can be stopped, and hears of it" {
	launch --log l --shell 'trap "echo term; exit 0" TERM
	    echo $$ >>pids; while :; do sleep 0.05; done'
	wait_for 10 pids_known 1
	kill -TSTP "$sup"
	wait_for 10 stopped "$pid"
	kill -TERM "$sup"
	wait_for 10 all_gone
	grep -qx term l
	[ "$(event exit '"\(.cause) \(.own_status)"')" = "stopped 0" ]
}

@test "no other signal changes anything, nor does a stopped supervisor" {
	mkfifo hold
	gs-launch --wait --shell 'read x <hold; exit 6' >out &
	front=$!
	wait_for 10 grep -q ^end out
	sup=$(awk -F'\t' '$1 == "start" { print $5 }' out)
	for _ in $(seq 20); do
		for s in WINCH CHLD USR1 USR2 CONT ALRM PIPE; do
			kill -$s "$front" "$sup"
		done
		kill -HUP "$sup"
		kill -INT "$sup"
	done
	kill -STOP "$front" "$sup"
	wait_for 10 stopped "$sup"
	kill -CONT "$front" "$sup"
	echo >hold
	ends 6 "$front"
	run ! grep stopped out
}

@test "TERM to who waits stops the job and reports it" {
	gs-launch --wait --shell 'sleep 300 & echo $! >>pids; wait' >out &
	front=$!
	wait_for 10 test -s pids
	kill -TERM "$front"
	ends 143 "$front"
	grep -q $'^exit\t-\t1\tstopped\t143\t' out
	all_gone
}

@test "a HUP that was ignored when it began does not stop the job" {
	mkfifo hold
	env --ignore-signal=HUP gs-launch --wait --shell \
	    'read x <hold; exit 7' >out &
	front=$!
	wait_for 10 grep -q ^end out
	kill -HUP "$front"
	echo >hold
	ends 7 "$front"
}

@test "an interrupt at the terminal stops the job, which never sees INT" {
	command -v script >/dev/null || skip "no script(1)"
	mkfifo keys
	timeout 30 script -qefc 'exec gs-launch --wait --log l --shell "
	    trap \"echo int\" INT; trap \"echo term; exit\" TERM
	    echo \$\$ >>pids; while :; do sleep 0.05; done"' /dev/null \
	    <keys >out &
	exec 9>keys
	wait_for 10 pids_known 1
	printf '\003' >&9
	ends 143 $!
	exec 9>&-
	grep -qx term l
	run ! grep int l
}

@test "a killed front does not take the job with it" {
	mkfifo hold
	gs-launch --id a --journal j --wait --shell 'read x <hold; exit 3' >out &
	front=$!
	wait_for 10 grep -q ^end out
	kill -KILL "$front"
	ends 137 "$front"
	echo >hold
	wait_for 10 recorded exit
	[ "$(event exit .status)" = 3 ]
}

@test "a killed supervisor is noticed by who waits for it" {
	gs-launch --wait --log l -- sleep 300 >out 2>err &
	front=$!
	wait_for 10 grep -q ^end out
	awk -F'\t' '$1 == "start" { print $4 }' out >pids
	sup=$(awk -F'\t' '$1 == "start" { print $5 }' out)
	kill -KILL "$sup"
	ends 125 "$front"
	[ "$(cat err)" = \
	    "gs-launch: supervisor $sup: died; the job may still run" ]
}

@test "orphans that end while the job runs leave no zombies" {
	mkfifo hold
	launch --shell 'for i in 1 2 3 4 5 6 7 8 9; do (true & true &) ; done
	    echo $$ >>pids; read x <hold'
	wait_for 10 pids_known 1
	only_the_leader() {
		[ "$(pgrep -P "$sup")" = "$pid" ]
	}
	wait_for 10 only_the_leader
	echo >hold
	wait_for 10 dead "$sup"
}

@test "the supervisor needs less than a mebibyte of its own" {
	! grep -q __asan_init "$BIN/gs-launch" || skip "sanitizers need more"
	mkfifo hold
	launch --shell 'read x <hold'
	kib=$(awk '$1 == "Private_Dirty:" { n += $2 } END { print n }' \
	    "/proc/$sup/smaps")
	echo "$kib KiB"
	[ "$kib" -lt 1024 ]
	echo >hold
	wait_for 10 dead "$sup"
}
