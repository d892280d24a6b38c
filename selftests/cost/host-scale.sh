#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs scale_test where the clock counts instructions, so that its ratios are judged.
cd "$(dirname "$0")/../.." || exit 1
. selftests/base/tap.sh

for kernel in ${CHECK_KERNELS:-6.1 6.12}; do
	machine "ratios of instructions, with linux $kernel" --root --kernel $kernel --icount \
		--cpus 1 --timeout 900 --devices 2 --pool-mib 1024,64 --memory 2048 \
		--env MEMCAST_TEST_EXACT=1 --add build/selftests -- build/selftests/run scale_test
done
exit $failed
