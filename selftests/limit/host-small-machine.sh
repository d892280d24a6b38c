#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Attacks by an ordinary user, in virtual machines with little memory.
cd "$(dirname "$0")/../.." || exit 1
. selftests/base/tap.sh

for kernel in ${CHECK_KERNELS:-6.1 6.12}; do
	machine "attacks on a machine of 448 MiB with linux $kernel" --kernel $kernel --root \
		--memory 448 --devices 2 --pool-mib 16 --timeout 900 -- build/selftests/attack_test
done
exit $failed
