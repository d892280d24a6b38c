# SPDX-License-Identifier: MIT
#
# Adds up the TAP lines of several runs, for tools/run-selftests. A run starts with a line
# "# selftests on WHERE", each program with "# program NAME". The last lines of a long log thus show
# each failed test and where it failed; of the first three, the last lines that the test wrote; and
# the last lines of a failed program's stderr, which follow the program as lines "# stderr: TEXT".
# The last line is exactly "N passed, N failed, N skipped".
function failure(name)
{
	fails[++failed] = where (program ? ", " program : "") ": " name
	for (i = failed <= 3 ? said - 5 : said + 1; i <= said; i++)
		if (i > 0)
			notes[failed] = notes[failed] lines[i] "\n"
}

# A program that died early has promised more results than it gave.
function ends_early()
{
	for (; planned > 0; planned--)
		failure("a result that was promised is missing")
	planned = 0
}

/^# selftests on /	{ ends_early(); where = $4; program = ""; said = 0; before = failed; next }
/^# program /		{ ends_early(); program = $3; said = 0; before = failed; next }
/^# stderr: /		{ ends_early(); if (failed > before) notes[failed] = notes[failed] $0 "\n"; next }
/^1\.\.[0-9]+/		{ ends_early(); planned = substr($1, 4) + 0; next }
/^ok [0-9]+/ {
	if (/# *(SKIP|XFAIL)/)
		skipped++
	else
		passed++
	planned--
	said = 0
	next
}
/^not ok [0-9]+/	{ failure($0); planned--; said = 0; next }
			{ lines[++said] = $0 }

END {
	ends_early()
	if (failed)
		print "# failed:"
	for (n = 1; n <= failed; n++)
		printf "%s# %s\n", notes[n], fails[n]
	printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
	exit failed > 0 || !passed
}
