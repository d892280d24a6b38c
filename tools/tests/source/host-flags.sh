#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: each library is linked with the CFLAGS and LDFLAGS that a packager
# gives, and symbolically.
cd "$(dirname "$0")/../../.." || exit 1
. selftests/base/tap.sh
plan flags 2

links=$(make -n V=1 B=build/none lib CFLAGS='-O1 -DCFLAGS_GIVEN' LDFLAGS=-Wl,-O1 2>/dev/null |
	sed -e ':join' -e '/\\$/{ N; s/\\\n//; b join' -e '}' | grep -- '-shared ')
holds every_library "$([ "$(echo "$links" | wc -l)" -ge 5 ] || echo "only these are linked: $links")"
holds given_and_symbolic "$(echo "$links" | grep -v -- "-DCFLAGS_GIVEN.*-Wl,-O1.*-Wl,-Bsymbolic " |
	cut -c -200)"
exit $failed
