#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The fold: a test for each row of the table in gs-journal(5), and the rules
# that come before it.
# Words in single quotes are jq's or awk's; each test has variables of its own.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154

load lib

setup() {
	gs_setup
	J=$PWD/j
}

ev() {
	gs-journal -j "$J" append "$@"
}

# Bring job a into a phase of the table.
in_phase() {
	rm -f "$J"
	ev queued id=a no=1 cmd=true vram=100
	case $1 in
	running) ev start id=a attempt=1 gpus=0,1 pgid=7 ;;
	frozen)
		in_phase running
		ev freeze id=a attempt=1
		;;
	ended)
		in_phase running
		ev exit id=a attempt=1 cause=exit status=3 wall=5
		;;
	settled)
		in_phase ended
		ev 'done' id=a attempt=1 state=failed status=3
		;;
	esac
}

# is STATE ATTEMPT STATUS VRAM PEAK: what the fold says of job a.
is() {
	local got
	gs-journal -j "$J" state a >out
	got=$(awk -F'\t' '$1 == "state" {print $4, $5, $6, $8, $9}' out)
	[ "$got" = "$*" ] || {
		echo "the state is $got, not $*" >&2
		return 1
	}
}

settled() {
	[ "$(gs-journal -j "$J" query -s '$state.a.settled')" = "$1" ]
}

# after PHASE EVENT...: the event in that phase.
after() {
	in_phase "$1"
	shift
	ev "$@"
}

@test "phases are as the table's columns say" {
	in_phase pending
	is pending 0 - 100 -
	in_phase running
	is running 1 - 100 -
	in_phase frozen
	is frozen 1 - 100 -
	in_phase ended
	is failed 1 3 100 -
	settled false
	in_phase settled
	is failed 1 3 100 -
	settled true
}

@test "queued describes a job that is not settled" {
	local again=(queued id=a no=9 cmd=false vram=200)
	after pending "${again[@]}"
	is pending 0 - 200 -
	after running "${again[@]}"
	is running 1 - 200 -
	after frozen "${again[@]}"
	is frozen 1 - 200 -
	after ended "${again[@]}"
	is failed 1 3 200 -
	after settled "${again[@]}"
	is failed 1 3 100 -
	run -0 gs-journal -j "$J" query -s -c '$state.a | [.no, .cmd]'
	[ "$output" = '[1,"true"]' ]
}

@test "start begins the next attempt of a job that is not settled" {
	local next=(start id=a attempt=2 vram=300)
	after pending "${next[@]}"
	is running 2 - 300 -
	after running "${next[@]}"
	is running 2 - 300 -
	after frozen "${next[@]}"
	is running 2 - 300 -
	after ended "${next[@]}"
	is running 2 - 300 -
	after settled "${next[@]}"
	is failed 1 3 100 -
}

@test "start of an attempt that was there is ignored" {
	after ended start id=a attempt=1
	is failed 1 3 100 -
	after running retry id=a attempt=1
	ev start id=a attempt=1
	is pending 1 - 100 -
}

@test "exit ends what runs" {
	local end=(exit id=a attempt=1 cause=exit status=0)
	after running "${end[@]}"
	is ok 1 0 100 -
	settled false
	after frozen "${end[@]}"
	is ok 1 0 100 -
	after ended "${end[@]}"
	is failed 1 3 100 -
	after settled "${end[@]}"
	is failed 1 3 100 -
}

@test "an exit of an attempt whose start was lost is an end all the same" {
	after pending exit id=a attempt=1 cause=exit status=0
	is ok 1 0 100 -
	after ended exit id=a attempt=2 cause=exit status=0
	is ok 2 0 100 -
}

@test "the cause of an exit gives the state" {
	local cause status state
	while read -r cause status state; do
		after running exit id=a attempt=1 "cause=$cause" \
		    "status=$status"
		is "$state" 1 "$status" 100 -
	done <<-END
	exit 0 ok
	exit 7 failed
	signal 137 failed
	exec 127 failed
	timeout 124 timeout
	stopped 143 failed
	END
}

@test "usage gives the largest peak of the attempt" {
	local peak=(usage id=a attempt=1 'peak:={"U0":10,"U1":70}')
	after pending "${peak[@]}"
	is running 1 - 100 70
	after running "${peak[@]}"
	is running 1 - 100 70
	ev usage id=a attempt=1 'peak:={"U0":60}'
	is running 1 - 100 70
	after frozen "${peak[@]}"
	is frozen 1 - 100 70
	after ended "${peak[@]}"
	is failed 1 3 100 70
	ev start id=a attempt=2
	is running 2 - 100 -
	ev usage id=a attempt=1 'peak:={"U0":60}'
	is running 2 - 100 -
	after settled "${peak[@]}"
	is failed 1 3 100 -
}

