#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: translated PTX gives the results of an H100 (facts.txt).
cd "$(dirname "$0")/../.." || exit 1
. selftests/ptx/object.sh
build_test translate -lm
# Numbers of PTX have a point, whatever the locale has.
comma=$(locale -a 2>/dev/null | grep -m 1 -E '^(de|fr|es|it)_.*[uU][tT][fF]')
echo 'TAP version 13'
MEMCAST_PTX_CACHE=0 LC_ALL=${comma:-C} timeout 300 "$temp/translate" "$object" selftests/ptx/facts.txt
