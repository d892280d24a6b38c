# SPDX-License-Identifier: MIT
#
# Makes a manual page from one of memcast's headers: the description from its first comment,
# and a section from the comment of each function and struct.
# awk -f text.awk -f header.awk -v name= -v section= -v date= -v version= -v see=
#	-v include= [-v extra=FILE, roff to put before SEE ALSO] [-v only=PATTERN of comments]
# [-v list=yes: only the names of the functions]

{ sub(/\r$/, ""); line[NR] = $0 }

# line I of a comment, without its frame
function plain(i,	text)
{
	text = line[i]
	sub(/^ \*\/?/, "", text)
	sub(/^ /, "", text)
	return text
}

function flush()
{
	if (paragraph == "")
		return
	if (!fresh && !tagged)
		print ".PP"
	gsub(/@/, "", paragraph)
	fill(paragraph)
	fresh = tagged = 0
	paragraph = ""
}

# Prints the paragraphs of a comment, from line I to its end. Indented lines stay as they are,
# unless they go on with a member's description.
function paragraphs(i,	text, member)
{
	for (; i <= NR; i++) {
		text = plain(i)
		if (line[i] ~ /\*\/[ \t]*$/ && line[i] !~ /^ \*\/$/)
			sub(/ *\*\/[ \t]*$/, "", text)
		if (text == "" || line[i] ~ /^ \*\/$/) {
			flush()
			if (literal && plain(i + 1) !~ /^[ \t]/)
				end_literal()
			else if (literal)
				print ""
			member = 0
		} else if (text ~ /^@[a-z_0-9.]+:/) {
			flush()
			end_literal()
			match(text, /:/)
			print ".TP\n.I " escape(substr(text, 2, RSTART - 2))
			paragraph = substr(text, RSTART + 2)
			tagged = member = 1
		} else if (text ~ /^[ \t]/ && !member) {
			flush()
			begin_literal()
			text = columns(text)
			sub(/^(        |  )/, "", text)
			print escape(text)
		} else {
			end_literal()
			sub(/^[ \t]+/, "", text)
			paragraph = paragraph (paragraph == "" ? "" : " ") text
		}
		if (line[i] ~ /\*\/[ \t]*$/)
			break
	}
	flush()
	end_literal()
	return i
}

# Prints the declaration that begins in line I
function declaration(i,	depth, text)
{
	for (; i <= NR; i++) {
		text = line[i]
		depth += gsub(/{/, "{", text) - gsub(/}/, "}", text)
		if (text ~ /^#define/) {	# how a macro is called, not what it does
			sub(/^#define /, "", text)
			sub(/\).*/, ")", text)
			print escape(text)
			break
		}
		print escape(columns(text))
		if (text ~ /;/ && depth <= 0)
			break
	}
}

# the first line after the comment that line I is in
function after(i)
{
	while (line[i] !~ /\*\/[ \t]*$/)
		i++
	return i + 1
}

function title_of(text)
{
	sub(/^ \* */, "", text)
	return text
}

END {
	for (i = 1; i <= NR; i++)
		if (line[i] == "/**" && title_of(line[i + 1]) ~ (only == "" ? "." : only)) {
			start[++count] = i + 1
			if (match(title_of(line[i + 1]), /^[A-Za-z_0-9]+\(\)/))
				functions[++named] = substr(title_of(line[i + 1]), RSTART,
							    RLENGTH - 2)
		}
	if (list) {
		for (n = 1; n <= named; n++)
			print functions[n]
		exit
	}

	title(name, section, date, version)
	for (first = 2; line[first] !~ /^ \* /; first++);
	about = ""
	for (i = first; plain(i) != "" && line[i] !~ /\*\//; i++)
		about = about (about == "" ? "" : " ") plain(i)
	print ".SH NAME"
	names = name
	for (n = 1; n <= named; n++)
		names = names ", " functions[n]
	gsub(/@/, "", about)
	sub(/^[A-Za-z ]+: /, "", about)
	fill(names " - " short(about))
	print ".SH SYNOPSIS\n.nf\n" escape("#include <" include ">")
	for (n = 1; n <= count; n++)
		if (title_of(line[start[n]]) ~ /^[A-Za-z_0-9]+\(\)/) {
			print ""
			declaration(after(start[n]))
		}
	print ".fi\n.SH DESCRIPTION"
	fresh = 1
	paragraphs(first)
	for (n = 1; n <= count; n++) {
		heading = title_of(line[start[n]])
		print ".SS " escape(heading)
		fresh = 1
		if (heading ~ /^(struct|enum)/ && section == 3) {
			print ".nf"
			declaration(after(start[n]))
			print ".fi"
			fresh = 0
		}
		paragraphs(start[n] + 1)
	}
	if (extra != "") {
		while ((getline text < extra) > 0)
			print text
	}
	print ".SH SEE ALSO\n" see
}
