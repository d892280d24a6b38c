#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Machines with several hosts, of which one is lost: what the others find, and at any moment.
# (With one host, lost_host_test and lost_race_test run where all tests do.)
cd "$(dirname "$0")/../.." || exit 1

failed=0
machine="--root --devices 4 --pool-mib 32 --param hosts=2 --param imex_channels=1 --timeout 900"
for kernel in 6.1 6.12; do
	for program in lost_host_test lost_fabric_test lost_race_test nvml_lost_test; do
		echo "# $program on two hosts with linux $kernel"
		status=0
		# shellcheck disable=SC2086
		tools/memcast-vm --kernel $kernel $machine --add build/selftests -- \
			build/selftests/run $program </dev/null || status=$?
		[ $status -eq 0 ] || failed=1
		# 1: a line says "not ok" already
		[ $status -le 1 ] || echo "not ok 0 $program with linux $kernel # status $status"
	done
done
exit $failed
