#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: memcast-vm --host and --rw. What programs find of the
# host's files, and what of theirs is on the host afterwards.
cd "$(dirname "$0")/.." || exit 1
top=$PWD
# below build/, as a user's own files are: the machine's user has to find it
temp=$(mktemp -d "$top/build/host-files.XXXXXX")
trap 'rm -rf "$temp"' EXIT
chmod 777 "$temp"
cd "$temp" || exit 1
failed=0 number=0

ok() { number=$((number + 1)); echo "ok $number files.$*"; }
# check NAME COMMAND…: fails if the command does, and shows what it said
check() {
	local name=$1
	shift
	if "$@" >said 2>&1; then
		ok "$name"
	else
		failed=1 number=$((number + 1))
		sed 's/^/# /' said
		echo "not ok $number files.$name"
	fi
}
vm() { "$top/tools/memcast-vm" --devices 1 --pool-mib 16 --host "$@"; }

reads_and_writes_in_memory() {
	echo 'of the host' >data
	vm -- sh -c 'cat data && echo changed >data && cat data && echo >/usr/bin/new; ls -d /home' >out
	grep -qx 'of the host' out && grep -qx changed out && grep -qx /home out &&
		[ "$(cat data)" = 'of the host' ]
}

an_interpreter() {
	echo 'import json, sys; print(json.dumps({"word": open(sys.argv[1]).read()}))' >script.py
	printf 'of a file' >data
	[ "$(vm -- python3 script.py data)" = '{"word": "of a file"}' ]
}

rw_is_on_the_host() {
	mkdir -p "out, of it" && chmod 777 "out, of it"
	vm --rw "out, of it" -- sh -c 'echo "<testsuite/>" >"out, of it/junit.xml"; echo lost >here; exit 3'
	[ $? -eq 3 ] && [ "$(cat "out, of it/junit.xml")" = '<testsuite/>' ] && [ ! -e here ]
}

coverage() {
	printf 'int main(int argc, char **argv) { (void)argv; return argc > 1 ? 4 : 0; }\n' >covered.c
	gcc --coverage -c covered.c && gcc --coverage -o covered covered.o &&
		vm --rw . -- ./covered && gcov -n covered.c | grep 'Lines executed:100.00% of 1'
}

core_dump() {
	printf '#include <stdlib.h>\nint main(void) { abort(); }\n' >aborts.c
	gcc -g -o aborts aborts.c || return
	vm --kernel 6.1 --rw . -- sh -c 'ulimit -c unlimited; exec ./aborts'
	[ $? -eq 134 ] && file=$(echo core*) && head -c 4 "$file" | grep -q ELF
}

# The library that a program is linked with is ours there, wherever the host has another.
our_library() {
	vm --root -- "$top/build/tools/memcast-smi" --json | grep -q '"devices"'
}

debugger() {
	printf 'int word = 7;\nint main(void) { return word; }\n' >stops.c
	gcc -g -o stops stops.c || return
	vm -- gdb -batch -ex 'break main' -ex run -ex 'print word' ./stops | grep -qx '\$1 = 7'
}

environment_comes_along() {
	WORD='of two words' LC_ALL=C.UTF-8 vm -- \
		sh -c 'echo "$WORD, $LC_ALL, $HOME, $(command -v memcast-smi)"' >out
	grep -qx "of two words, C.UTF-8, $HOME, $top/build/tools/memcast-smi" out
}

variable_by_name() {
	[ "$(WORD='of two words' "$top/tools/memcast-vm" --env WORD -- sh -c 'echo "$WORD"')" = 'of two words' ] &&
		! "$top/tools/memcast-vm" --env NOT_THERE_AT_ALL -- true
}

tools_without_host() {
	"$top/tools/memcast-vm" --devices 3 -- memcast-smi --json | grep -q '"device": *2'
}

echo "TAP version 13"
echo 1..10
check reads_and_writes_in_memory reads_and_writes_in_memory
if command -v python3 >/dev/null; then
	check an_interpreter an_interpreter
else
	ok 'an_interpreter # SKIP no python3 here'
fi
check rw_is_on_the_host rw_is_on_the_host
check coverage coverage
check core_dump core_dump
check our_library our_library
check environment_comes_along environment_comes_along
check variable_by_name variable_by_name
check tools_without_host tools_without_host
if command -v gdb >/dev/null; then
	check debugger debugger
else
	ok 'debugger # SKIP no gdb here'
fi
exit $failed
