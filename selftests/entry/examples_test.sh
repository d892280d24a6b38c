#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs each example, and the program in README.md, and checks its status and one telling line of its
# output.
cd "$(dirname "$0")/examples" || exit 1
failed=0
number=0

# missing EXAMPLE: prints what the example needs and does not find, or nothing
missing() {
	[ -x "$1" ] ||
		{ echo "no NCCL to build it with: make NCCL_HOME=/path/to/nccl/build"; return; }
	case $1 in
	all-gather|all-reduce-kernel|nccl-ce)
		[ -e /sys/class/memcast/memcast3 ] || echo "needs 4 devices" ;;
	all-reduce-ptx)
		[ -e ../../lib/memcast-ptx.so ] ||
			echo "needs memcast-ptx.so: selftests/ptx/host-ptx.sh runs it" ;;
	nccl-all-reduce)
		echo "needs memcast-ptx.so and larger pools: selftests/ptx/host-nccl.sh runs it" ;;
	dmabuf-camera)
		[ -e /dev/video0 ] || echo "no camera: the module vivid is not loaded" ;;
	esac
}

arguments() {
	case $1 in
	nccl-ce)	echo '--iterations 3 --maxbytes 16384' ;;
	esac
}

# telling EXAMPLE: prints a pattern for the line that a successful run writes
telling() {
	case $1 in
	all-gather)	echo '^rank 3: 0 of 327680 values are wrong$' ;;
	all-reduce-ptx)	echo '^rank 3: 0 of 18350080 floats are wrong: OK$' ;;
	all-reduce-kernel)
			echo '^rank 3: 0 of 64000 words are wrong, by a graph, after 4000 barriers$' ;;
	dmabuf-camera)	echo '^8 frames, .* per second, 0 with replicas that differ$' ;;
	nccl-ce)	echo '^# every byte is right; copies met at multicast addresses$' ;;
	readme)		echo '^5$' ;;
	two-ranks)	echo '^rank 1: 0 of 65536 sums are wrong$' ;;
	esac
}

echo "TAP version 13"
names=$(printf '%s\n' * nccl-ce | sort -u)
echo "1..$(echo "$names" | wc -l)"
for name in $names; do
	number=$((number + 1))
	why=$(missing "$name")
	if [ -n "$why" ]; then
		echo "ok $number examples.$name # SKIP $why"
		continue
	fi
	# shellcheck disable=SC2046 # its arguments are words
	said=$(CUDA_LOG_FILE=stderr "./$name" $(arguments "$name") 2>&1)
	status=$?
	line=$(telling "$name")
	if [ $status -eq 0 ] && [ -n "$line" ] && echo "$said" | grep -q "$line"; then
		echo "ok $number examples.$name"
	else
		failed=1
		echo "$said" | sed 's/^/# /'
		echo "# exit status $status; a line was to be: ${line:-which? this test knows none}"
		echo "not ok $number examples.$name"
	fi
done
exit $failed
