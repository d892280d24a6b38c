#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: rows of threads give the same with tests of bounds and without,
# block by block and joined; and every NaN of f32 is PTX's one.
cd "$(dirname "$0")/../.." || exit 1
. selftests/ptx/object.sh
build_test rows
timeout 600 "$temp/rows" "$object"
