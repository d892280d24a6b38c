# SPDX-License-Identifier: MIT
#
# Which cases of the selftests make which calls of the APIs: a line "CALL PROGRAM:CASE" for each.
#	awk -f tools/tests/suite/calls.awk selftests/*/*.[ch]
# A case makes the calls that it names, and those that functions, macros, tables and variants name
# which it uses of its own file. If no case of any program makes a call so, the cases count which
# come to it by the files that programs share and by what their fixtures set up.

# The word that a line defines: the one before the first parenthesis, bracket or "="
function defined(line)
{
	if (match(line, /\(\*(const )?[a-z_]+/)) {
		line = substr(line, RSTART + 2, RLENGTH - 2)
		sub(/^const /, "", line)
		return line
	}
	sub(/[ \t]*[(=[].*/, "", line)
	return match(line, /[A-Za-z_0-9]+$/) ? substr(line, RSTART) : ""
}

function begin(name)
{
	unit = name
	words[where, unit] = words[where, unit] " "
	plain = 0
	if (shared_file)
		owner[unit] = where
}

# Notes each word of a line as used by the current unit: a function, macro, table or case
function note(line,    word)
{
	gsub(/"([^"\\]|\\.)*"|\/\*.*\*\//, " ", line)
	while (match(line, /[A-Za-z_][A-Za-z_0-9]*/)) {
		word = substr(line, RSTART, RLENGTH)
		line = substr(line, RSTART + RLENGTH)
		if (!seen[where, unit, word]++)
			words[where, unit] = words[where, unit] " " word
	}
}

FNR == 1 {
	unit = around = ""
	macro = comment = 0
	where = FILENAME
	sub(/.*\//, "", where)
	shared_file = where !~ /_test\.c$/
	if (!shared_file)
		programs[where] = where
}
/^[ \t]*\/\*/	{ comment = 1 }
comment		{ if (/\*\//) comment = 0; next }
/^#include "/ && !shared_file {
	split($2, quoted, "\"")
	programs[where] = programs[where] " " quoted[2]
	next
}

# A macro may stand within a function.
/^#define [A-Za-z_]/ && !macro {
	around = unit
	match($2, /^[A-Za-z_0-9]+/)
	begin(substr($2, 1, RLENGTH))
	note(substr($0, 9 + length(unit)))
	if (!(macro = /\\$/))
		unit = around
	next
}
macro {
	note($0)
	if (!(macro = /\\$/))
		unit = around
	next
}
/^(TEST|TEST_F|TEST_SIGNAL|TEST_F_SIGNAL)\(/ {
	split($0, argument, /[(,) \t]+/)
	name = /^TEST_F/ ? argument[3] : argument[2]
	begin("case " name)
	cases[where] = cases[where] " " name
	fixture[where, name] = /^TEST_F/ ? argument[2] : ""
	next
}
/^FIXTURE(_SETUP|_TEARDOWN|_TEARDOWN_PARENT|_VARIANT_ADD)\(/ {
	split($0, argument, /[(,) \t]+/)
	begin((/^FIXTURE_VARIANT/ ? "variant " : "setup ") argument[2])
	next
}
/^[A-Za-z_].*[^;]$/ && !unit {
	begin(defined($0))
	note(substr($0, index($0, unit) + length(unit)))
	plain = /=/ && !/\{/
	next
}
/^}/		{ note($0); unit = ""; next }
unit		{ note($0); if (plain && /;$/) unit = "" }

# Notes the calls that a unit comes to; what a header leaves to its program is of the file @home.
function follow(file, name, shared,    list, count, i, word)
{
	if (!((file, name) in words) || reached[file, name]++)
		return
	count = split(words[file, name], list, " ")
	for (i = 1; i <= count; i++) {
		word = list[i]
		if (word ~ /^(cu|cuda|nvml|memcast)[A-Z][A-Za-z0-9_]*$/)
			found[word] = 1
		if ((file, word) in words)
			follow(file, word, shared)
		else if ((home, word) in words)
			follow(home, word, shared)
		else if (shared && word in owner)
			follow(owner[word], word, shared)
	}
}

# look_at PROGRAM'S FILE: its cases, those of the headers that it includes among them
function look_at(file, shared,    parts, n, list, count, i, name, of, word, program)
{
	program = home = file
	sub(/\.c$/, "", program)
	for (n = split(programs[file], parts, " "); n; n--) {
		count = split(cases[parts[n]], list, " ")
		for (i = 1; i <= count; i++) {
			name = list[i]
			of = fixture[parts[n], name]
			split("", reached)
			split("", found)
			follow(parts[n], "case " name, shared)
			follow(file, "variant " of, shared)
			if (shared) {
				follow(parts[n], "setup " of, shared)
				follow(file, "setup " of, shared)
				follow(owner["setup " of], "setup " of, shared)
			}
			for (word in found) {
				if (shared && word in direct)
					continue
				print word, program ":" name
				if (!shared)
					direct[word] = 1
			}
		}
	}
}

END {
	for (file in programs)
		look_at(file, 0)
	for (file in programs)
		look_at(file, 1)
}
