#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What calls, mappings and faults cost, in instructions of a virtual machine whose
# clock counts them, against the record in costs.txt.
cd "$(dirname "$0")/../.." || exit 1

build/tools/memcast-bench --check selftests/costs.txt
status=$?
# 1: a line says "not ok" already
if [ $status -gt 1 ]; then
	echo "not ok 0 costs # memcast-bench ended with status $status"
fi
exit $status
