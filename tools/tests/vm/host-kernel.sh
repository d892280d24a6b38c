#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: memcast-kernel fetches kernels from a made-up archive, whose
# packages are empty but named and laid out like Ubuntu's and Debian's.
cd "$(dirname "$0")/../../.." || exit 1
. selftests/base/tap.sh
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT

for tool in apt-get dpkg-deb depmod xz zstd; do
	command -v "$tool" >/dev/null ||
		PATH=$PATH:/usr/sbin:/sbin command -v "$tool" >/dev/null || {
		plan kernel 1
		skip fetch "no $tool here"
		exit 0
	}
done

# package NAME DEPENDS: makes a package of $temp/files, and empties that folder
package() {
	mkdir -p "$temp/files/DEBIAN" "$temp/archive"
	cat >"$temp/files/DEBIAN/control" <<-END
	Package: $1
	Version: 1
	Architecture: amd64
	Maintainer: memcast's selftests <nobody@localhost>
	Description: an empty one
	${2:+Depends: $2}
	END
	sed -i '/^$/d' "$temp/files/DEBIAN/control"
	dpkg-deb --build --root-owner-group "$temp/files" "$temp/archive/$1_1_amd64.deb" \
		>/dev/null &&
	{
		cat "$temp/files/DEBIAN/control"
		echo "Filename: ./$1_1_amd64.deb"
		echo "Size: $(stat -c %s "$temp/archive/$1_1_amd64.deb")"
		printf 'SHA256: %s\n\n' \
			"$(sha256sum <"$temp/archive/$1_1_amd64.deb" | cut -d' ' -f1)"
	} >>"$temp/archive/Packages"
	rm -rf "$temp/files"
	mkdir "$temp/files"
}

# file PATH [TEXT]: adds a file to the next package
file() {
	mkdir -p "$temp/files/$(dirname "$1")"
	echo "${2-}" >"$temp/files/$1"
}

# module PATH: adds a module; any object file will do for depmod
module() {
	mkdir -p "$temp/files/$(dirname "$1")"
	cp "$temp/empty.o" "$temp/files/$1"
}

# image PATH TEXT: adds a kernel image whose header says that TEXT is packed in it, by zstd
image() {
	mkdir -p "$temp/files/$(dirname "$1")"
	printf '%s' "$2" | zstd -qc >"$temp/packed"
	bytes=$(($(stat -c %s "$temp/packed") + 4))
	{
		head -c 497 /dev/zero
		printf '\001'
		head -c $((584 - 498)) /dev/zero
		printf '\000\000\000\000'
		# shellcheck disable=SC2059 # the format is what makes the bytes
		printf "\\$(printf %o $((bytes % 256)))\\$(printf %o $((bytes / 256)))\\000\\000"
		head -c $((1024 - 592)) /dev/zero
		cat "$temp/packed"
		printf '\000\000\000\000'
	} >"$temp/files/$1"
}

# ubuntu VERSION [no-headers]: makes Ubuntu's generic kernel of that name, of seven packages
ubuntu() {
	image "boot/vmlinuz-$1-generic" "kernel $1"
	package "linux-image-$1-generic" "linux-modules-$1-generic"
	module "lib/modules/$1-generic/kernel/base.ko"
	file "lib/modules/$1-generic/modules.order"
	file "lib/modules/$1-generic/modules.builtin"
	package "linux-modules-$1-generic"
	module "lib/modules/$1-generic/kernel/extra.ko"
	package "linux-modules-extra-$1-generic" "linux-modules-$1-generic"
	package "linux-image-unsigned-$1-generic"
	package "linux-image-$1-lowlatency"
	[ -z "${2-}" ] || return 0
	file "usr/src/linux-headers-$1/Makefile" "all:"
	package "linux-headers-$1"
	mkdir -p "$temp/files/usr/src/linux-headers-$1-generic/include/generated"
	ln -s "../linux-headers-$1/Makefile" "$temp/files/usr/src/linux-headers-$1-generic/Makefile"
	file "usr/src/linux-headers-$1-generic/include/generated/utsrelease.h" \
		"#define UTS_RELEASE \"$1-generic\""
	mkdir -p "$temp/files/lib/modules/$1-generic"
	ln -s "/usr/src/linux-headers-$1-generic" "$temp/files/lib/modules/$1-generic/build"
	package "linux-headers-$1-generic" "linux-headers-$1"
}

