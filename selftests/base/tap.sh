# shellcheck shell=sh disable=SC2034
# SPDX-License-Identifier: MIT
#
# Results of a host-*.sh as TAP lines. Such a script reads this file in the top folder:
#
#	. selftests/base/tap.sh
#	plan SUBJECT COUNT	the first lines; results are named SUBJECT.NAME
#	result NAME STATUS	of a command; what it said is in $temp/said
#	holds NAME WORDS	passes if there are no words; they say what is wrong
#	skip NAME WHY
#	machine WHAT ARGUMENT…	memcast-vm with these; its programs write the results
#	exit $failed		at its end
number=0
failed=0

plan()
{
	subject=$1
	printf 'TAP version 13\n1..%d\n' "$2"
}

# passes NAME, fails NAME: fails shows its stdin
passes()
{
	number=$((number + 1))
	echo "ok $number $subject.$1"
}

fails()
{
	number=$((number + 1))
	failed=1
	sed 's/^/# /'
	echo "not ok $number $subject.$1"
}

result() { if [ "$2" -eq 0 ]; then passes "$1"; else fails "$1" <"$temp/said"; fi; }
holds() {
	if [ -z "$2" ]; then passes "$1"; else fails "$1" <<-END
	$2
	END
	fi
}
skip() { passes "$1 # SKIP $2"; }

machine()
{
	what=$1
	shift
	echo "# $what"
	status=0
	tools/memcast-vm "$@" </dev/null || status=$?
	[ $status -eq 0 ] || failed=1
	# 1: a line says "not ok" already
	[ $status -le 1 ] || echo "not ok 0 $what # status $status"
}
