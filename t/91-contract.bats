#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What all programs have in common: their options, messages and statuses, and
# what they do when a standard stream is closed or full.

load lib

PROGS="gs-probe gs-simjob gs-place gs-launch gs-journal gs-loop"

setup() {
	gs_setup
}

# The options of --help, a line each.
help_options() {
	"$1" --help | grep -o '^ *\(-[A-Za-z], \)\?--[a-z-]*' |
		grep -o '[A-Za-z-]*-[A-Za-z-]*' | sort
}

manual() {
	case $1 in
	gs-simjob)
		echo "$ROOT/gs-probe/$1.1"
		;;
	*)
		echo "$ROOT/$1/$1.1"
		;;
	esac
}

# fl: the options in mdoc lines, as `Fl g , Fl -gpus Ar LIST`.
fl() {
	awk '{
		on = 0
		for (i = 1; i <= NF; i++)
			if ($i == "Fl")
				on = 1
			else if ($i ~ /^[A-Z][a-z]$/)
				on = 0
			else if (on && $i !~ /^[,|]$/ && $i != "-")
				print "-" $i
	}' | sort -u
}

# The options that a manual explains.
manual_options() {
	grep '^\.It Fl ' "$(manual "$1")" | fl
}

# Those of its SYNOPSIS; -crs are three.
synopsis_options() {
	sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESC/s/^\.//p' "$(manual "$1")" | fl |
		awk '/^--/ { print; next }
		{ for (i = 2; i <= length($0); i++) print "-" substr($0, i, 1) }' |
		sort -u
}

# each FUNCTION: call it for every program.  Not as part of a condition, where
# the shell would not end at the first command that fails.
each() {
	local p
	for p in $PROGS; do
		echo "-- $p"
		"$1" "$p"
	done
}

wrong_use() {
	[ "$1" = gs-launch ] && echo 125 || echo 2
}

helps() {
	run -0 --separate-stderr "$1" --help
	echo "$output"
	[ -z "$stderr" ]
	[[ $output == "usage: $1 "* ]]
	help_options "$1" >options
	[ "$(grep -c . options)" -gt 4 ]
	[ "$("$1" -h)" = "$output" ]
}

@test "--help prints usage and options, and is a success" {
	each helps
}

@test "--help names every option of the SYNOPSIS" {
	synopsis() {
		synopsis_options "$1" >there
		[ -s there ]
		help_options "$1" | comm -13 - there >missing
		cat missing
		[ ! -s missing ]
	}
	each synopsis
}

@test "the manual explains the options of --help and no others" {
	explained() {
		diff <(help_options "$1") <(manual_options "$1")
	}
	each explained
}

@test "every program has its manual" {
	has_manual() {
		[ -e "$(manual "$1")" ]
	}
	each has_manual
}

@test "lines of --help fit into 80 columns" {
	fits() {
		"$1" --help | awk 'length($0) > 79 { print; bad = 1 }
			END { exit bad }'
	}
	each fits
}

