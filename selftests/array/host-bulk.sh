#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs the tests that need no device on the machine that builds, with all instruction sets of
# its CPU: a virtual machine without KVM has no AVX-512. Its processors order memory as hardware
# does, which emulated ones do not, so groups of ranks meet more often here.
cd "$(dirname "$0")/../.." || exit 1

export MEMCAST_TEST_LOOPS=400
failed=0
build/selftests/host-bulk-way || failed=1
for name in bulk_test bulk_place_test group_test group_broadcast_test; do
	LD_LIBRARY_PATH=build/lib "build/selftests/$name" || failed=1
done
exit $failed
