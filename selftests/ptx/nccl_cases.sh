#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs in a machine, for host-nccl.sh: nccl_cases.sh PROGRAM FILE runs the program with the
# arguments of each line of the file, and writes a result for each, named after them. A rank reads
# all that NCCL was built with when it starts, which takes a minute here: the same processes take
# one line after the other, but for the symmetric kernels, of which NCCL takes one for a process.
program=$1
number=0
failed=0
temp=$(mktemp -d)

# result LINE
result()
{
	number=$((number + 1))
	if grep -Fxq "# every value is right: $1" "$temp/said"; then
		printf ok
	else
		failed=1
		printf 'not ok'
	fi
	echo " $number nccl.$(echo "$1" | sed 's/-[a-zA-Z] *//g; s/ /_/g')"
}

# run FILE: the lines of one process
run()
{
	"$program" -b 4 -e 16384 -f 64 -n 1 --cases "$1" 2>&1 </dev/null >"$temp/said" ||
		echo "# status $?"
	sed 's/^/# /' "$temp/said"
	while read -r line; do result "$line"; done <"$1"
}

echo "TAP version 13"
echo "1..$(grep -c . "$2")"
grep -Ev '(^| )-k ' "$2" >"$temp/cases"
run "$temp/cases"
grep -E '(^| )-k ' "$2" >"$temp/kernels"
while read -r line; do
	echo "$line" >"$temp/cases"
	run "$temp/cases"
done <"$temp/kernels"
rm -r "$temp"
exit $failed
