#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Run selftests where memcast is loaded, as root: run.sh [NAME[:CASE,…]…]; without names
# all programs beside this script. KTAP on stdout, each program's after a line
# "# program NAME". Exit status 0 if none failed. A CASE is a test's name, for all its
# fixtures and variants, or FIXTURE.TEST or FIXTURE.VARIANT.TEST, as results are named.
# With "-" as the only argument it reads names from stdin, after each line "# next" that it
# writes, until an empty one comes: for run-selftests.
#
# A program is ended when it has neither written anything nor used a processor for a
# minute, or has written nothing for 15 minutes, which no test takes; time does not count
# in which the host has other work for its processors.
#
# MEMCAST_TEST_TIMEOUT=N  give each program N times its time (debug kernels)
# MEMCAST_TEST_LOOPS=P    do loops of thousands only P percent of the times
cd "$(dirname "$0")" || exit 1

times=${MEMCAST_TEST_TIMEOUT:-1}
failed=0

if [ $# -eq 0 ]; then
	set -- *_test
fi
# options_of CASE,…: sets $options, of the harness; fails at a case that the program has not
options_of()
{
	options=
	for one in $(echo "$1" | tr , ' '); do
		"./$name" -l 2>&1 | grep -qw -- "${one##*.}" || return
		case $one in
		*.*) options="$options -r $one" ;;
		*)   options="$options -t $one" ;;
		esac
	done
}

# run NAME[:CASE,…]
run()
{
	name=${1##*/}
	cases=
	case $name in
	*:*) cases=${name#*:} name=${name%%:*} ;;
	esac
	echo "# program $name"
	if ! options_of "$cases"; then
		failed=1
		echo "not ok 0 $name # it has no case '$one'; it lists them with -l"
		return
	fi
	# shellcheck disable=SC2086	# options are words
	./vm-watch --timeout $((60 * times)) --silence $((900 * times)) --smi ./memcast-smi \
		"./$name" $options </dev/null
	code=$?
	case $code in
	0|4) ;;
	124)
		failed=1
		echo "not ok 0 $name # time was up: the lines before say what it waits for" ;;
	126|127)
		failed=1
		echo "not ok 0 $name # it cannot be run" ;;
	*)
		failed=1
		[ $code -lt 128 ] || echo "not ok 0 $name # signal $((code - 128)) ended it" ;;
	esac
}

if [ "$1" = - ]; then
	# The line before may have no end. Why a test failed, which it writes to stderr, stands with it.
	while printf '\n# next\n' && read -r name && [ -n "$name" ]; do run "$name" 2>&1; done
else
	for name; do run "$name"; done
fi
exit $failed
