#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: of programs that hang in kernels and streams, in a machine, one
# reads at which line, and at which word, their threads wait: on stderr after 5 s, and, when time
# is up, by memcast-smi; of one that spins in its own code, at which function. host-hangs.c is what
# hangs.
cd "$(dirname "$0")/../.." || exit 1
. selftests/ptx/object.sh
build_test hangs -Lbuild/lib -lcuda -Wl,-rpath,"$PWD/build/lib"
# shellcheck disable=SC2016
timeout 1200 tools/memcast-vm --host --root --devices 2 --timeout 600 --env MEMCAST_PTX_CACHE=/dev/shm/ptx -- sh -c '
	for how in rank flag barrier word kernel spin; do
		echo "== $how"
		limit=600
		[ $how != spin ] || limit=60
		"$1" --timeout 8 --limit $limit --smi "$2" "$3" "$how" 2>&1
		echo "== status $?"
	done' - "$PWD/build/tools/vm-watch" "$PWD/build/tools/memcast-smi" "$temp/hangs" \
	</dev/null >"$temp/all" 2>&1

# hangs HOW WORDS…: the program was ended for its silence, and its output has each of the words
hangs() {
	local how=$1 words good=0 ended="wrote nothing and used no processor"
	[ "$how" != spin ] || ended='did not end in 60 s'
	shift
	sed -n "/^== $how\r*$/,/^== status/p" "$temp/all" >"$temp/said"
	grep -q '^== status 124' "$temp/said" || good=1
	for words in "$ended" "$@"; do
		grep -qE -- "$words" "$temp/said" || good=1
	done
	[ -s "$temp/said" ] || cp "$temp/all" "$temp/said"
	result "$how" $good
}

plan ptx.hangs 6
# at least 5 s: a loaded machine looks later
five='([5-9]|[0-9]{2,})\.[0-9] s'
at='block \(0, 0, 0\), thread'
one="$at \(0, 0, 0\), line 10: waits for the word at 0x[0-9a-f]+, in this process's memory on device 0"
rest="$at \(1, 0, 0\) and 62 more, line 12: wait at barrier 0"
hangs rank "kernel meet has waited $five: .*$one, which is 0x1" "$rest" \
	"^#   [0-9]+ hangs: kernel meet, for [0-9.]+ s: .*$one, which is 0x1"
hangs flag "kernel meet has waited .*$one, which is 0x2a" "hangs: kernel meet, for .*$one, which is 0x2a"
hangs barrier "hangs: kernel half, for .*$at \(0, 0, 0\) and 31 more, line 18: wait at barrier 1" \
	"$at \(32, 0, 0\) and 31 more, line 22: wait for byte 0 of shared memory, which is 0"
hangs word "stream 0x[0-9a-f]+ has waited $five for the word at 0x[0-9a-f]+" \
	"hangs: stream 0x[0-9a-f]+, for [0-9.]+ s: waits for the word at .*, >= 0x5 \(cuStreamWaitValue32\)"
hangs spin 'uses a processor, but has written nothing, and has done nothing with memcast, for 8 s' \
	'thread [0-9]+ \(hangs\) runs' 'wait_for_others\+(0x)?[0-9a-f]+ \(hangs\)' 'called by main\+0x'
hangs kernel "hangs: kernel meet, for .*$one, which is 0x1" "$rest"
exit $failed
