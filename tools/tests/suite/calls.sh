#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The cases that make a call, as words NAME:CASE,… for run.sh: calls.sh CALL. Answers that were
# recorded on hardware are tested by facts_test, whose cases are the tables.
cd "$(dirname "$0")/../../.." || exit 1

awk -f tools/tests/suite/calls.awk selftests/*/*.[ch] | sort -u | awk -v call="$1" '
	$1 == call {
		split($2, part, ":")
		separator = part[1] in of ? "," : ":"
		of[part[1]] = of[part[1]] separator part[2]
	}
	END { for (program in of) print program of[program] }' | sort
! grep -qw -- "$1" selftests/facts/tables/*.tsv || echo facts_test
