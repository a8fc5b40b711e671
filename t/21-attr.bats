#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Units, attribute blocks and the jobs file.
# shellcheck disable=SC2030,SC2031,SC2154

load lib

setup() {
	gs_setup
	PATH=$BIN/../t:$PATH
}

# unit KIND RESULTS WORD...
unit() {
	run -0 unitdump "$1" "${@:3}"
	echo "$output"
	[ "$(paste -sd ' ' <<<"$output")" = "$2" ]
}

@test "24G, 24gb and 24GiB are the same 24576 MiB" {
	unit mib '24576 24576 24576 24576 24576 24576 24576' \
	    24G 24g 24GB 24GiB 24576 24576M 24576mib
	unit mib '25088 512 0 1332 1' 24.5G 0.5G 0 1.3G 0.0001G
	unit mib '4294967296 too large too large' \
	    4194304G 4194305G 12345678901234567890
}

@test "what is no amount of memory is refused" {
	local word
	for word in '24 G' 1e3 -1G +1G ' 1G' '1G ' '' . .5G 5.G 1.5 1.5M 1T \
	    1KB 0x10 G 1,5G 1..5G; do
		unit mib invalid "$word"
	done
}

@test "durations have seconds, minutes, hours and days" {
	unit ms '90000 90000 900000 7200000 86400000 500 5400000 1' \
	    90 90s 15m 2h 1d 0.5 1.5h 0.0001
	unit ms 'invalid invalid invalid invalid invalid' 5x 5ms 5S '' -1
	unit ms 'too large' 36501d
}

@test "a fraction is a number or percent, at most 10" {
	unit ppm '100000 100000 1000000 0 10000000 too large' \
	    0.10 10% 1 0 10 10.1
	unit ppm 'invalid invalid' x 1%%
	unit ppm 'too many decimals' 0.1234567890
}

@test "ages are short" {
	unit age '0s 59s 1m 1h02m 3d04h' 0 59 119 3723 273600
}

# same BLOCK [CANONICAL]: it is read, and written again like this.
same() {
	run -0 attrdump <<<"$1"
	echo "$1 -> $output"
	[ "$output" = "${2:-$1}" ]
}

# blame BLOCK WORD MESSAGE
blame() {
	run -0 attrdump <<<"$1"
	echo "$1 -> $output"
	[ "$output" = "error '$2': $3" ]
}

@test "every attribute is read and written" {
	same '[]'
	same '[  	]' '[]'
	same '[vram=18G gpus=2 timeout=2h eta=40m retries=2]'
	same '[vram=18000]'
	same '[vram=1.5G]' '[vram=1536]'
	same '[cpu]'
	same '[gpus=0]' '[cpu]'
	same '[cpu gpus=0]' '[cpu]'
	same '[gpus=1]' '[]'
	same '[vram=2G light]'
	same '[exclusive]'
	same '[cpu exclusive]'
	same '[after=1,prep,0123456789ab.2 name=x tag=#1]'
	same '[restartable resumable linger hold cancel]'
	same '[cancel	hold]' '[hold cancel]'
	same '[timeout=90s eta=1.5]' '[timeout=90s eta=1.500s]'
	same '[retries=0]'
	same '[tag=µ]'
}

@test "a value with blanks or brackets is quoted" {
	same '[on="RTX 3090" cwd="/a]b c" env="\"x\\"]'
	same '[cwd="/a"]' '[cwd=/a]'
	same '[cwd=/a=b]'
	same '[cwd="a\b"]' '[cwd="a\\b"]'
	blame '[cwd=""]' 'cwd=""' 'value missing'
	blame '[cwd="a"b]' 'cwd="a"b' 'quotes must enclose the whole value'
	blame '[cwd=a"b"]' 'cwd=a"b"' 'quotes must enclose the whole value'
	blame '[cwd="a]' '[cwd="a]' 'a quote is not closed'
	blame '[cwd="a\"]' '[cwd="a\"]' 'a quote is not closed'
}

@test "each error names the word" {
	blame '[vramm=8G]' vramm=8G 'unknown attribute'
	blame '[VRAM=8G]' VRAM=8G 'unknown attribute'
	blame '[vram=24 G]' G 'unknown attribute'
	blame '[vram=1e3]' vram=1e3 invalid
	blame '[vram=-1G]' vram=-1G invalid
	blame '[vram=0]' vram=0 'too small'
	blame '[vram=12345678901234567890]' vram=12345678901234567890 \
	    'too large'
	blame '[vram=8G vram=8G]' vram=8G 'given twice'
	blame '[hold hold]' hold 'given twice'
	blame '[hold=1]' hold=1 'takes no value'
	blame '[hold=]' hold= 'takes no value'
	blame '[vram]' vram 'value missing'
	blame '[vram=]' vram= 'value missing'
	blame '[gpus=65]' gpus=65 'too large'
	blame '[gpus=-1]' gpus=-1 invalid
	blame '[timeout=0]' timeout=0 'too small'
	blame '[after=1,,2]' after=1,,2 invalid
	blame '[tag="a b"]' 'tag="a b"' invalid
	blame '[tag=a,b]' tag=a,b invalid
	blame '[=x]' =x 'unknown attribute'
	blame '[vram=8G,gpus=2]' vram=8G,gpus=2 invalid
}

