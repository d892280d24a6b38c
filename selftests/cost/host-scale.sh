#!/bin/sh
# SPDX-License-Identifier: MIT
#
# scale_test where the clock counts instructions: there its ratios are judged
cd "$(dirname "$0")/../.." || exit 1

failed=0
for kernel in 6.1 6.12; do
	echo "# ratios of instructions, with linux $kernel"
	status=0
	tools/memcast-vm --root --kernel $kernel --icount --cpus 1 --timeout 900 --devices 2 \
		--pool-mib 1024,64 --memory 2048 --env MEMCAST_TEST_EXACT=1 --add build/selftests \
		-- build/selftests/run scale_test </dev/null || status=$?
	[ $status -eq 0 ] || failed=1
	# 1: a line says "not ok" already
	[ $status -le 1 ] || echo "not ok 0 ratios with linux $kernel # status $status"
done
exit $failed
