#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: the errors of PTX's approximations are within PTX's bounds.
cd "$(dirname "$0")/../.." || exit 1
. selftests/ptx/object.sh
build_test approximate -lm
timeout 300 "$temp/approximate" "$object"
