#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: places of the processes that record an event of several processes.
exec "$(dirname "$0")/../../build/selftests/host-makers"
