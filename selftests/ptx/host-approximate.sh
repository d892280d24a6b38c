#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: the errors of PTX's approximations are within PTX's bounds.
cd "$(dirname "$0")/../.." || exit 1
. selftests/script/tap.sh
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
object=build/lib/memcast-ptx.so

if [ ! -e $object ]; then
	plan ptx 1
	skip approximate 'memcast-ptx.so is not built: LLVM has no headers here'
	exit 0
fi
if ! ${CC:-gcc} -std=gnu11 -O1 -Wall -Wextra -Werror -Ilib -o "$temp/approximate" \
	selftests/ptx/host-approximate.c -ldl -lm 2>"$temp/said"; then
	plan ptx 1
	result approximate 1
	exit $failed
fi
timeout 300 "$temp/approximate" $object
