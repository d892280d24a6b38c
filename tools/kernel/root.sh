# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Part of memcast-kernel: the programs that build modules for a kernel of a newer Debian.
# They and the compiler do not run with an older system's C library. So they are unpacked
# beside the kernel in the cache, with their libraries, and run with bubblewrap.

root_packages=(base-files bash binutils coreutils dash diffutils findutils grep kmod make mawk
	perl-base sed sparse)

# compiler_of DIR: print the compiler that an unpacked kernel asks for, such as gcc-14, if any
compiler_of() {
	sed -nE 's/^CC =.*(gcc-[0-9]+).*/\1/p' "$1/kdir/.kernelvariables" 2>/dev/null
}

# builds_here DIR: whether this system can build modules for an unpacked kernel. A newer
# gcc than the kernel's is fine; an older one lacks options of the kernel's Makefile.
builds_here() {
	local compiler
	if ldd "$1/kdir/scripts/basic/fixdep" 2>&1 | grep -q 'not found'; then return 1; fi
	compiler=$(compiler_of "$1")
	[ "$arch" = "$own" ] || return 0	# the cross compiler is installed
	[ -z "$compiler" ] || command -v "$compiler" >/dev/null ||
		[ "$(gcc -dumpversion | cut -d. -f1)" -ge "${compiler#gcc-}" ]
}

# make_root DIR: download and unpack what builds_here() misses, from the archives in use
make_root() {
	local dir=$1 compiler deb tools
	compiler=$(compiler_of "$dir")
	[ -n "$compiler" ] || die "the programs in $dir/kdir/scripts do not run here"
	need bubblewrap
	say "fetching $compiler and what it needs to run here, some 80 MB"
	mkdir -p "$dir/debs/partial" "$dir/build-root/usr/bin"
	mapfile -t tools < <(depends "$(cd "$dir/usr/lib" && echo linux-kbuild-*)")
	apt-get "${apt_options[@]}" -o Dir::Cache::archives="$dir/debs" -y --no-install-recommends \
		--download-only install "$compiler" "${root_packages[@]}" "${tools[@]}" |
		grep -E '^(Get|Fetched)' >&2 || die "download failed"
	for deb in "$dir"/debs/*.deb; do dpkg-deb -x "$deb" "$dir/build-root"; done
	ln -sf mawk "$dir/build-root/usr/bin/awk"
	rm -rf "$dir/debs" "$dir/build-root/usr/share/doc" "$dir/build-root/usr/share/man"
}

# in_root DIR COMMAND…: run COMMAND in the build root of that kernel, if it has one
in_root() {
	local dir=$1 top=${here%/*}
	shift
	[ -e "$dir/build-root" ] || exec "$@"
	# an installed memcast-vm builds in the cache
	[ ! -e "$here/installed" ] || top=$cache/installed
	need bubblewrap
	exec bwrap --tmpfs / --dev /dev --proc /proc --tmpfs /tmp \
		--ro-bind "$dir/build-root/usr" /usr \
		--symlink usr/bin /bin --symlink usr/sbin /sbin --symlink usr/lib /lib \
		--symlink usr/lib64 /lib64 --ro-bind "$cache" "$cache" --bind "$top" "$top" \
		--setenv PATH /usr/bin:/usr/sbin --die-with-parent "$@"
}