@test "presets that contradict each other are refused" {
	blame '[cpu gpus=2]' cpu 'contradicts gpus'
	blame '[cpu vram=8G]' vram 'contradicts cpu or gpus=0'
	blame '[gpus=0 vram=8G]' vram 'contradicts cpu or gpus=0'
	blame '[cpu on=0]' on 'contradicts cpu or gpus=0'
	blame '[light cpu]' light 'contradicts cpu or gpus=0'
	blame '[light gpus=2]' light 'contradicts gpus'
	blame '[exclusive light]' exclusive 'contradicts light'
	blame '[exclusive gpus=2]' exclusive \
	    'contradicts gpus (it takes every GPU)'
}

@test "a name is no number, no id and not too long" {
	local long
	long=$(printf 'x%.0s' {1..255})
	same "[name=$long]"
	run -0 attrdump <<<"[name=x$long]"
	[[ $output == "error 'name=xxx"*"': too long" ]]
	blame '[name=12]' name=12 \
	    'a name of digits only would be a job number'
	blame '[name=0123456789ab]' name=0123456789ab \
	    'a name like an id of a command'
	blame '[name=0123456789ab.2]' name=0123456789ab.2 \
	    'a name like an id of a command'
	same '[name=0123456789abc]'
	same '[name=0123456789AB]'
	printf '[name=a\001]\n' >in
	run -0 attrdump <in
	[ "$output" = "error 'name=a\\001': invalid" ]
	printf '[name=\377]\n' >in
	run -0 attrdump <in
	[ "$output" = "error 'name=\\377': invalid" ]
}

@test "a shell test is told from a block, and how to write it" {
	local hint="(a command that begins with '[' needs '[]' before it)"
	blame '[ -f x ] && y' -f "unknown attribute $hint"
	blame '[[ -f x ]] && y' '[' "unknown attribute $hint"
	blame '[ -f x && y' '[' "'[' is not closed $hint"
	blame '[vram=8G python x' '[vram=8G' "'[' is not closed"
}

@test "a block has at most 8 KiB" {
	local fill
	fill=$(printf '%*s' 8190 '')
	same "[$fill]" '[]'
	run -0 attrdump <<<"[$fill ]"
	[[ $output == "error '['"*'block over 8 KiB'* ]]
	fill=$(printf '1,%.0s' {1..5000})
	run -0 attrdump <<<"[after=$fill]"
	[[ $output == "error '[after=1,1,"*"': block over 8 KiB" ]]
	run -0 attrdump <<<"[cwd=\"$(printf '%*s' 9000 '')\"]"
	[[ $output == *'block over 8 KiB' ]]
}

@test "blocks of random bytes are never misread" {
	run -0 attrfuzz 20000
}

# jobs TEXT EXPECTED: printf TEXT is a jobs file with these jobs.
jobs_are() {
	# shellcheck disable=SC2059
	printf "$1" >in
	run -0 jobsdump <in
	echo "$output"
	[ "$output" = "$2" ]
}

# refused TEXT MESSAGE
refused() {
	# shellcheck disable=SC2059
	printf "$1" >in
	run -1 jobsdump <in
	echo "$output"
	[ "$output" = "jobsdump: jobs.txt:$2" ]
}

@test "a job is known by the hash of its command" {
	id=$(printf 'echo a' | sha256sum | cut -c1-12)
	jobs_are 'echo a\n' "1|$id|[]|echo a"
	jobs_are '\n  # no\n[vram=8G]  echo a \t\n' "3|$id|[vram=8G]|echo a"
	jobs_are 'echo a\n[hold]echo a\n echo a\n' "1|$id|[]|echo a
2|$id.2|[hold]|echo a
3|$id.3|[]|echo a"
	jobs_are '[name=n] echo a\necho a\n' "1|n|[name=n]|echo a
2|$id|[]|echo a"
}

@test "line ends of other systems and a byte order mark are accepted" {
	id=$(printf 'echo a' | sha256sum | cut -c1-12)
	jobs_are '\357\273\277echo a\r\necho a' "1|$id|[]|echo a
2|$id.2|[]|echo a"
	jobs_are '' ''
	jobs_are '\n\n# x\n' ''
}

@test "a # inside a command belongs to it" {
	id=$(printf "echo '#x' #y" | sha256sum | cut -c1-12)
	jobs_are "echo '#x' #y\n" "1|$id|[]|echo '#x' #y"
}

@test "the command after an empty block may begin with a bracket" {
	id=$(printf '[ -f x ]' | sha256sum | cut -c1-12)
	jobs_are '[] [ -f x ]\n' "1|$id|[]|[ -f x ]"
}

@test "an error names file, line and word" {
	refused 'a\n[vramm=8G] b\n' "2: 'vramm=8G': unknown attribute"
	refused '[vram=8G python x\n' "1: '[vram=8G': '[' is not closed"
	refused '[vram=8G]\n' '1: no command behind the block'
	refused 'a\n\n[name=x] b\n[name=x] c\n' \
	    "4: 'x': name already used in line 3"
	refused 'a\nb\000c\n' '2: a NUL byte'
}

@test "a line has at most 128 KiB" {
	head -c 131072 /dev/zero | tr '\0' x >in
	run -0 jobsdump <in
	echo x >>in
	run -1 jobsdump <in
	[ "$output" = 'jobsdump: jobs.txt:1: line over 128 KiB' ]
}

@test "100,000 lines are read in no noticeable time" {
	awk 'BEGIN {
		for (i = 0; i < 100000; i++)
			print "[vram=" i % 50 + 1 "G] run --seed " i % 30000
	}' >in
	run -0 bash -c 'ulimit -t 2; jobsdump <in >out'
	[ "$(wc -l <out)" -eq 100000 ]
	[ "$(cut -d '|' -f 2 out | sort -u | wc -l)" -eq 100000 ]
}