@test "--version names the program, the toolkit and the version" {
	versions() {
		run -0 --separate-stderr "$1" --version
		[ -z "$stderr" ]
		[[ $output =~ ^$1\ \(gs\)\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
		[ "$("$1" -V)" = "$output" ]
	}
	each versions
}

@test "an unknown option is wrong use and is named" {
	unknown() {
		run "-$(wrong_use "$1")" --separate-stderr "$1" --no-such-thing
		echo "$stderr"
		[ -z "$output" ]
		[[ $stderr == "$1: "*no-such-thing* ]]
		[[ $stderr == *"usage: $1 "* ]]
		run "-$(wrong_use "$1")" --separate-stderr "$1" -Z
		[ -z "$output" ]
		[[ $stderr == *Z* ]]
	}
	each unknown
}

@test "an option without its value is wrong use and is named" {
	valueless() {
		local opt
		opt=$("$1" --help | grep -o -e '--[a-z-]* [A-Z]' | head -n 1)
		opt=${opt% ?}
		run "-$(wrong_use "$1")" --separate-stderr "$1" "$opt"
		echo "$stderr"
		[ -z "$output" ]
		[[ $stderr == *"${opt#--}"* ]]
	}
	each valueless
}

@test "a number that is none is wrong use and is quoted" {
	number() {
		run "-$(wrong_use "$1")" --separate-stderr "$@"
		echo "$stderr"
		[ -z "$output" ]
		[[ $stderr == *"$2"*"'${3}'"* ]]
	}
	number gs-probe --interval 1x
	number gs-simjob --vram x8
	number gs-place --margin 1e3 </dev/null
	number gs-launch --attempt 0x1 -- true
	number gs-journal --lines '' log 1
	number gs-loop --slots ' 1' jobs.txt
}

@test "a full disk is not a success" {
	full() {
		local word
		for word in --help --version; do
			run ! --separate-stderr sh -c \
			    "exec $1 $word >/dev/full"
			[ "$status" -eq "$(wrong_use "$1")" ]
			[[ $stderr == "$1: "* ]]
		done
	}
	each full
}

@test "records that cannot be written are not a success" {
	gs-probe --sim 1 >frame
	gs-journal -j j.jsonl append note text=x
	run -2 sh -c 'gs-probe --sim 1 >/dev/full'
	run -2 sh -c 'gs-place --job "[]" <frame >/dev/full'
	run -2 sh -c 'gs-journal -j j.jsonl state >/dev/full'
	run -125 sh -c 'gs-launch -- true >/dev/full'
}

# Of two frames that may be some seconds apart.
same_frame() {
	diff <(sed 's/time=[0-9]*/time=T/' "$1") <(sed 's/time=[0-9]*/time=T/' "$2")
}

@test "closed standard streams do no harm" {
	gs-probe --sim 1 >frame
	closed() {
		"$1" --version >out
		"$1" --version <&- >again
		cmp out again
		"$1" --version >&-
		"$1" --version <&- >&- 2>&-
		run "-$(wrong_use "$1")" sh -c "exec $1 -Z 2>&-"
		[ -z "$output" ]
	}
	each closed
	gs-probe --sim 1 <&- 2>&- >again
	same_frame frame again
}

@test "no file takes the place of a closed standard stream" {
	gs-probe --sim 1 >frame
	cp frame copy
	gs-place --job '[]' <frame >&-
	cmp frame copy
	gs-journal -j j.jsonl append note text=x <&- >&- 2>&-
	gs-journal -j j.jsonl check
	[ "$(wc -l <j.jsonl)" -eq 1 ]
	gs-launch --wait --log log --journal k.jsonl --id a --shell 'echo hi' \
	    <&- >&- 2>&-
	[ "$(cat log)" = hi ]
	gs-journal -j k.jsonl check
	run -2 sh -c 'gs-place --job "[]" <&-'
}

@test "the locale changes nothing" {
	local l
	printf 'gs\t1\tme\ttime=9\ngpu\t0\tA\303\204\t24576\t5\t-\tyes\nend\t1\n' \
	    >gpus
	for l in C C.UTF-8; do
		export LC_ALL=$l
		gs-probe --backend file:gpus >probe
		sed "s/time=[0-9]*//" probe >probe.$l
		gs-place --job '[vram=1.5G]' <gpus >place.$l
		gs-journal -j j.$l append queued no=1 id=a \
		    cmd=$'echo \303\244 \302\200\t1' </dev/null
		gs-journal -j j.$l state >state.$l
		gs-journal -j j.$l show a | sed 's/[0-9:-]*[0-9]//g' >show.$l
		gs-place --job 'x' <gpus >&- 2>error.$l || true
	done
	cmp probe.C probe.C.UTF-8
	cmp place.C place.C.UTF-8
	cmp error.C error.C.UTF-8
	cmp show.C show.C.UTF-8
	diff <(cut -f1-9,12 state.C | sed 's/time=.*//') \
	    <(cut -f1-9,12 state.C.UTF-8 | sed 's/time=.*//')
}

# The options that bash is offered.
bash_options() {
	bash -c '. "$0"
		COMP_WORDS=("$1" -) COMP_CWORD=1
		_gs "$1" - "$1"
		printf "%s\n" "${COMPREPLY[@]}"' \
	    "$ROOT/lib/completion/gs.bash" "$1" | sort
}

# Those between `PROGRAM)` and `;;` of the file for zsh, with the common ones.
zsh_options() {
	sed -n -e '/^both=(/,/^)/p' -e "/^$1)/,/;;/p" \
	    "$ROOT/lib/completion/_gs" | sed "s/'\\*--/'--/" | sed 's/\[.*//' |
		grep -o "['{,]-[-a-z]*[a-zA-Z]" | cut -c2- | sort
}

@test "bash completes the options of --help and no others" {
	bash_completes() {
		diff <(help_options "$1") <(bash_options "$1")
	}
	each bash_completes
}

@test "zsh completes the options of --help and no others" {
	zsh_completes() {
		diff <(help_options "$1") <(zsh_options "$1")
	}
	each zsh_completes
}

@test "bash completes the verbs of gs-journal and folders" {
	local complete=". '$ROOT/lib/completion/gs.bash'; _gs gs-journal"
	[ "$(bash -c "$complete w gs-journal; echo \${COMPREPLY[*]}")" = wait ]
	mkdir dir
	touch dirfile
	[ "$(bash -c "$complete d --log-dir; echo \${COMPREPLY[*]}")" = dir ]
}
