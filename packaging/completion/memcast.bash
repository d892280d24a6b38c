# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Completion of memcast's commands for bash. The options are those that a command's --help
# has, looked up when they are asked for.

_memcast_options()
{
	"$1" --help 2>/dev/null | sed -nE 's/^ *((-[^ ,]+, )*-.*)$/\1/p' | sed -E 's/  .*//' |
		grep -oE '(^|[ ,])--?[A-Za-z?][-A-Za-z0-9]*' | tr -d ' ,' | sort -u
}

# Prints the index in COMP_WORDS of the command to run, after -- or the options; 0: none yet
_memcast_command_at()
{
	local i with_value

	with_value=$("${COMP_WORDS[0]}" --help 2>/dev/null |
		sed -nE -e 's/^ *(--[-a-z]+) [^ ].*/\1/p' \
			-e 's/^ *(-[A-Za-z]), (--[-a-z]+)=.*/\1\n\2/p' \
			-e 's/^ *(--[-a-z]+)=.*/\1/p')
	for ((i = 1; i <= COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--) i=$((i + 1)); break ;;
		--*=*) ;;
		-*) ! grep -qxF -- "${COMP_WORDS[i]}" <<<"$with_value" || i=$((i + 1)) ;;
		*) break ;;
		esac
	done
	if [ "$i" -le "$COMP_CWORD" ] && [[ ${COMP_WORDS[i]} != -* ]]; then
		echo "$i"
	else
		echo 0
	fi
}

# Completes memcast-vm's commands for running machines, by $words or COMPREPLY. Fails if the words
# are for another purpose, such as the program to run.
_memcast_running()
{
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} at=2

	if [ "$COMP_CWORD" -eq 1 ] && [[ $word != -* ]]; then
		# a program may be what is meant
		[ -z "$word" ] || mapfile -t COMPREPLY < <(compgen -c -f -- "$word")
		mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < \
			<(compgen -W 'exec shell ps stop' -- "$word")
		return
	fi
	case ${COMP_WORDS[1]} in
	ps) words=--json; return ;;
	stop) [ "$COMP_CWORD" -gt 2 ] || words=$(_memcast_machines); return ;;
	exec|shell) ;;
	*) return 1 ;;
	esac
	while [ "$at" -lt "$COMP_CWORD" ] && [[ ${COMP_WORDS[at]} == -* ]]; do
		[ "${COMP_WORDS[at]}" != --env ] || at=$((at + 1))
		at=$((at + 1))
	done
	if [ "$at" -gt "$COMP_CWORD" ]; then
		mapfile -t COMPREPLY < <(compgen -v -- "$word")
	elif [ "$at" -eq "$COMP_CWORD" ]; then
		words='--root --env'
		[[ $word == -* ]] || words=$(_memcast_machines)
	elif [ "${COMP_WORDS[1]}" = exec ]; then
		at=$((at + 1))
		[ "${COMP_WORDS[at]}" != -- ] || at=$((at + 1))
		_memcast_program "$at"
	fi
}

# The names of machines that run
_memcast_machines()
{
	"${COMP_WORDS[0]}" ps --json 2>/dev/null | sed -nE 's/^ *"name": *"([^"]*)".*/\1/p'
}

# _memcast_program INDEX: complete the program's name at INDEX in COMP_WORDS, or its arguments
_memcast_program()
{
	if declare -F _command_offset >/dev/null; then
		_command_offset "$1"
	else
		mapfile -t COMPREPLY < <(compgen -c -f -- "${COMP_WORDS[COMP_CWORD]}")
	fi
}

_memcast()
{
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} at
	local name=${COMP_WORDS[0]##*/} words=

	COMPREPLY=()
	case $before in
	--add|--kernel|--kernels|--keep-log|--check|--record)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return ;;
	--rw|--data|--out|--device-folder)
		mapfile -t COMPREPLY < <(compgen -d -- "$word")
		return ;;
	esac
	if [ -z "$words" ]; then
		case $name in
		memcast-vm|memcast-run|memcast-hosts)
			if [ "$name" = memcast-vm ] && _memcast_running; then
				[ -z "$words" ] ||
					mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
				return
			fi
			at=$(_memcast_command_at)
			[ "$at" -eq 0 ] || { _memcast_program "$at"; return; } ;;
		memcast-kernel)
			case $before in
			memcast-kernel|*/memcast-kernel) words='fetch source build path run deps sysroot' ;;
			deps) words='missing check check-all package arm64' ;;
			esac ;;
		memcast-bench)
			[[ $word == -* ]] ||
				words=$("${COMP_WORDS[0]}" --list 2>/dev/null |
					awk '{ print $1 }') ;;
		memcast-ptx)
			if [[ $word != -* ]]; then
				mapfile -t COMPREPLY < <(compgen -f -- "$word")
				return
			fi ;;
		memcast-perf) words='allreduce broadcast reduce' ;;
		memcast-smi) words="topo pool" ;;
		esac
		[[ $word != -* ]] || words=$(_memcast_options "${COMP_WORDS[0]}")
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -F _memcast memcast-vm memcast-run memcast-kernel memcast-bench memcast-hosts \
	memcast-perf memcast-profile memcast-ptx memcast-smi
