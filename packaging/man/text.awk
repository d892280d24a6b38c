# SPDX-License-Identifier: MIT
#
# Functions of the other scripts here, which write plain text as roff.

function escape(text)
{
	gsub(/\\/, "\\e", text)
	gsub(/-/, "\\-", text)
	gsub(/"/, "\\(dq", text)
	sub(/^[.']/, "\\\\\\&&", text)
	return text
}

# Prints text in lines of one width; a viewer fills lines anyway
function fill(text,	n, i, words, all)
{
	n = split(text, words, " ")
	for (i = 1; i <= n; i++) {
		if (all != "" && length(escape(all " " words[i])) > 74) {
			print escape(all)
			all = ""
		}
		all = all (all == "" ? "" : " ") words[i]
	}
	if (all != "")
		print escape(all)
}

# Words that a person types are bold, placeholders are italic: --pool-mib N
function term(text,	n, i, words, word, sign, all)
{
	n = split(text, words, " ")
	for (i = 1; i <= n; i++) {
		word = words[i]
		if (word ~ /^-/) {
			sign = index(word "=", "=")
			word = "\\fB" escape(substr(word, 1, sign - 1)) "\\fR" \
			       mark(escape(substr(word, sign)))
		} else {
			word = mark(escape(word))
		}
		all = all (i > 1 ? " " : "") word
	}
	return all
}

function mark(word)
{
	gsub(/[A-Z][A-Z]+|^[A-Z]$/, "\\fI&\\fR", word)
	return word
}

function title(name, section, date, version)
{
	printf ".\\\" Made by packaging/man/; see %s\n", name
	printf ".TH %s %s %s \"memcast %s\" memcast\n", toupper(name), section, date, version
}

# Shortens a sentence for a line of NAME to its first part, beginning with a small letter
function short(text)
{
	sub(/[.:;]( .*|$)/, "", text)
	if (length(text) > 90)
		sub(/, .*/, "", text)
	if (text ~ /^[A-Z][a-z]/)
		text = tolower(substr(text, 1, 1)) substr(text, 2)
	return text
}

# Replaces the tabs of a line by spaces, so that its columns stay
function columns(text,	at)
{
	while ((at = index(text, "\t")) > 0)
		text = substr(text, 1, at - 1) substr("        ", 1, 8 - (at - 1) % 8) \
		       substr(text, at + 1)
	return text
}

function begin_literal()
{
	if (!literal)
		print (fresh ? "" : ".PP\n") ".nf\n.RS 4"
	literal = 1
	fresh = 0
}

function end_literal()
{
	if (literal)
		print ".RE\n.fi"
	literal = 0
}
