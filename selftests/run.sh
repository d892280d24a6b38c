#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Run selftests where memcast is loaded, as root: run.sh [NAME…]; without names
# all programs beside this script. KTAP on stdout, each program's after a line
# "# program NAME". Exit status 0 if none failed.
#
# MEMCAST_TEST_TIMEOUT=N  give each program N times its time (debug kernels)
# MEMCAST_TEST_LOOPS=P    do loops of thousands only P percent of the times
cd "$(dirname "$0")" || exit 1

seconds=$((180 * ${MEMCAST_TEST_TIMEOUT:-1}))
failed=0

# Each test is a process group of its own.
end_session() {
	for stat in /proc/[0-9]*/stat; do
		# PID (NAME) STATE PARENT GROUP SESSION …
		[ "$(sed 's/.*) . [0-9]* [0-9]* \([0-9]*\) .*/\1/' "$stat" 2>/dev/null)" = "$1" ] || continue
		stat=${stat#/proc/}
		kill -KILL "${stat%/stat}" 2>/dev/null
	done
}

if [ $# -eq 0 ]; then
	set -- *_test
fi
for name; do
	name=${name##*/}
	echo "# program $name"
	# In a session of its own, so that all of it can be ended.
	setsid timeout $seconds "./$name" &
	session=$!
	wait $session
	code=$?
	case $code in
	0|4) ;;
	124|137|143)
		failed=1
		end_session $session
		echo "not ok 0 $name # it took more than $seconds s" ;;
	126|127)
		failed=1
		echo "not ok 0 $name # it cannot be run" ;;
	*)
		failed=1
		[ $code -lt 128 ] || echo "not ok 0 $name # signal $((code - 128)) ended it" ;;
	esac
done
exit $failed
