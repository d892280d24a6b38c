#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: files have the form that .editorconfig gives to editors.
# checkpatch checks the lines of kmod/ (`make check-style`); elsewhere a line may be longer than 100
# columns if it is a text or a row of a table.
cd "$(dirname "$0")/../../.." || exit 1
. selftests/base/tap.sh

plan editorconfig 4
if [ ! -e .git ]; then
	for name in blanks ends tabs blanks_in_python; do skip $name "this is no clone"; done
	exit 0
fi
mapfile -t texts < <(git ls-files | grep -vE '\.(png|svg)$|^LICENSES/')
mapfile -t python < <(git grep -l '^#!/usr/bin/python3' -- 'tools/memcast-*'; git ls-files '*.py')
mapfile -t code < <(git ls-files '*.[ch]' '*.awk' '*.sh' '*.mk' 'tools/memcast-*' Makefile Kbuild |
	grep -vxF "$(printf '%s\n' "${python[@]}")")
[ ${#code[@]} -gt 0 ] || { echo "Bail out! git lists no files"; exit 1; }
holds blanks "$(grep -nE '[[:blank:]]+$|'$'\r' -- "${texts[@]}" | cut -d: -f-2)"
holds ends "$(for file in "${texts[@]}"; do [ -z "$(tail -c 1 -- "$file")" ] ||
	echo "$file has no line end at its end"; done)"
holds tabs "$(grep -nE '^ {8}' -- "${code[@]}" | cut -d: -f-2)"
holds blanks_in_python "$(grep -nP '\t|^.{101}' -- "${python[@]}" | cut -d: -f-2)"
exit $failed
