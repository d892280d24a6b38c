#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: the first table of docs/fidelity.md lists exactly those
# cases in which a table of facts says that memcast answers otherwise than hardware. And the facts
# hold with the module's default parameters, too, but for a pool that has room for those of pools.
# Usage: host-facts.sh [FIDELITY.md [TABLE…]]
cd "$(dirname "$0")/../.." || exit 1
. selftests/base/tap.sh
document=${1:-docs/fidelity.md}
[ $# -gt 1 ] && shift && tables=("$@") || tables=(selftests/facts/tables/*.tsv)

# "recording: group/case" of each fact with a fourth column
different=$(awk -F '\t+' '
	/^@/ { group = $0; sub(/^@ */, "", group) }
	/^[^#@\t]/ && $4 != "" { print group "/" $1 }' "${tables[@]}" | sort -u)

# The same names from the document, as sequences of `api: group/case`, `case` and `group/case`
listed=$(awk -F '|' '
	/^\|/ { table = 1 }
	table && !/^\|/ { exit }
	/^\| *cases/ || /^\|-/ { next }
	table {
		recording = group = ""
		n = split($2, words, "`")
		for (i = 2; i <= n; i += 2) {
			word = words[i]
			if (match(word, /^[a-z_]+: /)) {
				recording = substr(word, 1, RLENGTH)
				word = substr(word, RLENGTH + 1)
			}
			if (match(word, /\//)) {
				group = substr(word, 1, RSTART)
				word = substr(word, RSTART + 1)
			}
			print recording group word
		}
	}' "$document")

# The names in $1 that match no pattern in $2
unmatched() {
	local name pattern
	while read -r name; do
		while read -r pattern; do
			# shellcheck disable=SC2053 # a pattern it is
			[[ $name != $pattern ]] || continue 2
		done <<<"$2"
		echo "$name"
	done <<<"$1"
}

# The patterns in $1 that match no name in $2
unused() {
	local name pattern
	while read -r pattern; do
		while read -r name; do
			# shellcheck disable=SC2053
			[[ $name != $pattern ]] || continue 2
		done <<<"$2"
		echo "$pattern"
	done <<<"$1"
}

plan facts 3
holds there_are_some "$([ -n "$different" ] && [ -n "$listed" ] || echo 'no difference was read')"
holds each_difference_is_listed "$(unmatched "$different" "$listed")"
holds nothing_else_is_listed "$(unused "$listed" "$different")"
[ $# -gt 0 ] || machine "facts with the module's default parameters" --root --pool-mib 128 --add build/selftests -- \
	build/selftests/run facts_test
exit $failed
