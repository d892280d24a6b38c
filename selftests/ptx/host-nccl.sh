#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: NVIDIA's NCCL, where there is one (make NCCL_HOME=…), sums by its
# own NVLS kernel in a machine; examples/nccl-all-reduce.c checks every value.
cd "$(dirname "$0")/../.." || exit 1
. selftests/script/tap.sh
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
program=build/examples/nccl-all-reduce

plan ptx.nccl 1
if [ ! -e build/lib/memcast-ptx.so ] || [ ! -x $program ]; then
	skip all_reduce 'no memcast-ptx.so, or no NCCL: make NCCL_HOME=/path/to/nccl/build'
	exit 0
fi
tools/memcast-vm --host --pool-mib 512 --memory 5000 --env NCCL_MAX_CTAS=1 -- \
	$program --iterations 1 >"$temp/said" 2>&1 && grep -q '^# every value is right$' "$temp/said"
result all_reduce $?
exit $failed
