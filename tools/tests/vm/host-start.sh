#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: what memcast-vm does before a machine boots, on computers whose
# folders and files are not as usual. A false QEMU ends at once, so nothing is booted.
cd "$(dirname "$0")/../../.." || exit 1
. selftests/base/tap.sh
vm=$PWD/tools/memcast-vm
temp=$(mktemp -d)
other=
trap 'rm -rf "$temp" ${other:+"$other"}' EXIT
mkdir "$temp/bin" "$temp/home"
for name in qemu-system-x86_64 qemu-system-aarch64; do
	printf '#!/bin/sh\necho >>"%s/called"\nexit 1\n' "$temp" >"$temp/bin/$name"
	chmod +x "$temp/bin/$name"
done
status=0

# run OPTION…: with the false QEMU, and by the command $as
as=
run() {
	rm -f "$temp/called"
	PATH="$temp/bin:$PATH" $as "$vm" "$@" >"$temp/out" 2>"$temp/err" </dev/null
	status=$?
}

# check NAME COMMAND…: a failed command shows what the last run said
check() {
	if "${@:2}"; then
		passes "$1"
	else
		fails "$1" < <(tail -n 20 "$temp/err"; echo "status $status")
	fi
}
told() { [ $status -eq 125 ] && grep -qE -- "$1" "$temp/err"; }
reaches_qemu() { [ -e "$temp/called" ]; }

plan start 28

# A build that is not noted is made again, with files of this run where another disk is.
if [ -w /dev/shm ] && [ "$(stat -c %d /dev/shm)" != "$(stat -c %d build)" ]; then
	other=$(mktemp -d -p /dev/shm)
	run --no-module -- true
	rm -f build/made-*
	TMPDIR=$other run --no-module -- true
	check folder_for_files_is_on_another_disk eval 'reaches_qemu && ls build/made-* >/dev/null'
	cp /bin/true "$other/program"
	run --no-module -- "$other/program"
	check program_that_the_machine_hides told "$other/program is where the machine has a file system"
	run --no-module --rw "$other" -- "$other/program"
	check program_in_a_folder_of_rw reaches_qemu
	ln -s "$other" "$temp/link"
	run --no-module -- "$temp/link/program"
	check program_below_a_link reaches_qemu
else
	for name in folder_for_files_is_on_another_disk program_that_the_machine_hides \
			program_in_a_folder_of_rw program_below_a_link; do
		skip $name 'no /dev/shm on a disk of its own'
	done
fi
run --no-module --add /bin/true:/dev/shm/true -- true
check file_that_the_machine_hides told 'the machine has .* where /dev/shm/true would be'
run --no-module -- cat /proc/self/mem
check argument_that_the_machine_has_its_own_of reaches_qemu
run --no-module --env npm_config_//a.b:key=1 -- true
check variable_of_any_name reaches_qemu
run --no-module --env =1 -- true
check variable_without_a_name told '--env takes NAME=VALUE or NAME'
run --no-module --host -- cat /sys/devices/system/cpu/online
check argument_that_cannot_be_mapped reaches_qemu
# a program of nvcc's, which has no kernel in PTX
{ cat /bin/true; printf .nvFatBinSegment; } >"$temp/program"
chmod +x "$temp/program"
MEMCAST_CACHE=${MEMCAST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/memcast} HOME=$temp/home \
	XDG_CACHE_HOME='' run --no-module --host -- "$temp/program"
check no_code_to_keep reaches_qemu
MEMCAST_PTX_CACHE=/proc/none run --no-module --host -- "$temp/program"
check code_that_cannot_be_kept \
	told 'compiled kernels cannot be kept in /proc/none: No such file or directory'
mkdir "$temp/removed"
(cd "$temp/removed" && rmdir "$temp/removed" && "$vm" ps >"$temp/out" 2>"$temp/err" </dev/null)
status=$?
check current_folder_was_removed [ $status -eq 0 ]
run --verbose=yes -- true
check flag_with_a_value told '--verbose takes no value'
TMPDIR=$temp/none run --no-module -- true
check no_folder_for_files told "no folder can be made in $temp/none: No such file .*set TMPDIR"
as='prlimit --fsize=100000'
run --no-module -- true
as=
check no_room_for_files told '/initrd cannot be written: File too large; set TMPDIR'
run --rw /sys/kernel -- true
check folder_that_the_machine_has told '--rw: the machine has its own /sys/kernel'
run --keep-log "$temp/none/log" -- true
check log_that_cannot_be_written told '--keep-log: .* cannot be written: No such file'

