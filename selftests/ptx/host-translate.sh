#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: translated PTX gives the results of an H100 (facts.txt), and bad
# PTX gives an error with a line.
cd "$(dirname "$0")/../.." || exit 1
. selftests/script/tap.sh
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
object=build/lib/memcast-ptx.so

if [ ! -e $object ]; then
	plan ptx 1
	skip translate 'memcast-ptx.so is not built: LLVM has no headers here'
	exit 0
fi
if ! ${CC:-gcc} -std=gnu11 -O1 -Wall -Wextra -Werror -Ilib -o "$temp/translate" \
	selftests/ptx/host-translate.c -ldl 2>"$temp/said"; then
	plan ptx 1
	result translate 1
	exit $failed
fi
# Numbers of PTX have a point, whatever the locale has.
comma=$(locale -a 2>/dev/null | grep -m 1 -E '^(de|fr|es|it)_.*[uU][tT][fF]')
echo 'TAP version 13'
echo 1..12
LC_ALL=${comma:-C} timeout 300 "$temp/translate" $object selftests/ptx/facts.txt
