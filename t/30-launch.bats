#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# gs-launch: what a job is given, and what its caller is told.
# Words in single quotes are for the job's shell, not for this one.
# shellcheck disable=SC2016,SC2154

load lib

setup() {
	gs_setup
	printf '#!/bin/sh\nfor a; do printf "%%s\\0" "$a"; done\n' >argv
	chmod +x argv
}

# field TAG N: of that record in what was printed.
field() {
	awk -F'\t' -v tag="$1" -v n="$2" '$1 == tag { print $n }' <<<"$output"
}

# The environment of a job, from a caller with nothing but PATH and A.
job_env() {
	rm -f env
	env -i PATH="$PATH" A=1 "$BIN/gs-launch" --wait --log env "$@" \
	    -- env >/dev/null
	grep -v '^\(PWD\|SHLVL\|_\)=' env | sort
}

# Ended, whether or not its parent (a slow init, say) has reaped it.
dead() {
	[ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"
}

# ends STATUS PID: a child of this shell, with that status.
ends() {
	local status=0
	wait "$2" || status=$?
	echo "status $status"
	[ "$status" -eq "$1" ]
}

@test "--help lists every option on stdout and succeeds" {
	run -0 --separate-stderr gs-launch --help
	[ "$stderr" = "" ]
	[[ "${lines[0]}" = "usage: gs-launch "* ]]
	for o in id attempt no gpus uuids vram log journal seen timeout grace \
	    linger cwd env shell wait help version; do
		[[ "$output" = *"--$o "* ]]
	done
}

@test "--version names the program" {
	run -0 --separate-stderr gs-launch --version
	[[ "$output" = "gs-launch (gs) "[0-9]* ]]
}

@test "wrong use is 125, one line and a usage line on stderr, no stdout" {
	local wrong=("--nosuch" "--id= -- true" "--attempt 0 -- true"
	    "--timeout 0 -- true" "--timeout soon -- true" "--grace -1 -- true"
	    "--vram 1e3 -- true" "--gpus 0,,1 -- true" "--seen 0 -- true"
	    "--journal j -- true" "--gpus 0,1 --uuids a -- true"
	    "--shell true -- true" "--no x -- true" "--wait" "")
	local b
	for b in "${wrong[@]}"; do
		# shellcheck disable=SC2086
		run -125 --separate-stderr gs-launch $b
		[ "$output" = "" ]
		[ "${#stderr_lines[@]}" -eq 2 ]
		[[ "${stderr_lines[0]}" = "gs-launch: "* ]]
		[[ "${stderr_lines[1]}" = "usage: gs-launch "* ]]
	done
	[ ! -e j ]
}

@test "the message of a bad value quotes option and word" {
	run -125 --separate-stderr gs-launch --vram 18X -- true
	[ "${stderr_lines[0]}" = "gs-launch: --vram '18X': invalid" ]
}

@test "a start is one frame that names the job, its processes and its log" {
	mkfifo hold
	run -0 --separate-stderr gs-launch --id a --attempt 2 --gpus 0,1 \
	    --log l --shell 'read x <hold'
	[ "$stderr" = "" ]
	[ "${#lines[@]}" -eq 3 ]
	[[ "${lines[0]}" = "$(tsv gs 1 gs-launch)"$'\t'time=* ]]
	pid=$(field start 4)
	start=$(sed 's/.*) //' "/proc/$pid/stat" | cut -d' ' -f20)
	boot=$(cat /proc/sys/kernel/random/boot_id)
	sup=$(field start 5)
	[ "${lines[1]}" = \
	    "$(tsv start a 2 "$pid" "$sup" "$start" "$boot" 0,1 l)" ]
	[ "${lines[2]}" = "$(tsv end 1)" ]
	[ "$(cat "/proc/$sup/comm")" = gs-launch ]
	grep -qz '^--id$' "/proc/$sup/cmdline"
	echo >hold
	wait_for 10 dead "$sup"
}

@test "without --id, GPUs or a log their fields are unknown" {
	run -0 --separate-stderr gs-launch --wait --gpus '' -- true
	[ "$(field start 2)" = - ]
	[ "$(field start 8)" = - ]
	[ "$(field start 9)" = - ]
	[ "$(field exit 2)" = - ]
}

@test "--wait adds an exit frame and ends with the job's status" {
	run -3 --separate-stderr gs-launch --id a --wait --shell 'exit 3'
	[ "${#lines[@]}" -eq 6 ]
	[[ "${lines[4]}" = "$(tsv exit a 1 exit 3 0 user=0 sys=0 maxrss=)"* ]]
	[ "${lines[5]}" = "$(tsv end 1)" ]
	[ "$stderr" = "" ]
}

@test "the status of a job that a signal killed is 128 and its number" {
	run -137 --separate-stderr gs-launch --wait --shell 'kill -KILL $$'
	[ "$(field exit 4)" = signal ]
	[ "$(field exit 5)" = 137 ]
	run -143 --separate-stderr gs-launch --wait --shell 'kill -TERM $$'
	[ "$(field exit 4)" = signal ]
}

@test "a command that is not there is 127, one that is no program 126" {
	run -127 --separate-stderr gs-launch --id a -- ./nosuch
	[ "$stderr" = "gs-launch: ./nosuch: No such file or directory" ]
	[ "$(field start 1)" = "" ]
	[ "$(field exit 4)" = exec ]
	[ "$(field exit 5)" = 127 ]
	run -126 --separate-stderr gs-launch --wait -- /
	[ "$stderr" = "gs-launch: /: Permission denied" ]
	[ "$(field exit 5)" = 126 ]
}

@test "a command line that is too long is an error of that job" {
	head -c 100000 /dev/zero | tr '\0' x >ok
	run -0 --separate-stderr gs-launch --wait --shell ": $(cat ok)"
	{ printf 'X='; cat ok ok; } >big
	run -126 --separate-stderr gs-launch --env big -- /bin/true
	[ "$stderr" = "gs-launch: /bin/true: Argument list too long" ]
}

@test "a frame that cannot be written is a failure" {
	run -125 --separate-stderr sh -c 'gs-launch -- true >/dev/full'
	[ "$stderr" = "gs-launch: stdout: No space left on device" ]
	run -125 sh -c 'gs-launch --help >/dev/full'
}

@test "words reach the command as they are" {
	gs-launch --wait --log out -- \
	    ./argv 'a b' "c'd" '$HOME' '\n' '' '&' '#x' '[y]' -x -- >/dev/null
	./argv 'a b' "c'd" '$HOME' '\n' '' '&' '#x' '[y]' -x -- >want
	cmp out want
}

@test "a --shell line means what it means to sh -c" {
	line=$(cat <<-'END'
	./argv 'a b' "c'd" $HOME \\ '&' '#x' '[y]' $(echo z) "$((1 + 1))" # no
	END
	)
	gs-launch --wait --log out --shell "$line" >/dev/null
	sh -c "$line" >want
	cmp out want
}

@test "the command in the journal is a line that a shell splits again" {
	gs-launch --id a --journal j --wait -- ./argv 'a b' "c'd" plain '' \
	    >/dev/null
	[ "$(jq -r 'select(.event == "start").cmd' j)" = \
	    "./argv 'a b' 'c'\\''d' plain ''" ]
}

@test "the folder's name may hold anything" {
	dir="a b'c\$(touch pwn)"
	mkdir "$dir"
	gs-launch --wait --cwd "$dir" --log "$dir/l" -- pwd -P >/dev/null
	[ "$(cat "$dir/l")" = "$(cd "$dir" && pwd -P)" ]
	[ ! -e pwn ] && [ ! -e "$dir/pwn" ]
}

@test "a missing folder, log or environment file is refused, nothing runs" {
	local -A bad=([cwd]="--cwd no" [log]="--log no/l" [env]="--env no")
	for reason in "${!bad[@]}"; do
		# shellcheck disable=SC2086
		run -125 --separate-stderr gs-launch --id a --journal j \
		    ${bad[$reason]} --shell ": >$PWD/ran"
		[ "$(field refused 4)" = "$reason" ]
		[[ "$(field refused 5)" = "text=no"*": No such file or dir"* ]]
		[[ "$stderr" = "gs-launch: a: refused: no"* ]]
		[ "${#stderr_lines[@]}" -eq 1 ]
	done
	[ ! -s j ]
	[ ! -e ran ]
}

@test "a log that is a symbolic link is refused" {
	ln -s real l
	run -125 --separate-stderr gs-launch --log l -- true
	[ "$(field refused 4)" = log ]
	[ ! -e real ]
}

@test "the log is appended to and private whatever the umask" {
	umask 0
	gs-launch --wait --log l -- echo one >/dev/null
	gs-launch --wait --log l --shell 'echo two >&2' >/dev/null
	[ "$(cat l)" = $'one\ntwo' ]
	[ "$(stat -c %a l)" = 600 ]
}

@test "the job has the caller's umask" {
	umask 027
	gs-launch --wait --log l --shell umask >/dev/null
	[ "$(cat l)" = 0027 ]
}

@test "without a log the output goes to stderr with --wait, else nowhere" {
	run -0 --separate-stderr gs-launch --wait --shell 'echo a; echo b >&2'
	[ "$stderr" = $'a\nb' ]
	[ "${#lines[@]}" -eq 6 ]
	mkfifo over
	run -0 --separate-stderr gs-launch --shell 'echo a; echo b >&2; echo >over'
	read -r <over
	[ "$stderr" = "" ]
	[ "${#lines[@]}" -eq 3 ]
}

@test "what the job writes is in the log at once" {
	mkfifo hold
	gs-launch --log l --shell 'printf x; read y <hold' >out
	wait_for 10 test -s l
	echo >hold
}

@test "a job has three descriptors and reads an empty stdin" {
	exec 7</dev/null 9>&1
	gs-launch --wait --log l --shell 'ls -l /proc/self/fd; read x
	    echo "<$x>"' 7<argv 8>&1 >/dev/null
	# The fourth is that of ls, which reads the folder.
	[ "$(grep -c -- '->' l)" -eq 4 ]
	grep -q ' 0 -> /dev/null$' l
	grep -q " 1 -> $PWD/l\$" l
	grep -q " 2 -> $PWD/l\$" l
	grep -q ' 3 -> /proc/.*/fd$' l
	grep -qx '<>' l
}

@test "the supervisor holds none of the caller's descriptors" {
	mkfifo hold
	out=$(timeout 10 gs-launch --shell 'read x <hold' 8>&1 9<argv)
	sup=$(awk -F'\t' '$1 == "start" { print $5 }' <<<"$out")
	for fd in "/proc/$sup/fd/"*; do
		case $(readlink "$fd") in
		/dev/null | anon_inode:*) ;;
		*) false ;;
		esac
	done
	echo >hold
	wait_for 10 dead "$sup"
}

