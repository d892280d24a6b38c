#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: each link of a page to another page, or to a heading, has a
# target.
cd "$(dirname "$0")/../.." || exit 1
. selftests/script/tap.sh

# headings PAGE: prints its headings in the form that links use
headings() { sed -n 's/^##* //p' "$1" | tr -d '`.,:;()?!/='"'"'"' | tr 'A-Z ' 'a-z-'; }

broken() {
	local page link file heading
	find ./*.md docs selftests -name '*.md' | while read -r page; do
		grep -o ']([^) ]*)' "$page" | sed 's/^](//; s/)$//; /^https\?:/d' | sort -u |
			while read -r link; do
			file=${link%%#*} heading=${link#"${link%%#*}"}
			file=${file:+${page%/*}/$file}
			if [ ! -e "${file:-$page}" ]; then
				echo "$page: no file $link"
			elif [ -n "$heading" ] &&
				! headings "${file:-$page}" | grep -qxF -- "${heading#\#}"; then
				echo "$page: no heading $link"
			fi
		done
	done
}

plan links 1
holds pages "$(broken)"
exit $failed