@test "done settles a job" {
	local phase
	for phase in running frozen ended; do
		after "$phase" 'done' id=a attempt=1 state=failed_oom \
		    status=1 'peak:={"U":9}'
		is failed_oom 1 1 100 9
		settled true
	done
	after pending 'done' id=a attempt=0 state=infeasible
	is infeasible 0 - 100 -
	settled true
	after settled 'done' id=a attempt=1 state=ok status=0
	is failed 1 3 100 -
	after running 'done' id=a attempt=0 state=skipped
	is running 1 - 100 -
}

@test "retry makes a job pending again with a new declaration" {
	local phase
	for phase in running frozen ended; do
		after "$phase" retry id=a attempt=1 vram=400
		is pending 1 "$([ "$phase" = ended ] && echo 3 || echo -)" \
		    400 -
	done
	ev retry id=a attempt=1 vram=500
	is pending 1 3 500 -
	after settled retry id=a attempt=1 vram=400
	is failed 1 3 100 -
}

@test "a retry's declaration holds until the line declares something else" {
	after ended retry id=a attempt=1 vram=400
	ev queued id=a tag=x vram=100
	is pending 1 3 400 -
	ev queued id=a tag=x vram=300
	is pending 1 3 300 -
	ev queued id=a tag=x vram=100
	is pending 1 3 100 -
}

@test "cancel drops a pending job at once" {
	after pending cancel id=a
	is cancelled 0 - 100 -
	settled true
	ev start id=a attempt=1
	is cancelled 0 - 100 -
	after settled cancel id=a
	is failed 1 3 100 -
}

@test "cancel of a running job takes effect when it was stopped" {
	local phase
	for phase in running frozen; do
		after "$phase" cancel id=a
		is "$phase" 1 - 100 -
		ev exit id=a attempt=1 cause=stopped status=143
		is cancelled 1 143 100 -
		settled true
	done
	after running cancel id=a
	ev exit id=a attempt=1 cause=exit status=0
	is ok 1 0 100 -
}

@test "a job that was cancelled is never pending again" {
	after running cancel id=a
	ev interrupted id=a attempt=1 why=lost
	is cancelled 1 - 100 -
	after ended cancel id=a
	is failed 1 3 100 -
	ev retry id=a attempt=1 vram=200
	is cancelled 1 3 200 -
}

@test "interrupted makes what ran pending again" {
	local phase why
	for phase in running frozen; do
		for why in lost reboot; do
			after "$phase" interrupted id=a attempt=1 "why=$why"
			is pending 1 - 100 -
		done
	done
	after pending interrupted id=a attempt=1 why=lost
	is pending 1 - 100 -
	after ended interrupted id=a attempt=1 why=lost
	is failed 1 3 100 -
	after settled interrupted id=a attempt=1 why=lost
	is failed 1 3 100 -
}

@test "a stop that was asked for makes a job pending again when it ends" {
	after running interrupted id=a attempt=1 why=stop
	is running 1 - 100 -
	ev exit id=a attempt=1 cause=stopped status=143
	is pending 1 143 100 -
	after running interrupted id=a attempt=1 why=stop
	ev exit id=a attempt=1 cause=exit status=0
	is ok 1 0 100 -
}

@test "freeze and thaw turn running into frozen and back" {
	after running freeze id=a attempt=1
	is frozen 1 - 100 -
	ev freeze id=a attempt=1
	is frozen 1 - 100 -
	ev thaw id=a attempt=1
	is running 1 - 100 -
	ev thaw id=a attempt=1
	is running 1 - 100 -
	after ended freeze id=a attempt=1
	is failed 1 3 100 -
	after ended thaw id=a attempt=1
	is failed 1 3 100 -
	after settled freeze id=a attempt=1
	is failed 1 3 100 -
	after pending freeze id=a attempt=1
	is frozen 1 - 100 -
}

@test "events of an earlier attempt are ignored" {
	after ended start id=a attempt=2
	ev exit id=a attempt=1 cause=exit status=0
	ev 'done' id=a attempt=1 state=ok status=0
	ev retry id=a attempt=1 vram=1
	ev freeze id=a attempt=1
	ev interrupted id=a attempt=1 why=lost
	is running 2 - 100 -
}

@test "a job that gs-launch alone started has no number" {
	ev start id=a attempt=1 cmd=true
	ev exit id=a attempt=1 cause=exit status=0
	run -0 gs-journal -j "$J" state a
	[[ ${lines[1]} == "$(tsv state - a ok 1 0)"$'\t'* ]]
}

@test "a number is found before an identity, and an identity after it" {
	ev queued id=2 no=1 cmd=first
	ev queued id=b no=2 cmd=second
	ev queued id=77 no=3 cmd=third
	run -0 gs-journal -j "$J" state 2 77
	[[ ${lines[1]} == *$'\t'second ]]
	[[ ${lines[2]} == *$'\t'third ]]
}
