#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: whole kernels write and print what they do on an H100
# (kernels.txt).
cd "$(dirname "$0")/../.." || exit 1
. selftests/script/tap.sh
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
object=build/lib/memcast-ptx.so

if [ ! -e $object ]; then
	plan ptx 1
	skip kernels 'memcast-ptx.so is not built: LLVM has no headers here'
	exit 0
fi
if ! ${CC:-gcc} -std=gnu11 -O1 -Wall -Wextra -Werror -Ilib -Iinclude -o "$temp/kernels" \
	selftests/ptx/host-kernels.c -ldl 2>"$temp/said"; then
	plan ptx 1
	result kernels 1
	exit $failed
fi
echo 'TAP version 13'
timeout 300 "$temp/kernels" $object selftests/ptx/kernels.txt
