#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: whole kernels write and print what they do on an H100
# (kernels.txt).
cd "$(dirname "$0")/../.." || exit 1
. selftests/ptx/object.sh
build_test kernels
echo 'TAP version 13'
timeout 300 "$temp/kernels" "$object" selftests/ptx/kernels.txt
