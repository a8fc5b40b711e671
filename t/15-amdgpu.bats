#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The amdgpu backend against trees of the kernel's files.
# shellcheck disable=SC2016,SC2030,SC2031

load lib
load loop

setup() {
	gs_setup
	export GS_SMI=no-such-program
}

teardown() {
	loop_teardown
}

# As the expect.tsv of these trees have it, in MiB; a card without a total, or
# whose memory is the machine's, is one of which it is unknown what fits.
as_seen() {
	awk -F'\t' -v OFS='\t' '
	function key(name,  i) {
		for (i = 7; i <= NF; i++)
			if (index($i, name "=") == 1)
				return substr($i, length(name) + 2)
		return "-"
	}
	$1 == "gpu" {
		bus[$2] = key("bus")
		place = $4 == "-" || key("why") ~ /machine/ ? "unknown" : $7
		print "gpu", $2, bus[$2], $4, $5, key("free"), $6, place
		if (split(key("env"), rocr, "=") == 2)
			hip[rocr[2]] = bus[$2]
	}
	$1 == "proc" { print "proc", bus[$2], $3, $7, key("comm") }
	END { for (i in hip) if (asked) print "hip", i, hip[i] }
	' asked="$1" | sort
}

as_wanted() {
	awk -F'\t' -v OFS='\t' '
	function mib(x) { return x == "-" ? x : int(x / 1048576) }
	$1 == "gpu" { print $1, $2, $3, mib($4), mib($5), mib($6), $7, $8 }
	$1 == "proc" { print $1, $2, $3, mib($4), $5 }
	$1 == "hip"' "$1" | sort
}

# tree NAME: unpack a recorded tree and look at it.
tree() {
	mkdir "$1"
	tar xzf "$DIR/$1/root.tar.gz" -C "$1"
	export GS_SYSROOT=$PWD/$1/root
}

trees() {
	shared fixtures/amd >path
	DIR=$(cd "$(cat path)" && pwd)
}

one_case() {
	local hip
	tree "$1"
	hip=$(grep -c '^hip' "$DIR/$1/expect.tsv" || true)
	gs-probe >frame 2>err || { cat err; return 1; }
	as_seen "${hip#0}" <frame >have
	as_wanted "$DIR/$1/expect.tsv" >want
	diff want have
}

@test "all trees seen in the wild are read as they should be" {
	local c n=0 bad=()
	trees
	for c in "$DIR"/*/; do
		c=$(basename "$c")
		# What root may read nobody can hide from it.
		! [ -e "$DIR/$c/behaviour" ] || continue
		n=$((n + 1))
		one_case "$c" || bad+=("$c")
	done
	echo "$n trees, wrong: ${bad[*]}"
	[ "$n" -ge 7 ]
	[ "${#bad[@]}" -eq 0 ]
}

@test "processes of others are known by what the compute driver says" {
	trees
	tree other-user-unreadable
	rm -r "$GS_SYSROOT/proc/5120/fd" "$GS_SYSROOT/proc/5120/fdinfo"
	gs-probe >frame
	grep -q "^proc	0	5120	.*	8192	.*type=C	comm=python3" frame
}

# A machine of our own: one card with a job's memory on it, in 3 KiB of files.
card() {
	local d=root/sys/devices/pci0000:00/0000:03:00.0
	export GS_SYSROOT=$PWD/root
	mkdir -p $d/power root/sys/class/drm/card0 root/proc \
	    root/sys/class/kfd/kfd/topology/nodes/{0,1} root/sys/class/kfd/kfd/proc
	ln -sfn ../../../devices/pci0000:00/0000:03:00.0 root/sys/class/drm/card0/device
	printf 'DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0\n' >$d/uevent
	echo 17163091968 >$d/mem_info_vram_total
	echo 108814336 >$d/mem_info_vram_used
	echo 3 >$d/gpu_busy_percent
	echo active >$d/power/runtime_status
	echo 0 >root/sys/class/kfd/kfd/topology/nodes/0/gpu_id
	echo 4305 >root/sys/class/kfd/kfd/topology/nodes/1/gpu_id
	printf 'domain 0\nlocation_id 768\n' >root/sys/class/kfd/kfd/topology/nodes/1/properties
}

@test "a card is told with what the kernel knows, by its address" {
	card
	run -0 --separate-stderr gs-probe
	[[ ${lines[0]} == *backend=amdgpu* ]]
	[ "${lines[1]}" = "$(tsv gpu 0 PCI-0000:03:00.0 16368 103 3 yes \
	    name=AMD free=16264 bus=0000:03:00.0 env=ROCR_VISIBLE_DEVICES=0)" ]
	echo 1234abcd >root/sys/devices/pci0000:00/0000:03:00.0/unique_id
	run -0 gs-probe
	[[ ${lines[1]} == *$'\tGPU-1234abcd\t'* ]]
}

@test "a job on an AMD card gets ROCR_VISIBLE_DEVICES and no other variable" {
	card
	echo '[vram=8G] env | grep -E "^[A-Z]*_VISIBLE_DEVICES=|^GS_GPUS" | sort' >jobs.txt
	echo '[vram=15.9G] true' >>jobs.txt
	HIP_VISIBLE_DEVICES=0 run -125 gs-loop jobs.txt --poll 0.1
	[ "$(paste -sd' ' gs_logs/job-1.log)" = 'GS_GPUS=0 ROCR_VISIBLE_DEVICES=0' ]
	[[ $output == *'job 2 INFEASIBLE'* ]]
}

@test "the memory of a job on an AMD card is what the kernel says of it" {
	card
	echo '[vram=4G] echo $$ >pid; until [ -e go ]; do sleep 0.1; done' >jobs.txt
	loop_start --poll 0.1
	wait_for 20 test -s pid
	mkdir "root/sys/class/kfd/kfd/proc/$(cat pid)"
	echo 5368709120 >"root/sys/class/kfd/kfd/proc/$(cat pid)/vram_4305"
	wait_for 20 said 'WARN job 1 EXCEEDS declared VRAM on gpu 0: 5120 MiB used, 4096 MiB declared'
	touch go
	loop_end
	said 'peak vram gpu0:5120 MiB | declared 4096 MiB'
}

@test "without cards it says so" {
	mkdir -p root/sys/class/drm
	GS_SYSROOT=$PWD/root run -2 gs-probe --backend amdgpu
	[ "$output" = "gs-probe: amdgpu: no card of amdgpu or xe" ]
}

@test "a processor's GPU takes jobs if the operator says what it has" {
	card
	echo 536870912 >root/sys/devices/pci0000:00/0000:03:00.0/mem_info_vram_total
	run -0 gs-probe
	[[ ${lines[1]} == *$'\tno\t'*"why=its memory is the machine's" ]]
	mkdir root/sys/class/kfd/kfd/proc/4194301
	echo 1073741824 >root/sys/class/kfd/kfd/proc/4194301/vram_4305
	run -0 gs-probe --gpu-mem 0=64G
	[ "${lines[1]}" = "$(tsv gpu 0 PCI-0000:03:00.0 65536 1024 3 yes \
	    name=AMD free=64512 bus=0000:03:00.0 env=ROCR_VISIBLE_DEVICES=0)" ]
}
