#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Machines with as many devices as there can be, and what the module says to one more.
cd "$(dirname "$0")/.." || exit 1

failed=0
said=$(tools/memcast-vm --devices 577 --pool-mib 2 --memory 768 -- true 2>&1 </dev/null)
case $said in
*"devices=577: must be 1 to 576"*) ;;
*)	echo "not ok 0 577 devices are refused with words # $said"
	failed=1 ;;
esac

# 2 for most: what they take of the machine is the figure, so that is little
machine="--root --devices 576 --pool-mib 4,2 --timeout 900"
for kernel in 6.1 6.12; do
	echo "# 576 devices with linux $kernel"
	status=0
	# shellcheck disable=SC2086
	tools/memcast-vm --kernel $kernel $machine -- build/selftests/rack_test </dev/null || status=$?
	[ $status -eq 0 ] || failed=1
	# 1: a line says "not ok" already
	[ $status -le 1 ] || echo "not ok 0 576 devices with linux $kernel # status $status"
done
exit $failed
