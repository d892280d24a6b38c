#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: memcast-ptx compiles the kernels of a program, its linked parts
# together, and functions that are called through pointers; what it has compiled is compiled no more.
cd "$(dirname "$0")/../.." || exit 1
. selftests/ptx/object.sh
build_test ahead -fPIE -pie
plan ptx.ahead 8

compile() { MEMCAST_PTX_CACHE=$temp/kept timeout 100 build/tools/memcast-ptx "$@" >"$temp/said" 2>&1; }
files() { find "$temp/kept" -name '*.o' 2>/dev/null | wc -l; }

# kernels one, two and three, and far and near, which the table has
compile "$temp/ahead" && grep -qx '5 functions are compiled; 0 cannot be' "$temp/said" && [ "$(files)" = 5 ]
result program $?
MEMCAST_PTX_IR=$temp/ir compile "$temp/ahead" && [ ! -e "$temp/ir" ] && [ "$(files)" = 5 ]
result nothing_is_made_again $?
build_test ahead -fno-PIE -no-pie -O2
MEMCAST_PTX_IR=$temp/ir compile "$temp/ahead" && [ ! -e "$temp/ir" ]
result fixed_addresses $?
compile /bin/true && grep -q '^0 functions' "$temp/said"
result no_device_code $?

printf '.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n' >"$temp/k.ptx"
compile "$temp/k.ptx" && grep -q '^1 functions' "$temp/said"
result text $?
printf '.visible .entry w() { wgmma.fence.sync.aligned; ret; }\n' >>"$temp/k.ptx"
sed -i 's/sm_90/sm_90a/' "$temp/k.ptx"
compile "$temp/k.ptx" && grep -q '1 cannot be' "$temp/said"
result lacking $?
! compile "$temp/no-such-file" && grep -q 'cannot be read' "$temp/said"
result no_file $?

# cut off anywhere, a file is no more than an error
size=$(stat -c %s "$temp/ahead") good=0
for part in 1 2 3 5 7 8 9; do
	head -c $((size * part / 10)) "$temp/ahead" >"$temp/cut"
	compile "$temp/cut"
	[ $? -le 1 ] || good=1
done
result cut_off $good
exit "$failed"
