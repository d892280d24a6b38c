#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs in a machine, for host-nccl.sh: nccl_cases.sh PROGRAM FILE runs the program with the
# arguments of each line of the file, and writes a result for each, named after them.
program=$1
number=0
failed=0
said=$(mktemp)

echo "TAP version 13"
echo "1..$(grep -c . "$2")"
while read -r arguments; do
	number=$((number + 1))
	name=nccl.$(echo "$arguments" | sed 's/-[a-zA-Z] *//g; s/ /_/g')
	# shellcheck disable=SC2086 # these are words
	if "$program" -b 4 -e 65536 -n 1 $arguments >"$said" 2>&1 </dev/null &&
	   grep -q '^# every value is right$' "$said"; then
		echo "ok $number $name"
	else
		failed=1
		sed 's/^/# /' "$said"
		echo "not ok $number $name"
	fi
done <"$2"
rm "$said"
exit $failed
