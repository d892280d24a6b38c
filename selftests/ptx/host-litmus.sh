#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: blocks and processes exchange words in the orders that PTX gives.
cd "$(dirname "$0")/../.." || exit 1
. selftests/ptx/object.sh
build_test litmus
timeout 600 "$temp/litmus" "$object" "${MEMCAST_TEST_SEQUENCES:-2000}"
