#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: builds selftests/ as one of a kernel's selftests, and runs those
# of its programs that need most libraries.
cd "$(dirname "$0")/../.." || exit 1
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT

echo "TAP version 13"
echo "1..1"
if {
	source=$(tools/memcast-kernel source) && cp -r "$source/tools" "$temp" &&
	folder=$temp/tools/testing/selftests/memcast &&
	cp -r selftests "$folder" &&
	env -u MAKEFLAGS -u MAKELEVEL make -s -C "$folder" MEMCAST="$PWD" \
		"$folder/smi_test" "$folder/vivid_team_test" "$folder/memcast-smi" &&
	env -u MAKEFLAGS -u MAKELEVEL make -s -C "$folder" MEMCAST="$PWD" clean &&
	[ ! -e "$folder/smi_test" ] && [ ! -e "$folder/shared.a" ]
} >"$temp/said" 2>&1; then
	echo "ok 1 kselftest.builds_in_a_kernel"
else
	sed 's/^/# /' "$temp/said"
	echo "not ok 1 kselftest.builds_in_a_kernel"
	exit 1
fi
