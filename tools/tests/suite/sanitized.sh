#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The libraries and their tests built with gcc's sanitizers: the thread sanitizer here, for programs
# that need no device, then the sanitizers of addresses and of undefined behaviour, here and in a
# machine. `make check-debug` runs this; a word says which: thread, address or machine.
set -euo pipefail
cd "$(dirname "$0")/../../.."

failed=0
export ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0
ASAN_OPTIONS+=:handle_segv=0:handle_sigbus=0:handle_sigfpe=0 # tests raise these signals

# With a sanitizer, gcc gives warnings that are wrong; warnings are left to the ordinary build.
# Tests access address 0 on purpose; an access that is none ends the program anyway.
build() {
	local folder=$1 sanitizers=$2
	shift 2
	make -j"$(nproc)" "B=build/$folder" \
		"CC=${CC:-gcc} -fsanitize=$sanitizers -fno-sanitize-recover=undefined -fno-sanitize=null" \
		CFLAGS='-O1 -g -fno-omit-frame-pointer -Wno-maybe-uninitialized -Wno-int-in-bool-context -Wno-tsan' \
		lib "${@/#/build/$folder/selftests/}"
}

here() {
	local folder=$1 name
	shift
	for name; do
		echo "# program $name, $folder"
		LD_LIBRARY_PATH=build/$folder/lib "build/$folder/selftests/$name" || failed=1
	done
}

threads() {
	local programs=(host-window group_test group_broadcast_test)
	build thread thread "${programs[@]}"
	here thread "${programs[@]}"
}

alone=(host-window host-bulk-way bulk_test bulk_place_test group_test group_broadcast_test)
addresses() {
	build address address,undefined "${alone[@]}"
	here address "${alone[@]}"
}

# Left out: block_test cancels threads, whose stacks the sanitizer takes for used ever after; it does
# not know the stacks of blocks_test; in stream_test the sanitizer itself runs out of memory when threads are to get none; bulk_way_test
# has a memcpy() of its own; tests of faults need the process's signals and low addresses as they are;
# lazy, scale and yield tests are about the module, and count its faults.
left_out='^(blocks?|stream|bulk_way|kernel_fault|trap_fault|trap_object|lazy|(export_)?scale|yield|nvidia_.*|nvcc_.*)_test$'
machine() {
	local programs
	mapfile -t programs < <(find selftests -name '*_test.c' -printf '%f\n' | sed 's/\.c$//' |
		grep -vE "$left_out" | sort)
	build address address,undefined "${programs[@]}"
	make -j"$(nproc)" build/selftests/{run,vm-watch,memcast-smi} build/tools/vm-init
	mkdir -p build/address/selftests/facts
	cp -r selftests/facts/tables build/address/selftests/facts/
	cp build/selftests/{run,vm-watch,memcast-smi} build/address/selftests/
	# shellcheck disable=SC2046	# options are words
	LD_LIBRARY_PATH=$PWD/build/address/lib tools/memcast-vm --root --timeout 600 --limit 10800 \
		--memory 3500 --devices 8 --pool-mib 128,64 --param imex_channels=2 \
		$(sed -n 2p selftests/vm-options) \
		--env MEMCAST_TEST_TIMEOUT=15 --env MEMCAST_TEST_LOOPS=5 --env ASAN_OPTIONS \
		--add build/address/selftests -- build/address/selftests/run "${programs[@]}" ||
		failed=1
}

[ $# -gt 0 ] || set -- thread address machine
for word; do
	case $word in
	thread)	 threads ;;
	address) addresses ;;
	machine) machine ;;
	*)	 echo "$0: thread, address or machine, not '$word'" >&2; exit 2 ;;
	esac
done
exit $failed