# A false make says for a false kernel what would be built: a program that only --hosts packs, too,
# as nothing notes later that it is older than its source.
image=x86/boot/bzImage
[ "$(uname -m)" != aarch64 ] || image=arm64/boot/Image
mkdir -p "$temp/kernel/include/generated" "$temp/kernel/arch/${image%/*}" "$temp/false"
touch "$temp/kernel/arch/$image"
echo '#define UTS_RELEASE "0.0-start"' >"$temp/kernel/include/generated/utsrelease.h"
printf '#!/bin/sh\n{ echo "$@"; env; } >"%s/goals"\nexit 1\n' "$temp" >"$temp/false/make"
chmod +x "$temp/false/make"
PATH=$temp/false:$PATH run --kernel "$temp/kernel" -- true
check all_tools_are_built eval 'told "building failed" && grep -q /memcast-hosts "$temp/goals"'
# what people export who build kernels of their own; a kernel of clang's has modules of clang's
ARCH=um CROSS_COMPILE=x- KCFLAGS=-x KERNEL=6.12 LLVM=-18 PATH=$temp/false:$PATH \
	run --kernel "$temp/kernel" -- true
check variables_for_other_kernels eval 'told "building failed" &&
	! grep -E "^(ARCH|CROSS_COMPILE|KCFLAGS|KERNEL|LLVM)=" "$temp/goals"'
printf '# a kernel\nCONFIG_CC_IS_CLANG=y\n' >"$temp/kernel/.config"
LLVM=-18 PATH=$temp/false:$PATH run --kernel "$temp/kernel" -- true
check kernel_of_clang eval 'told "building failed" && grep -x LLVM=-18 "$temp/goals" >/dev/null'

# /bin/true is not static.
cp /bin/true "$temp/false/busybox"
PATH=$temp/false:$PATH run --no-module -- true
check busybox_with_libraries told 'busybox needs libraries.*busybox-static'

# A file of data is not searched to its end.
{ head -c 2M /dev/zero; echo cuGetExportTable cudaErrorCudartUnloading; } >"$temp/data"
run --no-module --host -- cat "$temp/data"
check data_is_not_searched eval 'reaches_qemu && ! grep -q "static runtime" "$temp/err"'

(cd "$temp" && MEMCAST_CACHE=cache run --no-module -- true; echo $status >"$temp/status")
status=$(cat "$temp/status")
check cache_of_each_folder \
	eval 'told "by its whole path; the cache is cache$" && [ ! -e "$temp/cache" ]'
env -u HOME -u XDG_CACHE_HOME -u MEMCAST_CACHE tools/memcast-kernel deps >"$temp/out" 2>"$temp/err"
status=$?
check kernels_without_home [ $status -eq 0 ]
XDG_CACHE_HOME=some MEMCAST_CACHE='' tools/memcast-kernel path 6.12 2>"$temp/err"
status=$?
check kernels_of_each_folder eval '[ $status -eq 1 ] && grep -q "cache is some/memcast$" "$temp/err"'
MEMCAST_CACHE=$temp/cache tools/memcast-kernel fetch kcsan 2>"$temp/err"
status=$?
check kernels_that_are_built eval '[ $status -eq 1 ] && grep -q "run: .*build kcsan$" "$temp/err"'

# Nobody can read this file's first bytes. The other one is root's as well, who has to do without
# the right to read all files.
run --no-module --add /proc/self/mem:/file -- true
check file_that_cannot_be_read told '/mem cannot be read: Input/output error$'
[ "$(id -u)" -ne 0 ] || as='setpriv --bounding-set -dac_override,-dac_read_search'
touch "$temp/secret"
chmod 0 "$temp/secret"
if ! $as true 2>/dev/null || $as cat "$temp/secret" 2>/dev/null; then
	skip argument_that_may_not_be_read 'root reads all files here'
else
	run --no-module -- echo "$temp/secret"
	check argument_that_may_not_be_read reaches_qemu
fi
exit $failed
