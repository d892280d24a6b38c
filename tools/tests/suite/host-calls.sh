#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: calls.awk finds the cases that make a call, and names none that
# its program has not; run.sh runs one case of a program, and fails if there is no such case.
cd "$(dirname "$0")/../../.." || exit 1
. selftests/base/tap.sh
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT

mkdir "$temp/tests"
cat >"$temp/tests/some_fixture.h" <<'END'
static inline void prepare(void)
{
	cuShared();
	cuDirect();
}
FIXTURE_SETUP(some)
{
	cuSetUp();
}
END
cat >"$temp/tests/some_test.c" <<'END'
#include "some_fixture.h"

/* helper() is not called: cuComment() */
static bool (*const steps[])(void) = {
	helper, NULL,
};

#define INIT()	cuMacro()
static int helper(void)
{
	return cuHelper("cuText()");
}

TEST(directly)
{
	cuDirect();
	prepare();
}
TEST_F(some, through_a_table_and_a_macro)
{
	INIT();
	steps[0]();
}
FIXTURE_VARIANT_ADD(some, one)
{
	.call = cuVariant,
};
END

expected='cuDirect some_test:directly
cuHelper some_test:through_a_table_and_a_macro
cuMacro some_test:through_a_table_and_a_macro
cuSetUp some_test:through_a_table_and_a_macro
cuShared some_test:directly
cuVariant some_test:through_a_table_and_a_macro'

# unknown_cases: prints the cases that calls.awk names and that their programs do not list; some
# programs are for other processors
unknown_cases() {
	local program name
	for program in build/selftests/*_test; do
		head -c 4 "$program" | grep -q ELF || continue
		LD_LIBRARY_PATH=build/lib "$program" -l 2>&1 |
			awk -v program="${program##*/}" 'NF && !/^[#-]/ { print program ":" $NF }'
	done | sort -u >"$temp/listed"
	awk -f tools/tests/suite/calls.awk selftests/*/*.[ch] | cut -d' ' -f2 | sort -u |
		comm -23 - "$temp/listed" | while IFS=: read -r program name; do
			[ ! -e "build/selftests/$program" ] || echo "$program:$name"
		done
}

# run_case CASE: runs it by a copy of run.sh, of a program that writes its arguments
mkdir "$temp/run"
cp build/selftests/{run,vm-watch} "$temp/run/"
cat >"$temp/run/a_test" <<'END'
#!/bin/sh
[ "$1" != -l ] || { printf '# FIXTURE VARIANT TEST\nglobal  one\n        two\n' >&2; exit 4; }
echo "$*"
END
chmod +x "$temp/run/a_test"
run_case() { "$temp/run/run" "$1" | tail -n +2; }

plan calls 6
holds found "$(awk -f tools/tests/suite/calls.awk "$temp"/tests/*.[ch] | sort |
	diff <(echo "$expected") - )"
holds cases_that_there_are "$(unknown_cases)"
holds list_of_a_call "$(tools/tests/suite/calls.sh cuMulticastGetGranularity |
	grep -q '^team_test:.*granularity' || echo 'team_test has no such case')"
holds all_of_a_program "$(run_case a_test | diff <(echo) -)"
holds one_case "$(run_case a_test:one,global.two | diff <(echo '-t one -r global.two') -)"
holds no_such_case "$(run_case a_test:one,three |
	diff <(echo "not ok 0 a_test # it has no case 'three'; it lists them with -l") -)"
exit $failed
