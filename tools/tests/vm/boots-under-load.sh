#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Boots machines while other processes keep the processors busy, and counts the programs that ran in
# them: boots-under-load.sh [BOOTS [BUSY-LOOPS [memcast-vm's OPTION]…]]; 20, 10.
set -u
cd "$(dirname "$0")/../../.." || exit 1
boots=${1:-20} busy=${2:-10} ran=0 loops=()
shift $(($# < 2 ? $# : 2))

trap '[ ${#loops[@]} -eq 0 ] || kill "${loops[@]}"' EXIT
for ((i = 0; i < busy; i++)); do
	while :; do :; done &
	loops+=($!)
done
for ((i = 1; i <= boots; i++)); do
	start=$EPOCHREALTIME
	said=$(tools/memcast-vm "$@" -- sh -c 'echo ran; exit 7')
	status=$?
	if [ "$said" = ran ] && [ $status -eq 7 ]; then ran=$((ran + 1)); fi
	awk -v from="$start" -v to="$EPOCHREALTIME" -v number=$i -v status=$status \
		'BEGIN { printf "boot %d: status %d after %.1f s\n", number, status, to - from }'
done
echo "$ran of $boots programs ran beside $busy busy loops"
[ $ran -eq "$boots" ]
