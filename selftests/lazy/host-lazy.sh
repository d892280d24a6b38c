#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Lazy pools: machines that promise more memory than they have, the other selftests of memory in a
# machine whose pools are lazy, and parameters that the module refuses.
cd "$(dirname "$0")/../.." || exit 1
. selftests/base/tap.sh

# lazy WHAT OPTION… -- PROGRAM…: runs the program in a machine with lazy pools
lazy()
{
	what=$1
	shift
	machine "$what" --root --timeout 900 --add build/selftests --param backing=lazy "$@"
}

for kernel in ${CHECK_KERNELS:-6.1 6.12}; do
	lazy "72 devices of 80 GiB in 4 GiB, with linux $kernel" --kernel $kernel \
		--try-modules vgem --devices 72 --pool-mib 81920 --memory 4096 -- \
		build/selftests/run lazy_test lazy_end_test lazy_limit_test lazy_charge_test
done
for kernel in ${CHECK_KERNELS:-6.1 6.12}; do
	lazy "instructions of a first touch, with linux $kernel" --kernel $kernel --icount \
		--cpus 1 --devices 1 --pool-mib 128 --memory 1024 --env MEMCAST_TEST_EXACT=1 -- \
		build/selftests/run lazy_cost_test
done
lazy "576 devices of 80 GiB in 3 GiB" --devices 576 --pool-mib 81920 --memory 3072 -- \
	build/selftests/lazy_test -t larger_than_the_machine

# all tests of memory, teams, copies, heaps and dma-bufs; the machine has all that the pools promise
# shellcheck disable=SC2046
lazy "other selftests with lazy pools" $(cat selftests/vm-options) --param lazy_max_mib=1600 \
	--env MEMCAST_TEST_LOOPS=25 -- \
	build/selftests/run address_test alloc_race_test alloc_test bind_test block_test \
	copy2d_test copy_test dmabuf_test drm_test external_test foreign_team_test foreign_test \
	heap_import_test importer_test kill_test lifetime_test memory_test owner_test \
	pool_test race_test reuse_test revoke_test scale_test share_test staging_device_test \
	staging_test team_test trap_fault_test vivid_test window_test

said=$(tools/memcast-vm --devices 1 --param backing=often --memory 512 -- true 2>&1 </dev/null)
case $said in
*"backing=often: must be eager or lazy"*) ;;
*)	echo "not ok 0 backing=often is refused with words # $said"
	failed=1 ;;
esac
exit $failed
