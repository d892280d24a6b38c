#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: good PTX loads, and bad PTX gives an error with a line.
cd "$(dirname "$0")/../.." || exit 1
. selftests/ptx/object.sh
build_test texts -rdynamic
echo 'TAP version 13'
MEMCAST_PTX_CACHE=0 timeout 300 "$temp/texts" "$object"
