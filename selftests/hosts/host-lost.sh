#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Tests of lost hosts, on machines with two hosts. (On machines with one host, lost_host_test
# and lost_race_test run together with all other tests.)
cd "$(dirname "$0")/../.." || exit 1
. selftests/base/tap.sh

for kernel in ${CHECK_KERNELS:-6.1 6.12}; do
	machine "two hosts with linux $kernel" --kernel $kernel --root --devices 4 --pool-mib 32 \
		--param hosts=2 --param imex_channels=1 --timeout 900 --add build/selftests -- \
		build/selftests/run lost_host_test lost_work_test lost_fabric_test lost_race_test \
		nvml_lost_test
done
exit $failed
