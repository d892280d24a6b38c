# SPDX-License-Identifier: MIT
#
# Makes a manual page of section 1 from the text that a program prints with --help.
# awk -f text.awk -f help.awk -v name= -v date= -v version= -v see=

{ line[NR] = $0 }

function indent(text) { match(text, /^ */); return RLENGTH }

# An option, or a command: indented a little, with its description after a gap or in the next line
function is_item(i)
{
	if (line[i] == "" || indent(line[i]) < 2 || indent(line[i]) > 6 || examples)
		return 0
	return line[i] ~ /^ *-/ || line[i] ~ /[^ ]  +[^ ]/ || indent(line[i + 1]) > 6
}

function head(text)
{
	if (text == section)
		return
	end_literal()
	section = text
	print ".SH " text
	fresh = 1
}

function flush(	at)
{
	if (paragraph == "")
		return
	at = match(paragraph, /Exit status:/)
	if (at > 1) {
		text(substr(paragraph, 1, at - 1))
		paragraph = substr(paragraph, at)
	}
	if (at) {
		head("EXIT STATUS")
		sub(/^Exit status: */, "", paragraph)
	}
	text(paragraph)
	paragraph = ""
}

function text(words)
{
	if (section == "")
		head("DESCRIPTION")
	else if (section == "OPTIONS" || section == "ENVIRONMENT")
		head("NOTES")
	if (!fresh)
		print ".PP"
	fresh = 0
	fill(words)
}

function item(i,	words, gap)
{
	flush()
	if (section != "ENVIRONMENT")
		head("OPTIONS")
	fresh = 0
	words = substr(line[i], indent(line[i]) + 1)
	gap = match(words, /  +/)
	print ".TP\n" term(gap ? substr(words, 1, gap - 1) : words)
	if (gap)
		fill(substr(words, gap + RLENGTH))
}

# Breaks a synopsis into lines that are short enough for all viewers of manual pages
function folded(words,	n, word, i, now, all)
{
	n = split(words, word, " ")
	for (i = 1; i <= n; i++) {
		if (now != "" && length(now) + length(word[i]) > 70) {
			all = all now "\n"
			now = ""
		}
		now = now (now == "" ? "" : " ") word[i]
	}
	return all now
}

END {
	title(name, 1, date, version)
	for (i = 1; i <= NR && line[i] !~ /^[A-Z]/; i++);
	usage = substr(line[i], 8)
	for (i++; line[i] ~ /^ +[^ ]/; i++) {
		extra = line[i]
		sub(/^ *(or: *)?/, "", extra)
		usage = usage "\n.br\n" extra
	}
	if (line[i] == "")
		i++
	for (j = i; line[j] != ""; j++)
		about = about (about == "" ? "" : " ") line[j]
	print ".SH NAME"
	fill(name " - " short(about))
	print ".SH SYNOPSIS"
	n = split(usage, part, "\n")
	for (j = 1; j <= n; j++)
		print part[j] == ".br" ? ".br" : folded(term(part[j]))
	for (; i <= NR; i++) {
		if (line[i] == "") {
			flush()
			end_literal()
			if (examples && line[i + 1] !~ /^ /)
				examples = 0
		} else if (is_item(i)) {
			item(i)
			in_item = 1
			continue
		} else if (in_item && indent(line[i]) > 6) {
			print escape(substr(line[i], indent(line[i]) + 1))
			continue
		} else if (line[i] ~ /^ /) {
			flush()
			begin_literal()
			print escape(substr(line[i], 3))
		} else if (line[i] ~ /^Examples/) {
			flush()
			head("EXAMPLES")
			examples = 1
		} else if (line[i] == "Environment") {
			flush()
			head("ENVIRONMENT")
		} else if (is_item(i + 1) && paragraph == "") {
			head("OPTIONS")
			print ".SS " escape(line[i])
		} else {
			end_literal()
			paragraph = paragraph (paragraph == "" ? "" : " ") line[i]
		}
		in_item = 0
	}
	flush()
	end_literal()
	print ".SH SEE ALSO\n" see
}
