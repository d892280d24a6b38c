#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: what the translator of PTX knows of a function as a whole, by
# host-flow.c.
cd "$(dirname "$0")/../.." || exit 1
. selftests/script/tap.sh
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
object=build/lib/memcast-ptx.so

if [ ! -e $object ]; then
	plan ptx 1
	skip flow 'memcast-ptx.so is not built: LLVM has no headers here'
	exit 0
fi
if ! ${CC:-gcc} -std=gnu11 -O1 -Wall -Wextra -Werror -Ilib -o "$temp/flow" \
	selftests/ptx/host-flow.c -ldl 2>"$temp/said"; then
	plan ptx 1
	result flow 1
	exit $failed
fi
timeout 300 "$temp/flow" $object
