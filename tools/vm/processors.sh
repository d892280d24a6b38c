# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: MIT
#
# What differs between memcast-vm's machines by their processors, x86 or arm64, and programs for other
# processors than this computer's. Used by memcast-vm only, with its variables: top, kernel,
# wanted_arch, icount, host, goals, host_goals; sets arch, own, sysroot, build, libraries, qemu_program,
# built_image, board, board_words, emulated, passed.

own=x86
[ "$(uname -m)" != aarch64 ] || own=arm64
arch=$own sysroot=

# Chooses the processors: --arch's, or those of the kernel
choose_arch() {
	case ${wanted_arch:=$own} in
	x86|arm64) ;;
	*) die "--arch takes x86 or arm64, not '$wanted_arch'" ;;
	esac
	arch=$wanted_arch
	case $kernel in
	*-arm64|*-arm64-*k) arch=arm64 ;;
	*) if [ -e "$kernel/arch/arm64/boot/Image" ]; then
		arch=arm64
	   elif [ "$arch" = arm64 ] && [ "$own" != arm64 ]; then
		[[ $kernel =~ ^[0-9.]+$ ]] ||
			die "--arch arm64 takes a kernel such as 6.12, or a build folder, not '$kernel'"
		kernel+=-arm64
	   fi ;;
	esac
	if [ "$arch" = arm64 ]; then
		qemu_program=qemu-system-aarch64 built_image=arch/arm64/boot/Image
		board=(-machine "virt,gic-version=max") board_words="console=ttyAMA0"
		# Pointer authentication as the architecture has it takes three times as long.
		emulated=max,pauth-impdef=on
		passed=0
		[ -z "$icount" ] || die "--icount: for x86 only, as the machine needs four serial ports"
	else
		qemu_program=qemu-system-x86_64 built_image=arch/x86/boot/bzImage
		board=(-machine pc -device "isa-debug-exit,iobase=0xf4,iosize=4")
		# An emulated timer comes late on a busy host, and linux's test whether it ticks fails.
		board_words="console=ttyS0 no_timer_check"
		emulated=max,-erms,-fsrm
		passed=85	# what init's write to isa-debug-exit makes of QEMU's exit status
	fi
	[ "$arch" != "$own" ] || return 0
	[ "$arch" = arm64 ] || die "machines of $arch are for computers of $arch only"
	[ ! -e "$here/installed" ] || die "machines of $arch need memcast's source tree here"
	[ -z "$host" ] || die "--host, --rw, --out and --reuse: this computer's programs are not for $arch"
	sysroot=$("$here/memcast-kernel" sysroot) || exit 125
	build=$top/build/$arch libraries=$top/build/$arch/lib
}

# Builds the goals; programs that run on this computer by a make of its own
make_all() {
	if [ -n "$sysroot" ]; then
		make --no-print-directory -C "$top" "${host_goals[@]}" &&
			make --no-print-directory -C "$top" "${goals[@]}" ARCH="$arch" KERNEL="$kernel"
	else
		make --no-print-directory -C "$top" "${goals[@]}" "${host_goals[@]}" KERNEL="$kernel"
	fi
}

# check_foreign FILE: a program has to be for the machine's processors
check_foreign() {
	[ "$(od -An -tx1 -N 4 "$1" | tr -d ' ')" != 7f454c46 ] ||
		[ "$(od -An -tx1 -j 18 -N 2 "$1" | tr -d ' ')" = b700 ] ||
		die "$1 is not for $arch: make ARCH=$arch builds memcast's programs into build/$arch"
}

# Packs the libraries of a program for other processors: memcast's, or those of the sysroot
declare -A found_for=()
pack_foreign() {
	local lib folder=usr/lib/aarch64-linux-gnu
	for lib in $(readelf -d "$1" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p') \
		   libgcc_s.so.1; do
		[ -z "${found_for[$lib]-}" ] || continue
		found_for[$lib]=yes
		if [ -e "$libraries/$lib" ]; then
			pack "$libraries/$lib"
			pack_foreign "$libraries/$lib"
		elif [ -e "$sysroot/$folder/$lib" ]; then
			pack "$sysroot/$folder/$lib" "$folder/$lib"
			pack_foreign "$sysroot/$folder/$lib"
		else
			die "$1 needs $lib, which is not found for $arch"
		fi
	done
	lib=lib/ld-linux-aarch64.so.1
	pack "$sysroot/$lib" "usr/$lib"
}
