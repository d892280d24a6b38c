#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: the last lines of tools/run-selftests
cd "$(dirname "$0")/../.." || exit 1
. selftests/script/tap.sh
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
plan sum 5

# ends STATUS TEXT: for the lines on stdin, awk's status is STATUS and the sum is TEXT
ends()
{
	said=$(awk -f selftests/script/sum.awk) && status=0 || status=$?
	[ "$said" = "$2" ] && [ $status -eq "$1" ] || echo "status $status, and it said: $said"
}

holds all_pass "$(ends 0 '2 passed, 0 failed, 1 skipped' <<'END'
# selftests on 6.1
# program a_test
1..3
ok 1 a.one
#            OK  a.two
ok 2 a.two
ok 3 a.three # SKIP no such device
END
)"
holds names_what_failed "$(ends 1 '# failed:
# a.c:7:two:Expected 1 (1) == 2 (2)
# 6.1, a_test: not ok 2 a.two
# host, selftests/x/host-b.sh: not ok 1 b.one
1 passed, 2 failed, 0 skipped' <<'END'
# selftests on 6.1
# program a_test
1..2
# what the first wrote
ok 1 a.one
# a.c:7:two:Expected 1 (1) == 2 (2)
not ok 2 a.two
# selftests on host
# program selftests/x/host-b.sh
1..1
not ok 1 b.one
END
)"
holds counts_what_is_missing "$(ends 1 '# failed:
# 6.1, a_test: a result that was promised is missing
# 6.1, b_test: a result that was promised is missing
2 passed, 2 failed, 0 skipped' <<'END'
# selftests on 6.1
# program a_test
1..2
ok 1 a.one
# program b_test
1..2
ok 1 b.one
END
)"
holds shows_stderr "$(ends 1 '# failed:
# stderr: memcast-vm: no such kernel
# host, selftests/x/host-a.sh: not ok 0 a.boots
1 passed, 1 failed, 0 skipped' <<'END'
# selftests on host
# program selftests/x/host-a.sh
1..1
not ok 0 a.boots
# stderr: memcast-vm: no such kernel
# program selftests/x/host-b.sh
1..1
ok 1 b.one
# stderr: of one that did not fail
END
)"
holds nothing_ran_is_a_failure "$(ends 1 '0 passed, 0 failed, 0 skipped' </dev/null)"
exit $failed
