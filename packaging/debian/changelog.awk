# SPDX-License-Identifier: MIT
#
# Makes debian/changelog from CHANGELOG.md: -v version= -v date=; MAINTAINER in the environment
# CHANGELOG.md has no dates, so debian/changelog has an entry for this version only.

/^## / { of_version = ($2 == version); next }
!of_version { next }
/^- / { print_item(); item = substr($0, 3); next }
/^  / { sub(/^ +/, ""); item = item " " $0 }

function print_item(	n, i, words, line)
{
	if (item == "")
		return
	gsub(/\*\*|`/, "", item)
	n = split(item, words, " ")
	line = "  *"
	for (i = 1; i <= n; i++) {
		if (length(line) + length(words[i]) > 74) {
			print line
			line = "   "
		}
		line = line " " words[i]
	}
	print line
	item = ""
	items++
}

BEGIN { print "memcast (" version ") unstable; urgency=medium\n" }
END {
	print_item()
	if (!items)
		print "  * See CHANGELOG.md."
	print "\n -- " ENVIRON["MAINTAINER"] "  " date
}
