#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs in a machine, for host-nccl.sh: nccl_kills.sh PROGRAM FILE TIMES kills a rank in the middle
# of an all-reduce so many times, by the arguments of one line of the file after the other. The
# others abort; of one that does not, memcast says where it waits. No process and no memory is left.
program=$1
lines=$(grep -c . "$2")
times=$3
number=0
failed=0
said=$(mktemp)

# words_for_hangs: all ranks aborted but those that had to be killed, and these said why they wait
words_for_hangs()
{
	grep -q ' 0 ended with an error, .* 0 went on spinning$' "$said" || return
	for process in $(sed -n 's/^# rank [0-9]*, process \([0-9]*\), did not abort$/\1/p' "$said"); do
		grep -q "^memcast\[$process\]: .* has waited " "$said" || return
	done
}

# left: prints what the ranks left behind, after a minute in which the kernel may free it
left()
{
	for patience in $(seq 60); do
		what="$(pgrep -x "$(basename "$program" | cut -c -15)") $(memcast-smi --format=csv,noheader,nounits \
			--query-device=memory.used,memory.taken,processes,teams 2>&1 | sort -u)"
		[ "$what" != ' 0, 0, 0, 0' ] || return 0
		sleep 1
	done
	echo "$what"
}

echo "TAP version 13"
echo "1..$times"
while [ $number -lt "$times" ]; do
	arguments=$(sed -n "$((number % lines + 1))p" "$2")
	number=$((number + 1))
	name=nccl.kill.$number.$(echo "$arguments" | sed 's/-[a-zA-Z] *//g; s/ /_/g')
	status=0
	# symmetric kernels do not look whether the communicator is aborted
	patience=
	case $arguments in *-k*) patience='--patience 30' ;; esac
	# shellcheck disable=SC2086 # these are words
	"$program" -p 3 -b 262144 -e 262144 -n 100000 -K $((number * 97)) $arguments $patience \
		>"$said" 2>&1 </dev/null || status=$?
	left=$(left)
	grep '^# ranks: ' "$said"
	if [ -z "$left" ] && grep -q '# rank [0-9]* was killed in a collective$' "$said" &&
	   { [ $status -eq 0 ] || words_for_hangs; }; then
		echo "ok $number $name"
	else
		failed=1
		sed 's/^/# /' "$said"
		echo "# status $status, left:" $left
		echo "not ok $number $name"
	fi
done
rm "$said"
exit $failed
