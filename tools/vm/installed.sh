# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Where memcast is installed, memcast-vm has no folder to build in. Each user has one in the
# cache, with the names of build/ in the source tree. Used by memcast-vm only, with its
# variables: here, cache, kernel, kdir, release, module.

# The file `installed` beside memcast-vm says where `make install` has put the rest:
# installed_version, and relative to itself programs, libraries and module_source.
use_installed() {
	local tool
	# shellcheck disable=SC1091
	. "$here/installed"
	build=$cache/installed tools=$cache/installed/tools
	libraries=$(realpath "$here/$libraries")
	mkdir -p "$build/tools"
	for tool in "$here"/vm-init "$here"/vm-watch "$here"/vm-door "$here/$programs"/memcast-*; do
		[ ! -e "$tool" ] || ln -sfn "$(realpath -s "$tool")" "$build/tools/${tool##*/}"
	done
}

# The module's own makefile does the work. It runs only if the module's source or the kernel's build
# has changed since the last time, as make takes seconds even if all is built.
build_installed_module() {
	local source part folder=$build/kmod-$release stamp runner=()
	source=$(realpath "$here/$module_source")
	stamp=$(cd "$source" && find . "$here/vm/module" -type f -print0 | sort -z |
			xargs -0 sha256sum | sha256sum
		stat -Lc '%n %Y' "$kdir/Module.symvers" 2>/dev/null || true)
	[ ! -e "$folder/memcast.ko" ] || [ "$stamp" != "$(cat "$folder/stamp" 2>/dev/null)" ] ||
		return 0
	note "building memcast.ko for linux $release"
	! "$here/memcast-kernel" is-fetched "$kernel" ||
		runner=("$here/memcast-kernel" run "$kernel")
	rm -rf "$folder"
	mkdir -p "$folder"
	cp -R "$source/." "$folder/"
	cp -R "$here/vm/module" "$folder/vm"
	# BTF needs vmlinux and pahole, signatures need the builder's key: the module has neither.
	for part in "$folder" "$folder/vm"; do
		"${runner[@]}" make --no-print-directory -C "$kdir" M="$part" \
			CONFIG_DEBUG_INFO_BTF_MODULES= CONFIG_MODULE_SIG_ALL= -j"$(nproc)" \
			modules >&2 || return
	done
	echo "$stamp" >"$folder/stamp"
}
