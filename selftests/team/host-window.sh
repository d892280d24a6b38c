#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: the tree of windows, with threads that race.
exec "$(dirname "$0")/../../build/selftests/host-window"