# debian RELEASE: makes Debian's amd64 kernel as it is since 7.3, of seven packages
debian() {
	package "linux-image-$1-amd64" \
		"linux-base-$1-amd64, linux-binary-$1-amd64, linux-modules-$1-amd64"
	file "usr/lib/modules/$1-amd64/modules.order"
	file "usr/lib/modules/$1-amd64/modules.builtin"
	package "linux-base-$1-amd64"
	image "usr/lib/modules/$1-amd64/vmlinuz" "kernel $1"
	package "linux-binary-$1-amd64" "linux-base-$1-amd64"
	module "usr/lib/modules/$1-amd64/kernel/base.ko"
	package "linux-modules-$1-amd64" "linux-base-$1-amd64"
	file "usr/src/linux-headers-$1-amd64/Makefile" \
		"include /usr/src/linux-headers-$1-common/Makefile"
	file "usr/src/linux-headers-$1-amd64/.kernelvariables" 'CC = $(CROSS_COMPILE)gcc-4'
	package "linux-headers-$1-amd64" \
		"linux-headers-$1-common, linux-kbuild-$1, linux-image-$1-amd64-unsigned"
	file "usr/src/linux-headers-$1-common/Makefile" "all:"
	package "linux-headers-$1-common"
	file "usr/lib/linux-kbuild-$1/scripts/mark"
	package "linux-kbuild-$1"
	package "linux-image-$1-cloud-amd64"
}

# fetched NAME RELEASE MODULE…: fetches a kernel; it is that release, complete, and make finds its
# Makefile
fetched() {
	name=$1 expected=$2
	shift 2
	tools/memcast-kernel fetch "$name" >"$temp/said" 2>&1 &&
	tools/memcast-kernel path "$name" >>"$temp/said" &&
	eval "$(tools/memcast-kernel path "$name")" &&
	[ "$release" = "$expected" ] && grep -q '^kernel' "$vmlinuz" &&
	make -s -C "$kdir" all >>"$temp/said" 2>&1 &&
	[ "$(readlink -f "$modules/build")" = "$(readlink -f "$kdir")" ] || return 1
	for module; do
		[ -n "$(modinfo -b "$modules/../../.." -k "$release" -F filename "$module" \
			2>>"$temp/said")" ] || return 1
	done
}

echo | cc -x c -c -o "$temp/empty.o" - || exit 1
ubuntu 6.8.0-9
ubuntu 6.8.0-31
ubuntu 6.8.0-40 no-headers
ubuntu 6.5.0-44
debian 7.3.4+deb13
mkdir -p "$temp/apt/state/lists/partial" "$temp/apt/cache/archives/partial"
: >"$temp/apt/status"
echo "deb [trusted=yes] file:$temp/archive ./" >"$temp/apt/sources.list"
cat >"$temp/apt/conf" <<END
Dir::Etc::sourcelist "$temp/apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State "$temp/apt/state";
Dir::State::status "$temp/apt/status";
Dir::Cache "$temp/apt/cache";
APT::Architecture "amd64";
APT::Architectures { "amd64"; };
APT::Sandbox::User "$(id -un)";
END
export APT_CONFIG="$temp/apt/conf" MEMCAST_CACHE="$temp/cache"
apt-get update >"$temp/said" 2>&1 ||
	{ sed 's/^/# /' "$temp/said"; echo "Bail out! apt-get update failed"; exit 1; }

plan kernel 6
fetched 6.8 6.8.0-31-generic base extra
result ubuntu_by_series $?
fetched generic 6.8.0-31-generic base extra
result ubuntu_by_name $?
fetched 6.5 6.5.0-44-generic base
result ubuntu_older_series $?
fetched 7.3 7.3.4+deb13-amd64 base &&
	[ -e "$kdir/../../lib/linux-kbuild-7.3.4+deb13/scripts/mark" ] &&
	printf 'include .kernelvariables\nall:\n\t@echo $(CC)\n' |
	make -s -C "$kdir" -f - >"$temp/said" &&
	grep -qx gcc "$temp/said"
result debian_split $?
ubuntu 6.8.0-50
apt-get update >"$temp/said" 2>&1 && fetched 6.8 6.8.0-31-generic &&
	tools/memcast-kernel fetch 6.8 --update >"$temp/said" 2>&1 &&
	fetched 6.8 6.8.0-50-generic extra
result update $?
! tools/memcast-kernel fetch nonsense >"$temp/said" 2>&1 &&
	grep -q 'a series such as' "$temp/said" &&
	! tools/memcast-kernel path 6.9 >"$temp/said" 2>&1 &&
	grep -q 'run: tools/memcast-kernel fetch 6.9' "$temp/said"
result advice $?
exit $failed
