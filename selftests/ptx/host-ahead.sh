#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: memcast-ptx compiles the kernels of a program, its linked parts
# together, and functions that are called through pointers; of a program with multicast objects, also the
# form of each kernel that stores to their windows; what it has compiled is compiled no more.
cd "$(dirname "$0")/../.." || exit 1
. selftests/ptx/object.sh
build_test ahead -fPIE -pie
plan ptx.ahead 19

compile() { MEMCAST_PTX_CACHE=$temp/kept timeout 100 build/tools/memcast-ptx "$@" >"$temp/said" 2>&1; }
# A file that is made again is another file.
made() { find "$temp/kept" -name '*.o' -printf '%i %s\n' | sort; }
files() { find "$temp/kept" -name '*.o' 2>/dev/null | wc -l; }

# kernels one, two and three, and far and near, which the table has
compile "$temp/ahead" && grep -qx '5 functions are compiled; 0 cannot be' "$temp/said" && [ "$(files)" = 5 ]
result program $?
made=$(made)
compile "$temp/ahead" && [ "$(made)" = "$made" ]
result nothing_is_made_again $?
build_test ahead -fno-PIE -no-pie -O2
compile "$temp/ahead" && [ "$(made)" = "$made" ]
result fixed_addresses $?
build_test ahead -fPIE -pie -Wl,-z,pack-relative-relocs
compile "$temp/ahead" && [ "$(made)" = "$made" ]
result packed_relocations $?
if [ $processor = x86 ] && command -v aarch64-linux-gnu-gcc >/dev/null; then
	CC=aarch64-linux-gnu-gcc build_test ahead -fPIE -pie
	compile "$temp/ahead" && grep -qx '5 functions are compiled; 0 cannot be' "$temp/said"
	result arm64 $?
	build_test ahead -fPIE -pie
else
	skip arm64 'no cross compiler here: make deps-arm64'
fi
build_test ahead -fPIE -pie -DWINDOWS
compile "$temp/ahead" && grep -qx '5 functions are compiled; 0 cannot be' "$temp/said" && [ "$(files)" = 6 ]
result form_for_windows $?
compile /bin/true && grep -q '^0 functions' "$temp/said"
result no_device_code $?

printf '.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n' >"$temp/k.ptx"
compile "$temp/k.ptx" && grep -q '^1 functions' "$temp/said"
result text $?
printf '.visible .entry w() { wgmma.fence.sync.aligned; ret; }\n' >>"$temp/k.ptx"
sed -i 's/sm_90/sm_90a/' "$temp/k.ptx"
compile "$temp/k.ptx" && grep -q '1 cannot be' "$temp/said"
result lacking $?
sed -i 's/wgmma.*;/bra nowhere;/' "$temp/k.ptx"
! compile "$temp/k.ptx" && grep -q "nothing declares 'nowhere'" "$temp/said"
result unreadable $?
! compile "$temp/no-such-file" && grep -q 'cannot be read' "$temp/said"
result no_file $?

# --dump shows all kernels, or one, after optimisation: here, a multiplication by 8 is a shift
{
	printf '.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n'
	printf '.visible .entry eight(.param .u64 p) { .reg .u64 %%a; .reg .u32 %%r; ld.param.u64 %%a, [p]; '
	printf 'ld.volatile.u32 %%r, [%%a]; mul.lo.u32 %%r, %%r, 8; st.u32 [%%a], %%r; ret; }\n'
} >"$temp/k.ptx"
made=$(made)
compile --dump "$temp/k.ptx" && grep -q '^; k: loops over threads, 0 bytes of stack, for ' "$temp/said" &&
	grep -q '^; eight: ' "$temp/said" && [ "$(made)" = "$made" ]
result dump_all $?
compile --dump "$temp/k.ptx" eight && ! grep '^; k:' "$temp/said" && grep -q 'shl i32 .* 3' "$temp/said" &&
	! grep 'mul i32' "$temp/said" && grep -q '^block\.[0-9]*:' "$temp/said" && grep -qw retq "$temp/said"
result dump_one $?
# Volatile loads of words that others store are acquires, as programs poll by them without a fence.
grep -q 'load atomic volatile i32, ptr .* acquire' "$temp/said"
result volatile_loads_acquire $?
! compile --dump "$temp/k.ptx" nine && grep -q 'no kernel has PTX and the name nine' "$temp/said"
result dump_none $?
# An emulated x86 reads, and faults at, what the mask of a load leaves out: it gets none.
{
	printf '.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n) { '
	printf '.reg .u64 %%a<3>; .reg .u32 %%r<3>; .reg .pred %%p; ld.param.u64 %%a1, [p]; ld.param.u32 %%r1, [n]; '
	printf 'mov.u32 %%r2, %%tid.x; setp.ge.u32 %%p, %%r2, %%r1; @%%p ret; mul.wide.u32 %%a2, %%r2, 4; '
	printf 'add.u64 %%a1, %%a1, %%a2; ld.global.u32 %%r1, [%%a1]; st.global.u32 [%%a1+8192], %%r1; ret; }\n'
} >"$temp/tail.ptx"
compile --target=x86-64-v3 --dump "$temp/tail.ptx" && grep -q '^; k: loops' "$temp/said" &&
	! grep 'call.*llvm\.masked' "$temp/said"
result no_masked_loads $?

# memcast-vm's list of programs goes when code is removed to make room, or cannot be kept.
without_list() {
	touch "$temp/kept/ahead"
	compile "$temp/k.ptx" && grep -q '^2 functions' "$temp/said" && [ ! -e "$temp/kept/ahead" ]
}
sed -i 's/, 8;/, 7;/' "$temp/k.ptx"
(trap '' XFSZ && ulimit -f 1 && without_list)
result list_without_room $?
truncate -s 300M "$temp/kept/$(printf '%032d' 0).o"
rm "$temp/kept/lock"	# counts what was stored since someone looked
without_list
result list_of_what_is_removed $?

# cut off anywhere, a file is no more than an error
size=$(stat -c %s "$temp/ahead") good=0
for part in 1 2 3 5 7 8 9; do
	head -c $((size * part / 10)) "$temp/ahead" >"$temp/cut"
	compile "$temp/cut"
	[ $? -le 1 ] || good=1
done
result cut_off $good
exit "$failed"
