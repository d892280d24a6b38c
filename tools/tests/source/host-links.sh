#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: each link of a page to another page, or to a heading, has a
# target, and each file, folder and test that a page names exists.
cd "$(dirname "$0")/../../.." || exit 1
. selftests/base/tap.sh

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

# names PAGE: prints the files, folders and tests in back quotes, and all with a path of this tree
names() {
	local file='[A-Za-z0-9_./-]+\.(c|h|sh|awk|pl|py|mk|def|tsv|txt|md|in|json|profile|cfg|cu)'
	{ grep -oE "\`($file|[a-z0-9_-][a-z0-9_/-]*/)\`" "$1" | tr -d '`'
	grep -oE '`[a-z0-9_]+_test`' "$1" | sed 's/.\(.*\)./\1.c/'
	grep -oE "(^|[ (])(kmod|lib|tools|selftests|packaging|include|examples|docs)/$file" "$1" | tr -d ' ('; } | sort -u
}

# missing_files [PAGE…]: names with NAME or FOLDER are patterns; some headers are others'
others='cuda_fp16.h
tools/testing/selftests/'
missing_files() {
	local page name
	for page; do
		names "$page" | grep -vE 'NAME|FOLDER|^build/' | grep -vxF "$others" |
			while read -r name; do
			[ -e "$name" ] || [ -e "${page%/*}/$name" ] || grep -qF "/$name " "$temp" ||
				echo "$page: no file $name"
		done
	done
}

plan links 3
temp=$(mktemp)
trap 'rm -f "$temp" "$temp.md"' EXIT
# each file's and folder's path, with a blank at its end
find . -path ./build -prune -o -path ./.git -prune -o -type f -printf '%p \n' -o \
	-type d -printf '%p/ \n' >"$temp"
holds pages "$(broken)"
# shellcheck disable=SC2046	# no page has a blank in its name
holds files "$(missing_files $(find ./*.md docs selftests -name '*.md'))"
cat >"$temp.md" <<-END
See \`smi/no_such_file.c\` and \`smi/collect.c\`, \`smi/no_such_folder/\` and \`smi/\`,
    lib/base/no_such_file.c and lib/base/base.h; \`no_such_test\` and \`bind_test\`.
END
expected=$(printf "$temp.md: no file %s\n" lib/base/no_such_file.c no_such_test.c smi/no_such_file.c \
	smi/no_such_folder/)
holds a_missing_file_is_found "$(missing_files "$temp.md" | diff <(echo "$expected") -)"
exit $failed