@test "a job that reads the terminal sees its end at once" {
	command -v script >/dev/null || skip "no script(1)"
	timeout 20 script -qec \
	    "gs-launch --wait --log l --shell 'read x; echo \"<\$x>\"
	    read y </dev/tty || echo none'" /dev/null </dev/null >/dev/null
	[ "$(sed -n '1p;$p' l)" = $'<>\nnone' ]
}

@test "signals have their default dispositions and none is blocked" {
	env --ignore-signal=INT,TERM,PIPE,CHLD,HUP,USR1 \
	    --block-signal=INT,TERM,USR2,CHLD,CONT gs-launch --wait --log l \
	    -- grep -E '^Sig(Blk|Ign)' /proc/self/status >/dev/null
	# 32 and 33 are the C library's: its posix_spawn, hence make, has them
	# ignored, and nobody can set them.
	[ "$(awk '{ print $2 }' l | sed 's/^0000000180/0000000000/' |
		sort -u)" = 0000000000000000 ]
}

@test "a parent that ignores and blocks signals does not break a stop" {
	env --ignore-signal=INT,TERM,PIPE,CHLD --block-signal=TERM,CHLD \
	    gs-launch --wait -- sleep 60 >out &
	wait_for 10 grep -q ^end out
	kill -TERM "$(awk -F'\t' '$1 == "start" { print $5 }' out)"
	ends 143 $!
	grep -q $'^exit\t-\t1\tstopped\t143\t' out
}

