#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: plain stores to windows, on its own processor.
exec "$(dirname "$0")/../build/selftests/host-trap"
