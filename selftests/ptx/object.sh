# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
#
# What the host-*.sh of memcast-ptx.so begin with. Such a script reads this file in the top folder:
#
#	. selftests/ptx/object.sh	has tap.sh, the folder $temp, and the path $object
#	build_test NAME [FLAG…]		compiles host-NAME.c into $temp/NAME
#
# The script ends, as skipped, where memcast-ptx.so is not built, and, as failed, where the program
# does not compile.
. selftests/base/tap.sh
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
object=$PWD/build/lib/memcast-ptx.so
processor=x86
[ "$(uname -m)" != aarch64 ] || processor=arm64

build_test() {
	local name=$1
	shift
	if [ ! -e "$object" ]; then
		plan ptx 1
		skip "$name" 'memcast-ptx.so is not built: LLVM has no headers here'
		exit 0
	fi
	${CC:-gcc} -std=gnu11 -D_GNU_SOURCE= -O1 -Wall -Wextra -Werror -Ilib -Ilib/fault/$processor -Iinclude -Iinclude/cuda -Iselftests/base \
		-o "$temp/$name" "selftests/ptx/host-$name.c" -ldl "$@" 2>"$temp/said" && return
	plan ptx 1
	result "$name" 1
	exit "$failed"
}
