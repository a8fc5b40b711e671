#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Building, installing and packing.

load lib

setup() {
	gs_setup
	unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL
	B=$(dirname "$BIN")
	[ -e "$B/libgs.a" ] || skip "$BIN was not built by our Makefile"
	B=${B#"$ROOT"/}	# as it is in the lists of what includes what
	DEST=$BATS_TEST_TMPDIR/dest
}

gs_make() {
	make --no-print-directory -C "$ROOT" B="$B" "$@"
}

# install_into DIR: what is under test, and nothing that was built meanwhile.
install_into() {
	gs_make -q all || skip "the sources are newer than what is under test"
	gs_make install DESTDIR="$1"
}

# What is below the destination.
installed() {
	(cd "$DEST" && find . -type f -printf '%m %P\n' | sort -k 2)
}

@test "install puts each file in its place with its mode" {
	install_into "$DEST"
	cat >expected <<-E
		755 usr/local/bin/gs-journal
		755 usr/local/bin/gs-launch
		755 usr/local/bin/gs-loop
		755 usr/local/bin/gs-place
		755 usr/local/bin/gs-probe
		755 usr/local/bin/gs-simjob
		644 usr/local/share/bash-completion/completions/gs-journal
		644 usr/local/share/bash-completion/completions/gs-launch
		644 usr/local/share/bash-completion/completions/gs-loop
		644 usr/local/share/bash-completion/completions/gs-place
		644 usr/local/share/bash-completion/completions/gs-probe
		644 usr/local/share/bash-completion/completions/gs-simjob
		644 usr/local/share/gs/gs.jq
		644 usr/local/share/man/man1/gs-journal.1
		644 usr/local/share/man/man1/gs-launch.1
		644 usr/local/share/man/man1/gs-loop.1
		644 usr/local/share/man/man1/gs-place.1
		644 usr/local/share/man/man1/gs-probe.1
		644 usr/local/share/man/man1/gs-simjob.1
		644 usr/local/share/man/man5/gs-jobs.5
		644 usr/local/share/man/man5/gs-journal.5
		644 usr/local/share/man/man5/gs-records.5
		644 usr/local/share/man/man7/gs.7
		644 usr/local/share/zsh/site-functions/_gs
	E
	diff expected <(installed)
}

@test "install says each manual that there is" {
	install_into "$DEST"
	diff <(cd "$ROOT" && printf '%s\n' */*.[157] | sed 's,.*/,,' | sort) \
	    <(installed | sed -n 's,.*/man[157]/,,p' | sort)
}

@test "uninstall takes away what install brought, and nothing else" {
	install_into "$DEST"
	touch "$DEST/usr/local/bin/other"
	gs_make uninstall DESTDIR="$DEST"
	[ "$(installed | cut -d' ' -f2)" = usr/local/bin/other ]
	[ ! -e "$DEST/usr/local/share/gs" ]
}

@test "a folder with blanks is installed into" {
	install_into "$DEST/a b"
	[ -x "$DEST/a b/usr/local/bin/gs-loop" ]
	gs_make uninstall DESTDIR="$DEST/a b" >/dev/null
	[ ! -e "$DEST/a b/usr/local/bin/gs-loop" ]
}

@test "PREFIX moves all of it" {
	gs_make -n install PREFIX=/opt/gs DESTDIR=/x >out
	grep -q "'/x/opt/gs/bin'" out
	grep -q "'/x/opt/gs/share/man/man5'" out
	run ! grep -q /usr/local/share/man out
	grep -q 'GS_DATADIR=.*/opt/gs/share/gs' out
}

@test "installed programs find one another" {
	install_into "$DEST"
	echo 'echo hello' >jobs.txt
	PATH=/usr/bin:/bin timeout 30 "$DEST/usr/local/bin/gs-loop" jobs.txt \
	    --sim 1 --poll 1
	grep -qx hello gs_logs/job-1.log
	GS_JQ_LIB=$DEST/usr/local/share/gs "$DEST/usr/local/bin/gs-journal" \
	    query -s 'attempts | .[]' >attempts
	[ "$(cat attempts)" = 1 ]
}

@test "a second make does nothing" {
	run -0 gs_make -q all testbin
}

@test "a header's change rebuilds its users only" {
	gs_make -n -W lib/crc32c.h all >out
	grep -q -- '-c .*lib/crc32c\.c' out
	grep -q -- '-c .*lib/journal\.c' out
	run ! grep -q -- '-c .*gs-place/why\.c' out
}

@test "another version rebuilds what prints it" {
	gs_make -n VERSION=9.9.9 all >out
	grep -q -- '-c .*lib/gs\.c' out
	run ! grep -q -- '-c .*gs-place/why\.c' out
}

@test "the user's flags are used and do not replace ours" {
	gs_make -n B="$PWD/b" CFLAGS=-Ofoo CPPFLAGS=-DBAR LDFLAGS=-Lbaz all >out
	grep -q -- '-Wall .* -DBAR -Ofoo .*-c .*lib/gs\.c' out
	grep -q -- '-Ofoo -Lbaz -o .*gs-place' out
}

@test "without the libraries make says what to do" {
	mkdir bin
	printf '#!/bin/sh\nexit 1\n' >bin/pkg-config
	chmod +x bin/pkg-config
	export PATH=$PWD/bin:$PATH
	run -2 --separate-stderr gs_make B="$PWD/b" all
	# shellcheck disable=SC2154
	echo "$stderr"
	# shellcheck disable=SC2016
	[[ $stderr == *libbsd*'`make deps'* ]]
	run -0 gs_make B="$PWD/b" clean
}

@test "dist packs what is committed" {
	git -C "$ROOT" rev-parse HEAD >/dev/null || skip "this is no clone"
	gs_make dist B="$PWD/b"
	[ "$(find b -name 'gs-[0-9]*.tar.gz' | wc -l)" -eq 1 ]
	tar -tzf b/gs-*.tar.gz >list
	grep -q '^gs-[0-9.]*/Makefile$' list
	grep -q '^gs-[0-9.]*/lib/completion/_gs$' list
}
