#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: pytest with memcast-vm, as docs/your-tools.md describes it, if it
# is installed. It runs a test that succeeds, and one that fails. (host-files.sh has gdb.)
cd "$(dirname "$0")/../../.." || exit 1
. selftests/base/tap.sh
top=$PWD
temp=$(mktemp -d "$PWD/build/host-runners.XXXXXX")
chmod 755 "$temp"
trap 'rm -rf "$temp"' EXIT
mkdir "$temp/out"
cd "$temp" || exit 1
vm=("$top/tools/memcast-vm" --rw "$temp/out" --devices 2 --pool-mib 16 --)

with_pytest() {
	cat >test_devices.py <<-'END'
		import ctypes

		cuda = ctypes.CDLL("libcuda.so.1")


		def devices():
		    count = ctypes.c_int()
		    assert cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0
		    return count.value


		def test_two():
		    assert devices() == 2


		def test_three():
		    assert devices() == 3
	END
	! "${vm[@]}" "$python" -m pytest -p no:cacheprovider \
		--junitxml=out/junit.xml test_devices.py >pytest.out || return
	cat pytest.out
	grep -q 'failures="1".* tests="2"' out/junit.xml
}

plan runners 1
# Debian's package of pytest is for Debian's own python3, which need not be the first in PATH.
for python in python3 /usr/bin/python3 ''; do
	[ -z "$python" ] || ! "$python" -c 'import pytest' 2>/dev/null || break
done
if [ -z "$python" ]; then
	skip pytest "no pytest here"
else
	with_pytest >"$temp/said" 2>&1
	result pytest $?
fi
exit $failed
