#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: checks memcast/multimem.h and float.h, whose operations need no
# device, against docs/multimem.md and against exact arithmetic, with every installed compiler and
# for every kind of processor that this one can stand in for. MEMCAST_TEST_ALL=1: all pairs of
# 16-bit operands and all floats (half an hour).
cd "$(dirname "$0")/../.." || exit 1
. selftests/base/tap.sh
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
sources=selftests/multimem
subject=multimem planned=0

# run PROGRAM [ARGUMENT…]: adds the program's results to this script's
run() {
	while IFS= read -r line; do
		case $line in
		1..*)	planned=$((number + ${line#1..})) ;;
		ok\ * | not\ ok\ *)
			number=$((number + 1))
			echo "$line" | sed "s/ok [0-9]*/ok $number/" ;;
		*)	echo "$line" ;;
		esac
	done < <("$@")
	wait $! || failed=1
	while [ $number -lt $planned ]; do
		holds "${*##*/}" "it ended early"
	done
}

# compile BUILD PROGRAM COMPILER…: warnings are errors
compile() {
	"${@:3}" -Wall -Wextra -Werror -pthread -Iinclude -Iinclude/cuda -I"$temp/$1" -o "$temp/$1/$2" \
		$sources/$2.c -lm
}

# try BUILD PROGRAM "COMPILER OPTIONS" [ARGUMENT…]: compiles the program and runs it
try() {
	local wrong

	if wrong=$(compile "$1" "$2" $3 2>&1); then
		run "$temp/$1/$2" "$1" "${@:4}"
	else
		holds "$1.$2" "$(head -n 20 <<<"$wrong")"
	fi
}

# The number of results is known at the end, but has to come first.
exec 3>&1 >"$temp/results"

# ---- the header's functions are those of the table

awk -f $sources/functions.awk docs/multimem.md >"$temp/table"
cut -d' ' -f1 "$temp/table" | sed 'p; s/$/_at/' | sort >"$temp/wanted"
echo '#include <memcast/multimem.h>' | ${CC:-gcc} -Iinclude -Iinclude/cuda -E -P -x c - |
	grep -oE '\bmultimem_(ld_reduce|st|red)_\w+ ?\(' | tr -d ' (' | sort -u |
	grep -vE '_(n|block)$' >"$temp/there"
holds functions_are_those_of_the_table "$(diff "$temp/wanted" "$temp/there" | head -n 20)"
holds table_has_all_of_ptx "$([ "$(wc -l <"$temp/table")" -eq 783 ] || wc -l <"$temp/table")"

# ---- compilers: with all warnings that a program may switch on

echo '#include <memcast/multimem.h>
float f(const void *p) { multimem_st_f32_at((CUdeviceptr)4, 1);
	return multimem_ld_reduce_add_v4_f32_at((CUdeviceptr)(size_t)p).v[2]; }' >"$temp/header.c"
for compiler in "gcc -std=c11" "clang -std=c11" "g++ -x c++ -std=c++11" \
		"clang++ -x c++ -std=c++17"; do
	name=header_with_${compiler%% *}
	if ! command -v "${compiler%% *}" >/dev/null; then
		skip "$name" "no ${compiler%% *}"
		continue
	fi
	holds "$name" "$($compiler -fsyntax-only -Iinclude -Iinclude/cuda -Wall -Wextra -Wshadow -Wconversion \
		-Wsign-conversion -Wfloat-conversion -Wcast-align -Wundef -Werror \
		-Wno-unused-function "$temp/header.c" 2>&1 | head -n 20)"
done

# ---- values: all of them with one build, fewer with the others

mkdir "$temp/gcc"
awk '{ printf "FUNCTION(%s, %s, %s, %s, %s, %s)\n", $1, $2, $3, $4, $5, $6 }' "$temp/table" \
	>"$temp/gcc/functions.h"
base="${CC:-gcc} -std=gnu11 -D_GNU_SOURCE= -march=x86-64"
try gcc convert "$base -O2"
try gcc pairs "$base -O2"
try gcc threads "$base -O2"
try gcc forms "$base -O1"

# others BUILD COMPILER…: fewer values
others() {
	mkdir "$temp/$1"
	grep -vE '_(weak|relaxed|acquire|release)_' "$temp/gcc/functions.h" >"$temp/$1/functions.h"
	try "$1" convert "${*:2} -O2"
	try "$1" pairs "${*:2} -O2" 1024
	try "$1" forms "${*:2} -O1"
}

if [ "$(uname -m)" = x86_64 ] && grep -qw avx2 /proc/cpuinfo && grep -qw fma /proc/cpuinfo; then
	others x86-64-v3 ${CC:-gcc} -std=gnu11 -march=x86-64-v3
else
	skip x86-64-v3 "this processor is older"
fi
others native ${CC:-gcc} -std=gnu11 -march=native -O3
for compiler in clang g++; do
	if command -v $compiler >/dev/null; then
		[ $compiler = clang ] && options="-std=gnu11" || options="-x c++ -std=c++17"
		others $compiler $compiler $options
	else
		skip $compiler "no $compiler"
	fi
done

exec >&3
plan multimem $number
cat "$temp/results"
exit $failed
