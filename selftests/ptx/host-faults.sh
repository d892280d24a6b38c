#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: faulty kernels, of faults/, end their launch with words that name
# the line, by default or under MEMCAST_PTX_CHECK; kernels without a fault run under it as they do.
cd "$(dirname "$0")/../.." || exit 1
. selftests/ptx/object.sh
build_test faults
echo 'TAP version 13'
MEMCAST_PTX_CACHE=0 timeout 300 "$temp/faults" "$object" selftests/ptx/faults/*.ptx
