#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: vm-watch ends programs that make no progress, and no others.
cd "$(dirname "$0")/../../.." || exit 1
. selftests/base/tap.sh
watch=$PWD/build/selftests/vm-watch
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT

# check NAME STATUS LINE COMMAND…: the command ends with that status, and its output has the line
check() {
	local status=0
	"${@:4}" >"$temp/said" 2>&1 || status=$?
	[ $status -eq "$2" ] && { [ -z "$3" ] || grep -qE -- "$3" "$temp/said"; }
	set -- "$1" $?
	echo "status $status" >>"$temp/said"
	result "$1" "$2"
}

plan watch 18
check status_is_the_commands 5 '^said$' "$watch" sh -c 'echo said; exit 5'
check signal_is_the_commands 137 '' "$watch" sh -c 'kill -KILL $$'
check sleep_without_end 124 '^# sleep wrote nothing' "$watch" --timeout 3 sleep 10000
check where_it_waits 124 '^#   process [0-9]+, thread [0-9]+ \(sleep\) sleeps' \
	"$watch" --timeout 3 sleep 10000
check what_never_begins 124 'wrote nothing .* for 3 s' \
	"$watch" --timeout 10000 --begun "$temp/none" --begin 3 sleep 10000
: >"$temp/begun"
# shellcheck disable=SC2016
check what_has_begun 0 '' "$watch" --timeout 10000 --begun "$temp/begun" --begin 6 \
	sh -c 'sleep 2; echo yes >"$1"; sleep 16' - "$temp/begun"
if head -n 1 /proc/self/stack >/dev/null 2>&1; then
	check stacks_are_shown_once 124 \
		'^#   process [0-9]+, thread [0-9]+ \(sleep\) sleeps in .*, as thread [0-9]+$' \
		"$watch" --timeout 3 sh -c 'sleep 10000 & sleep 10000'
else
	skip stacks_are_shown_once "stacks are for root to see"
fi
check work_without_end 124 'did not end in 6 s' "$watch" --timeout 60 --limit 6 \
	sh -c 'while :; do :; done'
check work_without_output 124 'works, but wrote nothing for 6 s' \
	"$watch" --timeout 60 --silence 6 \
	sh -c 'echo begins; while :; do :; done'
check output_now_and_then 0 '' "$watch" --timeout 60 --silence 10 \
	sh -c 'for i in 1 2 3 4; do sleep 5; echo $i; done'
# The program ends itself after 8 seconds of processor time, by SIGXCPU.
check silent_work_goes_on 152 '' "$watch" --timeout 5 bash -c 'ulimit -S -t 8; while :; do :; done'
# A program that has done nothing with memcast's library is told of, with the place, and goes on.
${CC:-gcc} -O1 -Wall -Wextra -Werror -D_GNU_SOURCE= -Ilib -o "$temp/busy" tools/tests/vm/host-watch.c lib/base/activity.c ||
	exit 1
check spinning_is_said 124 '^# .*/busy uses a processor, .* has done nothing with memcast, for 4 s$' \
	"$watch" --timeout 4 --limit 12 "$temp/busy"
[ "$(grep -c 'uses a processor' "$temp/said")" = 1 ] && grep -q 'did not end in 12 s' "$temp/said" &&
	{ [ "$(id -u)" != 0 ] || grep -qE '(called by )?spins_here\+(0x)?[0-9a-f]+ \(busy\)' "$temp/said"; }
result spinning_is_said_once_with_its_place $?
check work_with_memcast_is_no_spinning 124 'did not end in 12 s' "$watch" --timeout 4 --limit 12 "$temp/busy" works
! grep 'uses a processor' "$temp/said" >"$temp/more"
result nothing_is_said_of_work $?
# shellcheck disable=SC2016
check what_is_left_running 1 '' bash -c '
	"$1" bash -c "setsid sleep 10000 & echo \$! >$2/pid"
	[ -s "$2/pid" ] || exit 9
	kill -0 "$(cat "$2/pid")"' - "$watch" "$temp"
# shellcheck disable=SC2016
check what_is_left_running_tidies_up 0 '' bash -c '
	"$1" bash -c "(trap \"rm $2/mess; exit\" TERM; >$2/mess; while :; do sleep 0.1; done) &
		until [ -e $2/mess ]; do sleep 0.1; done" &&
		[ ! -e "$2/mess" ]' - "$watch" "$temp"
# shellcheck disable=SC2016
check what_will_not_end 1 '' bash -c '
	"$1" bash -c "(trap \"\" TERM; echo \$BASHPID >$2/stays; while :; do sleep 0.1; done) &
		until [ -s $2/stays ]; do sleep 0.1; done"
	[ -s "$2/stays" ] || exit 9
	kill -0 "$(cat "$2/stays")"' - "$watch" "$temp"
exit $failed
