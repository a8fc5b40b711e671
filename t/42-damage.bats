#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The journal: what crashes, full disks and bad bits do to it, and what not.
# Words in single quotes are jq's or awk's; each test has variables of its own.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154

load lib

setup() {
	gs_setup
	J=$PWD/j
}

teardown() {
	if mountpoint -q disk; then
		umount disk
	fi
}

# driver: the path of the C program that tries every byte and bit.
driver() {
	local d=$BIN/../t/journaltorn
	[ -x "$d" ] || skip "build it first: make testbin"
	printf '%s\n' "$d"
}

note() {
	gs-journal -j "$J" append note text="$1"
}

# What query says of the notes, in one line.
notes() {
	gs-journal -j "$J" query -s -c '[.[].text]' 2>err
}

@test "a journal cut at any byte is read, and the next line is whole" {
	run -0 "$(driver)" torn "$PWD/torn"
}

@test "every single flipped bit is seen" {
	run -0 "$(driver)" flip
}

# bats test_tags=long
@test "500 concurrent appends are all there and whole" {
	local i
	for i in {1..500}; do
		gs-journal -j "$J" append note "text=$i" &
	done
	wait
	run -0 --separate-stderr gs-journal -j "$J" query -s \
	    '[.[].text | tonumber] | sort == [range(1; 501)]'
	[ "$output" = true ]
	[ -z "$stderr" ]
	run -0 gs-journal -j "$J" check
	[ -z "$output" ]
}

@test "a torn last line damages nothing but itself" {
	note a
	printf '{"v":1,"t":17' >>"$J"
	run -1 gs-journal -j "$J" check
	[ "$output" = "$J:2: torn, it has no end" ]
	run -0 notes
	[ "$output" = '["a"]' ]
	[ ! -s err ]
	note b
	run -0 notes
	[ "$output" = '["a","b"]' ]
	[ "$(cat err)" = "gs-journal: $J: 1 damaged line skipped, line 2" ]
	run -1 gs-journal -j "$J" check
	[ "$output" = "$J:2: no checksum" ]
}

@test "8 KiB of zeros in the middle cost the lines under them" {
	local i at
	for i in {1..100}; do
		printf 'text=%s%0300d\n' "$i" 0
	done >words
	while read -r i; do
		gs-journal -j "$J" append note "$i"
	done <words
	at=$(($(head -n 40 "$J" | wc -c) + 10))
	dd if=/dev/zero of="$J" bs=1 count=8192 seek="$at" conv=notrunc \
	    status=none
	run -0 --separate-stderr gs-journal -j "$J" query -s 'length'
	[ "$output" -ge 75 ]
	[ "$output" -lt 100 ]
	[ "$stderr" = "gs-journal: $J: 1 damaged line skipped, line 41" ]
	run -1 gs-journal -j "$J" check
	[ "$output" = "$J:41: zero bytes" ]
}

@test "a line over 1 MiB is damage, and the next one is read" {
	note a
	head -c 3000000 /dev/zero | tr '\0' x >>"$J"
	echo >>"$J"
	note b
	run -0 notes
	[ "$output" = '["a","b"]' ]
	run -1 gs-journal -j "$J" check
	[ "$output" = "$J:2: longer than 1 MiB" ]
}

@test "an event nested deeper than jq reads is damage" {
	local open shut
	note a
	open=$(printf '[%.0s' {1..199}) shut=$(printf ']%.0s' {1..199})
	gs-journal -j "$J" append note text=b "x:=$open$shut"
	run -0 notes
	[ "$output" = '["a","b"]' ]
	run ! gs-journal -j "$J" append note text=c "x:=[$open$shut]"
	run -0 notes
	[ "$output" = '["a","b"]' ]
	run -0 gs-journal -j "$J" check
	[ -z "$output" ]
}

@test "lines without a checksum or with a wrong one are counted and skipped" {
	note a
	printf '{"v":1,"t":1,"event":"note","text":"forged"}\n' >>"$J"
	sed 's/"a"/"A"/' "$J" | head -n 1 >twice
	cat twice >>"$J"
	echo >>"$J"
	run -0 --separate-stderr gs-journal -j "$J" query -r .text
	[ "$output" = a ]
	[ "$stderr" = \
	    "gs-journal: $J: 3 damaged lines skipped, first at line 2" ]
	run -1 gs-journal -j "$J" check
	[ "${lines[0]}" = "$J:2: no checksum" ]
	[ "${lines[1]}" = "$J:3: wrong checksum or unknown version" ]
	[ "${lines[2]}" = "$J:4: no checksum" ]
}

