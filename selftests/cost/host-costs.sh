#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Compares the cost of calls, mappings and faults, in instructions of a virtual machine
# whose clock counts them, with the record in costs.txt.
cd "$(dirname "$0")/../.." || exit 1

build/tools/memcast-bench --check selftests/costs.txt
status=$?
# With status 1, memcast-bench has printed "not ok" itself.
if [ $status -gt 1 ]; then
	echo "not ok 0 costs # memcast-bench ended with status $status"
fi
exit $status