@test "a job that stops its supervisor at once does not keep the answer" {
	for _ in $(seq 12); do
		timeout 10 gs-launch -- sh -c 'kill -STOP $PPID' >out
		sup=$(awk -F'\t' '$1 == "start" { print $5 }' out)
		[ -n "$sup" ]
		kill -CONT "$sup" 2>/dev/null || true
		wait_for 10 dead "$sup"
	done
}

@test "the job is a session and a group of its own" {
	gs-launch --wait --log l --shell \
	    'cut -d" " -f1,5,6 "/proc/$$/stat"' >out
	pid=$(awk -F'\t' '$1 == "start" { print $4 }' out)
	[ "$(cat l)" = "$pid $pid $pid" ]
}

@test "the environment is the caller's, what is documented, and no more" {
	[ "$(job_env)" = "A=1
CUDA_DEVICE_ORDER=PCI_BUS_ID
GS_ATTEMPT=1
PATH=$PATH" ]
	mkdir logs
	[ "$(job_env --id x --no 7 --attempt 3 --gpus 1,2 --vram 18G \
	    --journal logs/j)" = "A=1
CUDA_DEVICE_ORDER=PCI_BUS_ID
CUDA_VISIBLE_DEVICES=1,2
GS_ATTEMPT=3
GS_GPUS=1,2
GS_JOB=x
GS_LOG_DIR=$(pwd -P)/logs
GS_NO=7
GS_VRAM_MIB=18432
PATH=$PATH" ]
}

@test "what an outer gs-launch set does not reach the job" {
	export GS_JOB=old GS_NO=1 GS_GPUS=5 GS_VRAM_MIB=9 GS_LOG_DIR=/old
	gs-launch --wait --log l -- env >/dev/null
	run ! grep '^GS_\(JOB\|NO\|GPUS\|VRAM_MIB\|LOG_DIR\)=' l
}

@test "an empty GPU list hides them, none leaves the variable alone" {
	export CUDA_VISIBLE_DEVICES=4 CUDA_DEVICE_ORDER=FASTEST_FIRST
	gs-launch --wait --log l --shell \
	    'echo "${CUDA_VISIBLE_DEVICES-unset}$CUDA_DEVICE_ORDER"' >/dev/null
	gs-launch --wait --log l --gpus '' --shell \
	    'echo "<${CUDA_VISIBLE_DEVICES-unset}>"' >/dev/null
	[ "$(cat l)" = $'4FASTEST_FIRST\n<>' ]
}

@test "--mask shows the GPUs by another variable, and alone" {
	HIP_VISIBLE_DEVICES=3 CUDA_VISIBLE_DEVICES=4 run -0 gs-launch --wait \
	    --log l --gpus 1 --mask ROCR_VISIBLE_DEVICES=0 -- env
	[ "$(grep -E '^(HIP|CUDA_VIS|ROCR|GS_GPUS)' l | sort | paste -sd' ')" = \
	    'GS_GPUS=1 ROCR_VISIBLE_DEVICES=0' ]
	run -125 --separate-stderr gs-launch --mask =0 -- true
	[ "${stderr_lines[0]}" = "gs-launch: --mask '=0': not NAME=LIST" ]
}

@test "--env replaces the environment, by lines or by NUL" {
	printf 'PATH=%s\n\nB=x y=z\nGS_JOB=no\n' "$PATH" >lines
	printf 'PATH=%s\0B=x\ny\0' "$PATH" >nuls
	A=1 gs-launch --wait --env lines --log l --shell \
	    'echo "${A-none} $B ${GS_JOB-none}"' >/dev/null
	A=1 gs-launch --wait --env nuls --log l --shell 'echo "$B"' >/dev/null
	[ "$(cat l)" = $'none x y=z none\nx\ny' ]
}

@test "the command is looked for in the PATH the job is given" {
	mkdir bin
	printf '#!/bin/sh\necho mine\n' >bin/hello
	chmod +x bin/hello
	echo "PATH=$PWD/bin:$PATH" >e
	gs-launch --wait --env e --log l -- hello >/dev/null
	[ "$(cat l)" = mine ]
}

@test "an entry of --env without a name is refused and numbered" {
	printf 'A=1\n=2\n' >e
	run -125 --separate-stderr gs-launch --env e -- true
	[ "$(field refused 5)" = "text=e: entry 2: not NAME=VALUE" ]
}

@test "a machine that is out of processes refuses, and says so" {
	[ "$(id -u)" -eq 0 ] || skip "needs root to become somebody else"
	command -v setpriv >/dev/null || skip "no setpriv(1)"
	chmod 755 . "$BATS_TEST_TMPDIR"
	cp "$BIN/gs-launch" .
	export ASAN_OPTIONS=detect_leaks=0 # which needs a process, too
	run -125 --separate-stderr setpriv --reuid 64123 --clear-groups \
	    prlimit --nproc=0 ./gs-launch -- true
	[ "$(field refused 4)" = fork ]
}

@test "closed standard streams do no harm" {
	gs-launch --wait --log l -- echo hi <&- 2>&- >/dev/null
	[ "$(cat l)" = hi ]
	run -0 sh -c 'gs-launch --wait --log l -- true >&-'
}
