#!/bin/bash
# SPDX-License-Identifier: MIT
#
# By hand, as root, some minutes: memcast in a fresh Debian. An ordinary user builds the packages
# from the archive of the source; root installs them, the user uses them, and root removes them.
#
# Usage: packaging/tests/packages-by-hand.sh bookworm|trixie FOLDER     FOLDER may exist already
set -eu
suite=$1
root=$2
cd "$(dirname "$0")/../.."
# Mounts are made in a namespace of this process's own, so that none is ever left over.
[ "${3-}" = inside ] || exec unshare -m --propagation private "$0" "$suite" "$root" inside

version=$(sed -n 's/^PACKAGE_VERSION=//p' dkms.conf)
step() { printf '\n=== %s: %s (%d s)\n' "$suite" "$*" "$SECONDS"; }
in_root() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
	DEBIAN_FRONTEND=noninteractive "$@"; }
as_user() { in_root setpriv --reuid=1234 --regid=1234 --clear-groups env HOME=/home/user USER=user \
	bash -eo pipefail -c "cd /home/user; $1"; }
install() { in_root apt-get install -y "$@" >"$root/tmp/apt.log" 2>&1 ||
	{ tail -n 20 "$root/tmp/apt.log"; exit 1; }; }

step debootstrap
[ -e "$root/etc/debian_version" ] || debootstrap --variant=minbase "$suite" "$root" >/dev/null
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount --rbind /dev "$root/dev"
in_root apt-get update >/dev/null
in_root id user >/dev/null 2>&1 || in_root useradd -m -u 1234 -s /bin/bash user

step "what README says first: make deps"
make dist
install --no-install-recommends make
rm -rf "$root/home/user/memcast-$version"
tar -xzf "build/dist/memcast-$version.tar.gz" -C "$root/home/user"
in_root chown -R user: /home/user
in_root make -C "/home/user/memcast-$version" deps >"$root/tmp/deps.log" 2>&1 ||
	{ tail -n 20 "$root/tmp/deps.log"; exit 1; }

step "build, and a selftest in a virtual machine"
as_user "cd memcast-$version; make -j2 lib tools examples | tail -n 1"
[ -n "${NO_TEST-}" ] || as_user "cd memcast-$version; make test T=team_test 2>&1 | tail -n 3"

step "packages"
install --no-install-recommends build-essential debhelper dh-dkms lintian
as_user "cd memcast-$version; make deb; lintian --fail-on error,warning build/deb/*.changes"
in_root dpkg-query -W | sort >"$root/tmp/before"

step "install"
in_root sh -c "cp /home/user/memcast-$version/build/deb/*_amd64.deb /tmp
	rm -rf /home/user/memcast-$version /tmp/*dbgsym*"
install linux-headers-amd64 man-db
in_root sh -c 'apt-get install -y /tmp/*_amd64.deb' >"$root/tmp/apt.log" 2>&1 ||
	{ tail -n 20 "$root/tmp/apt.log"; exit 1; }
headers=$(in_root sh -c 'ls -d /usr/lib/modules/*/build | cut -d/ -f5 | tail -n 1')
in_root dkms install "memcast/$version" -k "$headers" >/dev/null 2>&1 || true
in_root dkms status | grep "memcast/$version, $headers, x86_64: installed"

step "use"
cp examples/two-ranks.c "$root/home/user/"
as_user 'gcc two-ranks.c $(pkg-config --cflags --libs memcast libmemcast) -o two-ranks
	memcast-run ./two-ranks'
as_user 'memcast-vm --devices 2 --pool-mib 16 -- memcast-smi; memcast-vm -- ./two-ranks'
as_user 'memcast-vm -- memcast-perf allreduce -e 1K | tail -n 3'
as_user 'man memcast-vm | sed -n 1,4p; man 3 memcastViewCreate | sed -n 1,4p
	man 4 memcast | sed -n 1,4p'

step "remove"
in_root apt-get purge -y memcast-dkms memcast-tools libmemcast-cuda-dev libmemcast-cuda1 \
	>/dev/null 2>&1
left=$(in_root find / -xdev -iname '*memcast*' ! -path '/home/*' ! -path '/tmp/*' \
	! -path '/proc/*' ! -path '/var/cache/*')
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
step "all done"
