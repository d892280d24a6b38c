#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: the readers of PTX text, of lib/image and of lib/ptx, with gcc's
# sanitizers, against random changes of texts; and what memcast-ptx.so looks for in them.
# MEMCAST_TEST_SECONDS=1200 runs for so long.
cd "$(dirname "$0")/../.." || exit 1
. selftests/base/tap.sh
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT

if ! ${CC:-gcc} -std=gnu11 -D_GNU_SOURCE= -g -O1 -Wall -Wextra -Werror -fsanitize=address,undefined \
	-fno-sanitize-recover -Iinclude -Iinclude/cuda -Iinclude/uapi -Ilib -o "$temp/fuzz" \
	selftests/ptx/host-fuzz-text.c lib/image/*.c lib/ptx/text/*.c -lzstd -llz4 -lelf -ldl -lm \
	2>"$temp/said"; then
	plan ptx 1
	result fuzz_text 1
	exit $failed
fi
nice -n 19 "$temp/fuzz" "$(ls build/lib/memcast-ptx.so 2>/dev/null)"
