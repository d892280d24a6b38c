#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: random kernels with barriers, loops and branches give the same as
# loops over threads and with a stack for each thread.
cd "$(dirname "$0")/../.." || exit 1
. selftests/ptx/object.sh
build_test cut
timeout 600 "$temp/cut" "$object"
