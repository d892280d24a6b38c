#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: bash and zsh complete the options that --help lists.
cd "$(dirname "$0")/../.." || exit 1
. selftests/base/tap.sh
export PATH=$PWD/build/tools:$PWD/tools:$PATH LC_ALL=C.UTF-8
read -ra commands < <(grep '^#compdef' packaging/completion/_memcast | cut -d' ' -f2-)
temp=$(mktemp -d)
runner=
trap '[ -z "$runner" ] || { kill "$runner"; wait "$runner"; }; rm -rf "$temp"' EXIT

# The options of --help, found in another way than completion finds them: lines that begin with an
# option, up to the gap before its description, split at commas.
options() {
	"$1" --help | awk '/^ *-/ {
		sub(/^ */, ""); sub(/  .*/, "")
		count = split($0, words, ", ")
		for (i = 1; i <= count; i++) {
			sub(/[ =[].*/, "", words[i])
			if (words[i] ~ /^-/)
				print words[i]
		}
	}' | sort -u
}

# Prints what bash offers for the last of some words.
# shellcheck disable=SC2016
in_bash() {
	bash --norc -c '. packaging/completion/memcast.bash
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_memcast
		[ ${#COMPREPLY[@]} -eq 0 ] || printf "%s\n" "${COMPREPLY[@]}"' bash "$@" | sort -u
}

# Prints what zsh is told to offer. Words can be completed only inside of its line editor, so the
# functions that add words print them.
# shellcheck disable=SC2016
in_zsh() {
	zsh -f -c 'setopt extendedglob	# as it is set where zsh completes
		_call_program() { shift; "$@" }
		_describe() { print -rl -- ${(P)@[-1]%%:*} }
		compadd() { [[ $1 != -- ]] || shift; print -rl -- "$@" }
		_files() { print -rl -- FILES }
		_default() { print -rl -- DEFAULT }
		_command_names() { print -rl -- COMMANDS }
		_parameters() { print -rl -- PARAMETERS }
		words=("$@") CURRENT=$# PREFIX=${@[-1]} service=$1
		complete_it() { source packaging/completion/_memcast }
		complete_it' zsh "$@" | sort -u
}

# same SHELL COMMAND: the shell offers the options of --help, and there are some
same() {
	options "$2" >"$temp/help"
	"in_$1" "$2" - 2>&1 | diff "$temp/help" - >"$temp/said" &&
		[ "$(wc -l <"$temp/help")" -ge 2 ]
}

# offers SHELL WORDS: "WORD… = OFFERED…": the shell offers these for the last word
offers() {
	local words=${2% =*} offered=${2##*= }
	# shellcheck disable=SC2086	# words of a command
	[ "$(eval "in_$1 $words" 2>&1 | xargs)" = "$offered" ] ||
		{ echo "$1, $words: $(eval "in_$1 $words" 2>&1 | xargs), not $offered"; return 1; }
}

# values SHELL: words that are not options
values() {
	offers "$1" "memcast-kernel '' = build deps fetch path run source sysroot" &&
	offers "$1" "memcast-kernel fetch '' = " &&
	offers "$1" "memcast-kernel deps '' = arm64 check check-all missing package" &&
	offers "$1" "memcast-perf '' = allreduce broadcast reduce" &&
	offers "$1" "memcast-bench '' = $(memcast-bench --list | awk '{ print $1 }' |
		sort | xargs)"
}

# Where a command names a running machine, the shell offers its name. For programs, bash is asked
# with the beginning of a name, as it offers all of them otherwise.
export XDG_RUNTIME_DIR=$temp/names
mkdir -m 700 "$XDG_RUNTIME_DIR"
touch "$temp/said"
memcast-vm --no-module --name completed -- sh -c 'echo runs; sleep 100000' </dev/null \
	>"$temp/runs" 2>&1 &
runner=$!
until grep -q runs "$temp/runs" || ! kill -0 $runner; do sleep 0.1; done 2>/dev/null
machines() {
	local words
	for words in exec 'exec --root' 'exec --env A=b' shell 'shell --root' stop; do
		offers "$1" "memcast-vm $words '' = completed" || return
	done
	offers "$1" "memcast-vm ps '' = --json" && offers "$1" "memcast-vm stop completed '' = " &&
	offers "$1" "memcast-vm shell - = --env --root"
}
machines_in_bash() {
	machines bash && offers bash "memcast-vm '' = exec ps shell stop" &&
	offers bash "memcast-vm exec completed memcast-smi = memcast-smi" &&
	offers bash "memcast-vm exec completed -- memcast-smi = memcast-smi" &&
	# programs too, as the word may be the start of a program's name
	in_bash memcast-vm sh | grep -qx shell && in_bash memcast-vm sh | grep -qx sh &&
	in_bash memcast-vm st | grep -qx stop && ! in_bash memcast-vm -- sto | grep -qx stop
}
machines_in_zsh() {
	machines zsh && offers zsh "memcast-vm '' = COMMANDS exec ps shell stop" &&
	offers zsh "memcast-vm exec completed '' = COMMANDS" &&
	offers zsh "memcast-vm exec completed -- '' = COMMANDS" &&
	offers zsh "memcast-vm -- '' = COMMANDS"
}

shells=bash
if command -v zsh >/dev/null; then shells='bash zsh'; fi
plan completion "$((2 * ${#commands[@]} + 5))"

[ "$(printf '%s\n' "${commands[@]}" | sort | xargs)" = \
	"$(ls tools build/tools | grep -E '^memcast-[a-z]+$' | sort -u | xargs)" ]
said=$?
echo "not for each command that there is: ${commands[*]}" >"$temp/said"
result every_command $said
for shell in bash zsh; do
	if [[ " $shells " != *" $shell "* ]]; then
		for command in "${commands[@]}" values machines; do
			skip "$shell.$command" "no $shell here: apt-get install $shell"
		done
		continue
	fi
	for command in "${commands[@]}"; do
		same "$shell" "$command"
		result "$shell.$command" $?
	done
	values "$shell" >"$temp/said"
	result "$shell.values" $?
	"machines_in_$shell" >"$temp/said" 2>&1
	result "$shell.machines" $?
done
exit $failed
