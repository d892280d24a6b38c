#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: tools/run-selftests in a tree of its own, whose memcast-vm boots
# nothing and whose tests end in all the ways that tests end. The last lines, and the status.
cd "$(dirname "$0")/../../.." || exit 1
. selftests/base/tap.sh
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT

mkdir -p "$temp"/{build/selftests,selftests/x,tools/tests/suite,packaging/tests}
cp tools/run-selftests "$temp/tools/"
cp tools/tests/suite/sum.pl "$temp/tools/tests/suite/"
cp build/selftests/{run,vm-watch} "$temp/build/selftests/"
cat >"$temp/tools/memcast-vm" <<'END'
#!/bin/bash
echo boots >>machines
while [ "$1" != -- ]; do shift; done
shift
status=0
"$@" <&0 &
echo $! >runner
{ wait $! || status=$?; } 2>/dev/null
[ ! -e report ] || { echo 'WARNING: in the log' >&2; exit 126; }
exit $status
END
chmod +x "$temp/tools/memcast-vm"

# program NAME: a test with the lines of stdin as its script
program() { { echo '#!/bin/bash'; cat; } >"$temp/$1" && chmod +x "$temp/$1"; }
both='echo TAP version 13; echo 1..2; echo ok 1 x.one;'

# ends STATUS NAMES LINES OPTION…: for these tests the status is STATUS, and the last lines are LINES
ends() {
	local status=0 names=$2
	(cd "$temp" && rm -f machines && tools/run-selftests --only "$names" "${@:4}" some host) \
		>"$temp/said" 2>&1 || status=$?
	sed -n '/^# failed:/,$p' "$temp/said" | sed '/^#  /d' >"$temp/last"	# without stacks
	[ -s "$temp/last" ] || tail -n 1 "$temp/said" >"$temp/last"
	[ $status -eq "$1" ] || echo "status $status"
	diff <(echo "$3") "$temp/last" || tail -n 30 "$temp/said"
}

program build/selftests/good_test <<<"$both echo '# what it does'; echo ok 2 x.two \# SKIP no device"
program build/selftests/bad_test <<<"$both echo '# a.c:7: 1 == 2'; echo not ok 2 x.two; exit 1"
program build/selftests/short_test <<<"$both exit 0"
program build/selftests/silent_test <<<":"
program build/selftests/killed_test <<<"$both kill -SEGV \$\$"
program build/selftests/half_test <<<"$both printf 'ok 2 x.two'"
program build/selftests/crash_test <<<"$both kill -KILL \$(cat ../../runner)"
program selftests/x/host-good.sh <<<"$both echo ok 2 x.two"
program packaging/tests/host-bad.sh <<<"$both echo out of memory >&2; exit 3"
program tools/tests/suite/host-many.sh <<<"for name in a b; do echo \# program \$name; $both echo ok 2 x.two; done"
cat >"$temp/selftests/seconds.txt" <<'END'
# SECONDS NAME [all]
50 good_test
2 bad_test
1 host-good.sh all
END

plan results 13
holds all_pass "$(ends 0 'good_test host-good.sh' '3 passed, 0 failed, 1 skipped')"
holds names_what_failed "$(ends 1 'good_test bad_test' '# failed:
# a.c:7: 1 == 2
# some/bad_test: not ok 2 x.two
2 passed, 1 failed, 1 skipped')"
holds what_is_missing "$(ends 1 'short_test silent_test' '# failed:
# some/short_test: a result that was promised is missing
# some/silent_test: No plan found in TAP output
1 passed, 2 failed, 0 skipped')"
holds killed_by_a_signal "$(ends 1 'killed_test' '# failed:
# some/killed_test: not ok 0 killed_test # signal 11 ended it
1 passed, 1 failed, 0 skipped')"
holds a_line_without_end "$(ends 0 half_test '2 passed, 0 failed, 0 skipped')"
holds scripts "$(ends 1 'host-bad.sh host-many.sh' '# failed:
# stderr: out of memory
# host/host-bad.sh: not ok 0 host-bad.sh # status 3
5 passed, 1 failed, 0 skipped')"
touch "$temp/report"
holds a_report_of_the_kernel "$(ends 1 good_test '# failed:
# stderr: WARNING: in the log
# some/machine.0.0: not ok 1 virtual machine with some: status 126
1 passed, 1 failed, 1 skipped' --jobs 1)"
rm "$temp/report"
holds nothing_ran_is_a_failure "$(ends 1 none '0 passed, 0 failed, 0 skipped')"

# A machine that ends in a test: the test failed, and the next machine has those that are left.
printf '60 crash_test\n' >>"$temp/selftests/seconds.txt"
holds a_machine_that_ends "$(ends 1 'crash_test good_test' '# failed:
# some/crash_test: not ok 0 crash_test # its machine ended
# some/machine.0.0: not ok 1 virtual machine with some: status 137
2 passed, 2 failed, 1 skipped' --jobs 1)"
holds another_takes_the_rest "$([ "$(wc -l <"$temp/machines")" -eq 2 ] || cat "$temp/said")"
program selftests/x/host-hangs.sh <<<"$both exec sleep 1000"
holds a_script_that_hangs "$(ends 1 host-hangs.sh '# failed:
# host/host-hangs.sh: not ok 0 host-hangs.sh # time was up
1 passed, 1 failed, 0 skipped' --timeout 2)"

# without --only: all but what is marked
find "$temp" \( -name 'host-*' -o -name '*_test' \) ! -name '*good*' -delete
holds some "$(ends 0 '' '1 passed, 0 failed, 1 skipped')"
holds all "$(ends 0 '' '3 passed, 0 failed, 1 skipped' --all)"
exit $failed
