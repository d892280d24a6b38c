#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Attacks by an ordinary user, in virtual machines that have little memory to lose.
cd "$(dirname "$0")/../.." || exit 1

failed=0
for kernel in 6.1 6.12; do
	echo "# attacks on a machine of 448 MiB with linux $kernel"
	status=0
	tools/memcast-vm --kernel $kernel --root --memory 448 --devices 2 --pool-mib 16 \
		--timeout 900 -- build/selftests/attack_test </dev/null || status=$?
	[ $status -eq 0 ] || failed=1
	# 1: a line says "not ok" already
	[ $status -le 1 ] || echo "not ok 0 a small machine with linux $kernel # status $status"
done
exit $failed
