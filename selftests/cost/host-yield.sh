#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Measures the longest stretch in which a call does not yield the processor, in instructions of
# a virtual machine whose clock counts them: selftests/cost/yield_test.c, yield_machine_test.c.
cd "$(dirname "$0")/../.." || exit 1
. selftests/base/tap.sh

for kernel in ${CHECK_KERNELS:-6.1 6.12}; do
	machine "yields, with linux $kernel" --kernel $kernel --icount --cpus 1 --root --devices 2 \
		--pool-mib 64 --memory 2048 --timeout 900 --env MEMCAST_TEST_EXACT=1 --env MEMCAST_TEST_LOOPS=20 \
		--add build/selftests -- build/selftests/run yield_test
	machine "yields with bounce buffers and lazy pools, with linux $kernel" --kernel $kernel \
		--icount --cpus 1 --root --devices 1 --pool-mib 131072 --param backing=lazy \
		--append swiotlb=65536,force --memory 1024 --timeout 900 \
		--env MEMCAST_TEST_EXACT=1 --add build/selftests -- \
		build/selftests/run yield_machine_test
done
exit $failed
