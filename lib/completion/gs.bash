# SPDX-License-Identifier: MIT
# Completion of the gs programs for bash.
# shellcheck shell=bash

# _gs_options PROGRAM: its options.  A test compares them with its --help.
_gs_options() {
	case $1 in
	gs-probe)
		echo --interval --sample --on-demand --check --prometheus \
		    --backend --sim \
		    -g --gpus --gpu-mem -l --log-dir -t --timeout
		;;
	gs-simjob)
		echo --vram --ramp --hold --util --exit-code --oom-at \
		    --oom-once -g --gpus
		;;
	gs-place)
		echo -g --gpus -j --job --gpus-only --wait --policy --margin \
		    --spike-buffer --idle-threshold --exclusive --shared-gpu \
		    --slots
		;;
	gs-launch)
		echo --id --attempt --no -g --gpus --uuids --mask --vram --log \
		    --journal --seen -t --timeout --grace --linger --cwd \
		    --env --shell -w --wait
		;;
	gs-journal)
		echo -j --journal -l --log-dir -f --follow -n --lines \
		    --attempt -t --timeout -c --compact -r --raw -s --slurp
		;;
	gs-loop)
		echo -g --gpus --sim --backend --gpu-mem -m --margin --idle-threshold \
		    --tolerance --spike-buffer --exclusive --policy \
		    --oom-retries --max-fails --slots --shared-gpu -p --poll --grace -w --watch --fresh \
		    -l --log-dir --board-lines -v --verbose --probe --place \
		    --launch
		;;
	esac
	echo -h --help -V --version
}

_gs() {
	local program=${1##*/} cur=$2 prev=$3
	local -a words=()

	case $prev in
	-l | --log-dir | --cwd)
		words=(-d)
		;;
	--policy)
		words=(-W 'backfill fifo')
		;;
	--backend)
		words=(-W 'nvml smi amdgpu sim: file:')
		;;
	--probe | --place | --launch)
		words=(-c)
		;;
	*)
		if [[ $cur == -* ]]; then
			words=(-W "$(_gs_options "$program")")
		elif [[ $program == gs-journal ]]; then
			words=(-W 'append state query show log wait check')
		fi
		;;
	esac
	COMPREPLY=()
	[[ ${#words[@]} -eq 0 ]] ||
		mapfile -t COMPREPLY < <(compgen "${words[@]}" -- "$cur")
}

# Where nothing is known, files.
complete -o default -F _gs gs-probe gs-simjob gs-place gs-launch gs-journal \
    gs-loop
