#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: DKMS, in folders of its own, builds the module
# for each kernel from what `make install DKMS=yes` installs, and from a clone.
cd "$(dirname "$0")/../.." || exit 1
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
PATH=$temp/bin:$PATH:/usr/sbin:/sbin
root=$temp/root
version=$(sed -n 's/^PACKAGE_VERSION=//p' dkms.conf)
failed=0

echo "TAP version 13"
if ! command -v dkms >/dev/null; then
	echo "1..1"
	echo "ok 1 dkms # SKIP no dkms here: apt-get install dkms"
	exit 0
elif [ "$(id -u)" -ne 0 ]; then
	echo "1..1"
	echo "ok 1 dkms # SKIP needs root, as dkms does"
	exit 0
fi

# result NUMBER NAME STATUS: what was said is in $temp/said
result() {
	if [ "$3" -eq 0 ]; then
		echo "ok $1 dkms.$2"
	else
		failed=1
		sed 's/^/# /' "$temp/said"
		find "$temp/dkms" -name make.log -exec tail -n 20 {} + | sed 's/^/# /'
		echo "not ok $1 dkms.$2"
	fi
}

# dkms_here VERB…: DKMS, with nothing outside of $temp
dkms_here() {
	dkms "$@" --dkmstree "$temp/dkms" --sourcetree "$root/usr/src" \
		--installtree "$root/lib/modules" --no-depmod
}

# build KERNEL: build and install, and see whether it is of that kernel
build() {
	release='' kdir=''
	eval "$(tools/memcast-kernel path "$1")" && mkdir -p "$root/lib/modules/$release" &&
	dkms_here install "memcast/$version" -k "$release" --kernelsourcedir="$kdir" &&
	file=$(find "$root/lib/modules/$release" -name 'memcast.ko*') &&
	[ "$(modinfo -F vermagic "$file" | cut -d' ' -f1)" = "$release" ] &&
	[ "$(modinfo -F version "$file")" = "$version" ]
}

# It would make a key to sign with in /var/lib/dkms.
mkdir -p "$temp/bin" "$temp/dkms"
ln -s /bin/false "$temp/bin/openssl"

echo "1..6"
env -u MAKEFLAGS -u MAKELEVEL make install DKMS=yes DESTDIR="$root" >"$temp/said" 2>&1 &&
	dkms_here add "memcast/$version" >>"$temp/said" 2>&1
result 1 add_installed_source $?
build 6.12 >"$temp/said" 2>&1
result 2 build_6.12 $?
build 6.1 >"$temp/said" 2>&1
result 3 build_6.1 $?
dkms_here remove "memcast/$version" --all >"$temp/said" 2>&1 &&
	env -u MAKEFLAGS -u MAKELEVEL make uninstall DKMS=yes DESTDIR="$root" >"$temp/said" 2>&1 &&
	find "$root" ! -type d >>"$temp/said" && [ -z "$(find "$root" ! -type d)" ]
result 4 uninstall $?

mkdir "$temp/clone"
cp -r dkms.conf Kbuild kmod include Makefile README.md "$temp/clone"
dkms_here add "$temp/clone" >"$temp/said" 2>&1
result 5 add_clone $?
build 6.12 >"$temp/said" 2>&1
result 6 build_clone $?
exit $failed
