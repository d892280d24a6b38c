# SPDX-License-Identifier: MIT
#
# Makes lists for manual pages: -v of=parameters from the module's source, -v of=environment
# from docs/environment.md.
# awk -f text.awk -f lists.awk -v of= FILE…

of == "parameters" && /^MODULE_PARM_DESC\(/ {
	if (!n++)
		print ".SH PARAMETERS"
	match($0, /\(.*, "/)
	print ".TP\n.I " escape(substr($0, RSTART + 1, RLENGTH - 4))
	words = substr($0, RSTART + RLENGTH)
	sub(/"\);$/, "", words)
	gsub(/\\"/, "\"", words)
	fill(words)
}

of == "environment" && /^## [A-Z_]+$/ {
	if (!n++)
		print ".SH ENVIRONMENT"
	print ".TP\n.B " escape($2)
	wanted = 1
	words = ""
	next
}

of == "environment" && wanted {
	if ($0 == "" && words != "") {
		wanted = 0
		gsub(/`/, "", words)
		gsub(/\]\([^)]*\)/, "", words)
		gsub(/\[/, "", words)
		fill(words)
	} else {
		words = words (words == "" ? "" : " ") $0
	}
}
