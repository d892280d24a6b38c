#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: gdb stops at a source line of a kernel, and shows the thread, its
# parameters and registers; perf finds names of kernels. Nothing of it is done without being asked for.
# shellcheck disable=SC2016	# $1 is a name of gdb's
cd "$(dirname "$0")/../.." || exit 1
. selftests/ptx/object.sh
build_test debug
build_test faults
plan ptx.debug 10
export MEMCAST_PTX_CACHE=$temp/kept

# debug GDB-COMMAND…: what gdb prints
debug() {
	local commands=() command
	for command in "set confirm off" "set breakpoint pending on" "handle SIGSEGV nostop noprint" "$@"; do
		commands+=(-ex "$command")
	done
	DEBUGINFOD_URLS='' MEMCAST_PTX_GDB=1 timeout 100 gdb -nx -batch "${commands[@]}" \
		--args "$temp/debug" "$object" >"$temp/said" 2>&1 </dev/null
}
says() { grep -qE -- "$1" "$temp/said" || { echo "# not said: $1"; return 1; }; }

MEMCAST_PTX_GDB=1 timeout 100 "$temp/debug" "$object" >"$temp/said" 2>&1
result same_results $?
if command -v gdb >/dev/null; then
	debug 'break scale.cu:13 if threadIdx.x == 5' run bt 'print f3' 'print threadIdx' 'print blockDim.x' \
		'print r1' 'print param_1' 'continue'
	says '^#0 .*scale \(param_0=0x[0-9a-f]+, param_1=1.5\) at /src/of/scale.cu:13'
	result stops_at_line $?
	says '^\$1 = 7.5$' && says '^\$4 = 5$' && says '^\$5 = 1.5$'
	result registers $?
	says '^\$2 = \{x = 5, y = 0, z = 0\}$' && says '^\$3 = 64$' && says 'exited normally'
	result indices $?
	debug 'break twice.cuh:4' run bt 'info locals' next 'delete' 'continue'
	says '^#0 .*twice \(.*at /src/of/twice.cuh:4' && says '^#1 .*scale \(.*scale.cu:13' &&
		says '^f2 = 0' && says '^threadIdx = \{x = 0' && says 'exited normally'
	result called_function $?
	debug 'break scale(float*, float)' run continue 'delete' 'continue'
	says 'Breakpoint 1, .*scale \(.*scale.cu:11' && says 'exited normally'
	result stops_at_kernel $?
else
	for name in stops_at_line registers indices called_function stops_at_kernel; do
		skip $name 'no gdb here'
	done
fi
# a fault has both lines all the same
! MEMCAST_PTX_GDB=1 "$temp/debug" "$object" _Z5failsv >"$temp/said" 2>&1 &&
	says 'kernel _Z5failsv, .*thread \(0, 0, 0\), line 35 \(scale.cu:20\): trap'
result fault $?

# so have those of all faulty kernels
MEMCAST_PTX_GDB=1 timeout 300 "$temp/faults" "$object" selftests/ptx/faults/*.ptx >"$temp/said" 2>&1
result faulty_kernels $?

# perf DEBUG-ARGUMENT…: runs the program; its process id is in $pid, and the map that perf would read in $map
perf() {
	"$temp/debug" "$object" >"$temp/said" 2>&1 &
	pid=$! map=/tmp/perf-$!.map
	wait $pid
}
perf && [ ! -e "$map" ]
result no_map $?
MEMCAST_PTX_PERF=1 perf && says '^[0-9a-f]+$' && address=$((16#$(head -1 "$temp/said"))) &&
	while read -r start bytes name; do
		((16#$start <= address && address < 16#$start + 16#$bytes)) && [ "$name" = _Z5scalePff ] &&
			found=1
	done <"$map" && [ "$found" ] && [ "$(stat -c %a "$map")" = 600 ]
result map $?
rm -f "$map"
exit "$failed"
