#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: blocks and processes exchange words in the orders that PTX gives.
cd "$(dirname "$0")/../.." || exit 1
. selftests/script/tap.sh
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
object=build/lib/memcast-ptx.so

if [ ! -e $object ]; then
	plan ptx 1
	skip litmus 'memcast-ptx.so is not built: LLVM has no headers here'
	exit 0
fi
if ! ${CC:-gcc} -std=gnu11 -O1 -Wall -Wextra -Werror -Ilib -o "$temp/litmus" \
	selftests/ptx/host-litmus.c -ldl 2>"$temp/said"; then
	plan ptx 1
	result litmus 1
	exit $failed
fi
timeout 600 "$temp/litmus" $object "${MEMCAST_TEST_SEQUENCES:-2000}"
