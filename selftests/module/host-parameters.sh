#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds, in one virtual machine: the module refuses wrong parameters when
# it is loaded, and says why; it lists good parameters in the log. While it may still fail to load,
# none of its files can be opened: a file would outlive the functions behind it.
cd "$(dirname "$0")/../.." || exit 1
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
release=''
eval "$(tools/memcast-kernel path 6.12)"
exporter=build/selftests/memcast_exporter-$release.ko

# parameters | the kernel's log; if that begins with "version", the module loads
version=$(sed -n 's/^PACKAGE_VERSION=//p' dkms.conf)
cat >"$temp/cases" <<END
team_slots=0|team_slots=0: no team could have bindings
devices=0|devices=0: must be 1 to
devices=100000|devices=100000: must be 1 to
devices=2 pool_mib=16,16,16|devices=2, but 3 values of pool_mib
devices=1 pool_mib=16 nodes=0,0|devices=1, but 1 values of pool_mib and 2 of nodes
devices=6 pool_mib=16 hosts=4|hosts=4: 6 devices cannot be divided among them evenly
devices=4 pool_mib=16 hosts=0|hosts=0: 4 devices cannot be divided among them evenly
devices=1 pool_mib=3|pool_mib=3: must be even
devices=1 pool_mib=0|pool_mib=0: must be even
backing=eager|backing=eager: pool_mib must say how much
devices=2 lazy_max_mib=16|version $version, 2 devices, 1 host, /dev/memcast
devices=1 pool_mib=16 nodes=9|nodes: node 9 of device 0 has no memory
devices=1 pool_mib=16 imex_channels=1 imex_mode=0777|imex_channels=1, imex_mode=0777: at most
devices=2 pool_mib=16,16 team_slots=1 imex_channels=1 imex_mode=0640|version $version, 2 devices, 1 host, /dev/memcast
devices=4 pool_mib=16 hosts=2|version $version, 4 devices, 2 hosts, /dev/memcast
END
cat >"$temp/try" <<'END'
number=0
while IFS='|' read -r words said; do
	number=$((number + 1))
	dmesg -c >/dev/null
	if insmod /memcast.ko $words 2>/dev/null; then
		dmesg | grep -q "memcast: $said\$"
		status=$?
		case $words in *imex_mode=*)
			grep -qx "${words##*imex_mode=}" \
				/sys/module/memcast/parameters/imex_mode || status=1 ;;
		esac
		# pools take what their size says, or are an H100's and take nothing yet
		case $words in
		*pool_mib=16*) told="eager 16777216" ;;
		*) told="lazy 0" ;;
		esac
		[ "$(echo $(cat /sys/module/memcast/parameters/backing \
			/sys/class/memcast/memcast0/taken_bytes))" = "$told" ] || status=1
		case $said in version*) ;; *) status=1 ;; esac
		rmmod memcast
	else
		dmesg | grep -qF "memcast: $said"
		status=$?
		case $said in version*) status=1 ;; esac
	fi
	[ $status -eq 0 ] || dmesg | sed 's/^/# /'
	[ $status -eq 0 ] && ok=ok || ok="not ok"
	echo "$ok $number parameters.$words"
done </cases

files='/dev/memcast /dev/memcast-host/0 /dev/memcast-imex/channel0'
many='devices=2 pool_mib=2 hosts=2 imex_channels=64'
: >/opened
while [ ! -e /stop ]; do
	for file in $files; do
		true <$file && echo $file >>/opened
	done
done 2>/dev/null &
# the files of the hosts, which come last, find no number
insmod /exporter.ko take_majors=1 || exit 1
for try in 1 2 3; do
	insmod /memcast.ko $many 2>/dev/null && break
done
status=$?
opened=$(sort -u /opened)
rmmod memcast_exporter
# the loop works: now it opens all
insmod /memcast.ko $many || exit 1
for file in $files; do
	until grep -qx $file /opened; do sleep 0.1; done
done
echo >/stop
wait
rmmod memcast
[ $status -ne 0 ] && [ -z "$opened" ] && ok=ok || ok="not ok"
[ -z "$opened" ] || echo "# opened, although init failed:" $opened
echo "$ok $((number + 1)) parameters.no_file_before_init_succeeds"
END

echo "TAP version 13"
echo "1..$(($(wc -l <"$temp/cases") + 1))"
env -u MAKEFLAGS -u MAKELEVEL make -s kmod "$exporter" KERNEL=6.12 >"$temp/said" 2>&1 &&
	tools/memcast-vm --no-module --root --memory 512 \
		--add "build/kmod-$release/memcast.ko:/memcast.ko" \
		--add "$exporter:/exporter.ko" \
		--add "$temp/cases:/cases" --add "$temp/try:/try" -- sh /try 2>>"$temp/said" ||
	sed 's/^/# /' "$temp/said"
