#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: DKMS, in folders of its own, builds the module for each kernel
# from what `make install DKMS=yes` installs, and from a clone.
cd "$(dirname "$0")/../.." || exit 1
. selftests/base/tap.sh
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
PATH=$temp/bin:$PATH:/usr/sbin:/sbin
root=$temp/root
version=$(sed -n 's/^PACKAGE_VERSION=//p' dkms.conf)

if ! command -v dkms >/dev/null; then
	plan dkms 1
	skip dkms "no dkms here: apt-get install dkms"
	exit 0
elif [ "$(id -u)" -ne 0 ]; then
	plan dkms 1
	skip dkms "needs root, as dkms does"
	exit 0
fi

# dkms_here VERB…: runs DKMS, which writes nothing outside of $temp
dkms_here() {
	dkms "$@" --dkmstree "$temp/dkms" --sourcetree "$root/usr/src" \
		--installtree "$root/lib/modules" --no-depmod
}

# build KERNEL: builds the module, installs and checks it; after a failure, prints the end of make's
# log
build() {
	is_built "$1" && return
	find "$temp/dkms" -name make.log -exec tail -n 20 {} +
	return 1
}

is_built() {
	release='' kdir=''
	eval "$(tools/memcast-kernel path "$1")" && mkdir -p "$root/lib/modules/$release" &&
	dkms_here install "memcast/$version" -k "$release" --kernelsourcedir="$kdir" &&
	file=$(find "$root/lib/modules/$release" -name 'memcast.ko*') &&
	[ "$(modinfo -F vermagic "$file" | cut -d' ' -f1)" = "$release" ] &&
	[ "$(modinfo -F version "$file")" = "$version" ]
}

# Without openssl, DKMS makes no key for signatures in /var/lib/dkms.
mkdir -p "$temp/bin" "$temp/dkms"
ln -s /bin/false "$temp/bin/openssl"

plan dkms 6
env -u MAKEFLAGS -u MAKELEVEL make install DKMS=yes DESTDIR="$root" >"$temp/said" 2>&1 &&
	dkms_here add "memcast/$version" >>"$temp/said" 2>&1
result add_installed_source $?
build 6.12 >"$temp/said" 2>&1
result build_6.12 $?
build 6.1 >"$temp/said" 2>&1
result build_6.1 $?
dkms_here remove "memcast/$version" --all >"$temp/said" 2>&1 &&
	env -u MAKEFLAGS -u MAKELEVEL make uninstall DKMS=yes DESTDIR="$root" >"$temp/said" 2>&1 &&
	find "$root" ! -type d >>"$temp/said" && [ -z "$(find "$root" ! -type d)" ]
result uninstall $?

mkdir "$temp/clone"
cp -r dkms.conf Kbuild kmod include Makefile README.md "$temp/clone"
dkms_here add "$temp/clone" >"$temp/said" 2>&1
result add_clone $?
build 6.12 >"$temp/said" 2>&1
result build_clone $?
exit $failed
