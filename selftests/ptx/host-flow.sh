#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: what the translator of PTX knows of a function as a whole, by
# host-flow.c.
cd "$(dirname "$0")/../.." || exit 1
. selftests/ptx/object.sh
build_test flow
timeout 300 "$temp/flow" "$object"