@test "a line of a later version is skipped, an unknown event is passed on" {
	cp "$T/fixtures/journal/future.jsonl" "$J"
	run -0 --separate-stderr gs-journal -j "$J" query -c \
	    '[.event, .newer]'
	[ "$output" = '["eclipse",{"deep":[1,null]}]' ]
	[ "$stderr" = "gs-journal: $J: 1 damaged line skipped, line 1" ]
	run -0 --separate-stderr gs-journal -j "$J" state
	[ "${lines[1]}" = "$(tsv end 0)" ]
}

@test "odd types and doubled members do not upset the fold" {
	cp "$T/fixtures/journal/odd.jsonl" "$J"
	run -0 gs-journal -j "$J" check
	run -0 --separate-stderr gs-journal -j "$J" state
	[ -z "$stderr" ]
	[ "$(awk -F'\t' '$1 == "state" {print $3, $4, $5}' <<<"$output")" = \
	    "$(printf '%s\n' 'twice running 1' 'odd failed 1')" ]
}

@test "an append that does not fit leaves the file as it was" {
	local before
	note a
	head -c 900 /dev/zero | tr '\0' x >>"$J"
	echo >>"$J"
	before=$(cksum <"$J")
	# The limit counts 1024 bytes; a part of the line would fit.
	run -2 --separate-stderr bash -c "ulimit -f 1
	    exec gs-journal -j '$J' append note text=$(printf '%0200d' 0)"
	[ -z "$output" ]
	[ "$stderr" = \
	    "gs-journal: $J: nothing was appended: File too large" ]
	[ "$(cksum <"$J")" = "$before" ]
	note b
	run -0 notes
	[ "$output" = '["a","b"]' ]
}

@test "a full disk leaves the file as it was, and appending goes on later" {
	local before
	mkdir disk
	mount -t tmpfs -o size=64k none disk 2>/dev/null ||
	    skip "no tmpfs can be mounted here"
	J=$PWD/disk/j
	note a
	# Fill it up to the last byte: of a line, less than all fits.
	cat /dev/zero >disk/ballast 2>/dev/null || :
	before=$(cksum <"$J")
	run -2 --separate-stderr gs-journal -j "$J" append note \
	    text="$(printf '%09000d' 0)"
	[ "$(cksum <"$J")" = "$before" ]
	rm disk/ballast
	note b
	run -0 notes
	umount disk
	[ "$stderr" = \
	    "gs-journal: $J: nothing was appended: No space left on device" ]
	[ "$output" = '["a","b"]' ]
}

@test "the journal is private whatever the umask" {
	local mask
	for mask in 000 022 077 0777; do
		rm -f "$J"
		(umask "$mask" && note a)
		[ "$(stat -c %a "$J")" = 600 ]
	done
}

@test "a symbolic link, a folder and a FIFO are no journals" {
	ln -s elsewhere "$J"
	run -2 --separate-stderr note a
	[ "$stderr" = \
	    "gs-journal: $J: Too many levels of symbolic links" ]
	[ ! -e elsewhere ]
	rm "$J"
	mkdir "$J"
	run -2 --separate-stderr note a
	run -2 --separate-stderr gs-journal -j "$J" state
	rmdir "$J"
	mkfifo "$J"
	run -2 --separate-stderr timeout 10 gs-journal -j "$J" append note \
	    text=a
	run -2 --separate-stderr timeout 10 gs-journal -j "$J" state
	[ "$stderr" = "gs-journal: $J: Invalid argument" ]
}

@test "output that cannot be written is a failure" {
	local verb
	gs-journal -j "$J" append start id=a attempt=1 log=a.log
	echo text >a.log
	for verb in state "show a" "log a" "query ." --help --version; do
		# shellcheck disable=SC2086
		run -2 bash -c 'exec gs-journal -j "$0" "$@" >/dev/full' \
		    "$J" $verb
	done
	echo junk >>"$J"
	run -2 bash -c 'exec gs-journal -j "$0" check >/dev/full' "$J"
}

@test "commands that are not UTF-8 come back byte for byte" {
	local cmd=$'a\xff\\b\t\xc3\xa9\x1b-'
	gs-journal -j "$J" append queued id=a "cmd=$cmd"
	run -0 jq -n 'reduce inputs as $e (0; . + 1)' "$J"
	[ "$output" = 1 ]
	gs-journal -j "$J" state >out
	run -0 awk -F'\t' '$1 == "state" {printf "%s", $13}' out
	[ "$output" = $'a\xff\\\\b\\t\xc3\xa9\\033-' ]
}
