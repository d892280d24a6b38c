#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Tests machines with as many devices as there can be, the module's refusal of one more, the 72 of
# a rack, and devices that are divided among hosts.
cd "$(dirname "$0")/../.." || exit 1
. selftests/base/tap.sh

said=$(tools/memcast-vm --devices 577 --pool-mib 2 --memory 768 -- true 2>&1 </dev/null)
case $said in
*"devices=577: must be 1 to 576"*) ;;
*)	echo "not ok 0 577 devices are refused with words # $said"
	failed=1 ;;
esac

# Most devices get a pool of 2 MiB, so that all pools together take little of the machine.
for kernel in ${CHECK_KERNELS:-6.1 6.12}; do
	machine "576 devices with linux $kernel" --kernel $kernel --root --devices 576 \
		--pool-mib 4,2 --timeout 900 -- build/selftests/rack_test
	machine "without IMEX channels, with linux $kernel" --kernel $kernel --devices 2 -- \
		build/selftests/channel_test -t none_on_the_machine
	machine "6 devices on 3 hosts with linux $kernel" --kernel $kernel --root --devices 6 \
		--pool-mib 32 --memory 1024 --param hosts=3 --param imex_channels=1 \
		--add build/selftests -- build/selftests/run rack_hosts_test rack_fabric_test \
		rack_smi_test
done
machine "the runtime with 72 devices" --root --devices 72 --pool-mib 4 --memory 1536 \
	--add build/selftests -- build/selftests/run runtime_rack_test

# Tests that deal with numbers of devices, on a host whose device 0 is not the machine's.
# shellcheck disable=SC2016
machine "other selftests on the second of two hosts" --root --numa 2 --devices 16 --pool-mib 64 \
	--memory 3072 --param hosts=2 --param imex_channels=2 --add build/selftests -- \
	unshare -m sh -c 'mount --make-rprivate / &&
		mount --bind /dev/memcast-host/1 /dev/memcast && exec "$@"' sh build/selftests/run \
	address_test alloc_test bind_test copy_test heap_import_test ipc_test log_test memory_test \
	pointer_test pool_share_test pool_test share_test team_test view_test window_test words_test
exit $failed
