#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: each link of a page to another page, or to a heading, has a
# target, and each file that a page names in back quotes exists.
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

# missing_files [PAGE…]: names with NAME or FOLDER are patterns; some headers are others'
others='cuda_fp16.h'
missing_files() {
	local page name
	for page; do
		grep -oE '`[A-Za-z0-9_./-]+\.(c|h|sh|awk|pl|py|mk|def|tsv|txt|md|in|json|profile|cu)`' "$page" |
			tr -d '`' | sort -u | grep -vE 'NAME|FOLDER' | grep -vxF "$others" |
			while read -r name; do
			[ -e "$name" ] || [ -e "${page%/*}/$name" ] || grep -qF "/$name " "$temp" ||
				echo "$page: no file $name"
		done
	done
}

plan links 3
temp=$(mktemp)
trap 'rm -f "$temp" "$temp.md"' EXIT
# each file's path, with a blank at its end
find . -path ./build -prune -o -path ./.git -prune -o -type f -printf '%p \n' >"$temp"
holds pages "$(broken)"
# shellcheck disable=SC2046	# no page has a blank in its name
holds files "$(missing_files $(find ./*.md docs selftests -name '*.md'))"
echo 'See `smi/no_such_file.c` and `smi/collect.c`.' >"$temp.md"
holds a_missing_file_is_found "$(missing_files "$temp.md" | diff <(echo "$temp.md: no file smi/no_such_file.c") -)"
exit $failed
