#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: memcast-vm --host and --rw. Which of the host's files programs
# find, and which of their own files are on the host afterwards. Six boots: one for --reuse, one
# that makes a folder, one with 6.1, one without the host's files, and one of each kernel by an
# ordinary user.
cd "$(dirname "$0")/../../.." || exit 1
. selftests/base/tap.sh
top=$PWD
# below build/, as a user's own files are: the machine's user has to find it
temp=$(mktemp -d "$top/build/host-files.XXXXXX")
# a folder of its own for machines' names, so that other machines do not count
export XDG_RUNTIME_DIR=$temp/names
mkdir -m 700 "$XDG_RUNTIME_DIR"
shm=$(mktemp -d -p /dev/shm)
trap '"$top/tools/memcast-vm" stop files >/dev/null 2>&1; rm -rf "$temp" "$shm"' EXIT
chmod 777 "$temp"
cd "$temp" || exit 1
out="out, of it"	# QEMU's options are separated by commas
mkdir "$out" && chmod 777 "$out"
printf 'int main(int argc, char **argv) { (void)argv; return argc > 1 ? 4 : 0; }\n' >covered.c
printf '#include <stdlib.h>\nint main(void) { abort(); }\n' >aborts.c

# check NAME COMMAND…: runs the command, and shows its output if it fails
check() {
	local is=0
	cd "$temp" || exit 1
	"${@:2}" >"$temp/said" 2>&1 || is=$?
	result "$1" $is
}
vm() {
	"$top/tools/memcast-vm" --reuse --name files --devices 1 --pool-mib 16 --rw "$temp/$out" \
		"$@" </dev/null
}

reads_and_writes_in_memory() {
	echo 'of the host' >data
	# this test boots the machine; see environment_left_out
	EARLIER=yes vm -- sh -c \
		'cat data && echo changed >data && cat data && echo >/usr/bin/new; ls -d /home' >out
	grep -qx 'of the host' out && grep -qx changed out && grep -qx /home out &&
		[ "$(cat data)" = 'of the host' ]
}

an_interpreter() {
	echo 'import json, sys; print(json.dumps({"word": open(sys.argv[1]).read()}))' >script.py
	printf "of a file" >words
	[ "$(vm -- python3 script.py words)" = '{"word": "of a file"}' ]
}

rw_is_on_the_host() {
	vm -- sh -c 'echo "<testsuite/>" >"out, of it/junit.xml"; echo lost >here; exit 3'
	[ $? -eq 3 ] && [ "$(cat "$out/junit.xml")" = '<testsuite/>' ] && [ ! -e here ]
}

# --out makes the folder and those above it, also in /dev/shm, which the machine has one of, too; it
# refuses a file of that name, and names it. Errors and output that go to one file keep their order.
out_is_made() {
	"$top/tools/memcast-vm" --no-module --out new/reports --out "$shm/new" -- \
		sh -c 'echo said >new/reports/log && echo said >"$0/new/log"
			echo o1; echo e1 >&2; echo o2; echo e2 >&2; echo o3' "$shm" >said 2>&1 &&
		[ "$(grep '^[oe].$' said | tr -d '\n')" = o1e1o2e2o3 ] &&
		[ "$(cat new/reports/log)" = said ] && [ "$(cat "$shm/new/log")" = said ] || return
	echo >file
	! "$top/tools/memcast-vm" --no-module --out file/reports -- true 2>refused &&
		grep -q -- '--out: the folder file/reports cannot be made' refused
}

coverage() {
	cp covered.c "$out" && cd "$out" || return
	gcc --coverage -c covered.c && gcc --coverage -o covered covered.o &&
		vm -- ./covered && gcov -n covered.c | grep 'Lines executed:100.00% of 1'
}

core_dump() {
	gcc -g -o aborts aborts.c || return
	"$top/tools/memcast-vm" --devices 1 --pool-mib 16 --kernel 6.1 --rw . -- \
		sh -c 'ulimit -c unlimited; exec ./aborts'
	[ $? -eq 134 ] && file=$(echo core.aborts.*) && head -c 4 "$file" | grep -q ELF
}

# ordinary_user KERNEL: a user who may write only to a folder of his own. If root runs this script,
# the user is 65534, and a mount lends him the kernel in root's cache.
ordinary_user() {
	local kernel=$1 own=$temp/own-$1 id as=() dir vmlinuz='' status=0
	mkdir -p "$own/cache/$kernel" "$own/out" && cp covered.c aborts.c "$own/out" &&
		cd "$own/out" &&
		gcc --coverage -c covered.c && gcc --coverage -o covered covered.o &&
		gcc -g -o aborts aborts.c || return
	id=$(id -u)
	if [ "$id" -eq 0 ]; then
		eval "$("$top/tools/memcast-kernel" path "$kernel")" && dir=$(dirname "$vmlinuz") ||
			return
		id=65534
		# shellcheck disable=SC2016	# for the inner shell
		as=(unshare -m sh -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' - "$dir" \
			"$own/cache/$kernel"
			setpriv --reuid=$id --regid=$id --clear-groups env HOME="$own" \
				MEMCAST_CACHE="$own/cache")
		chown -R $id:$id "$own"
	fi
	"${as[@]}" "$top/tools/memcast-vm" --kernel "$kernel" --devices 1 --pool-mib 16 --out . -- \
		sh -c '
		id -u; cat /etc/shadow; memcast-smi --json >smi.json && ./covered &&
			echo "<testsuite/>" >junit.xml
		ulimit -c unlimited; exec ./aborts' >said </dev/null || status=$?
	echo "status $status" && cat said && [ $status -eq 134 ] && grep -qx "$id" said &&
		! grep '^root:' said &&
		grep -q '"devices"' smi.json && [ "$(stat -c %u junit.xml)" = "$id" ] &&
		gcov -n covered.c | grep 'Lines executed:100.00% of 1' &&
		file=$(echo core.aborts.*) &&
		head -c 4 "$file" | grep -q ELF &&
		{ ! command -v gdb || gdb -batch -ex bt aborts "$file" | grep 'in main '; }
}

# A program finds memcast's library in the machine, even if the host has another one.
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
# A program's environment lacks variables of the calling shell and of a calling make, memcast-vm's
# own variables, and those of the program that booted the machine.
environment_left_out() {
	MAKEFLAGS=-k MAKELEVEL=3 MFLAGS=-k OLDPWD=/ SHLVL=7 env -u LC_ALL "$top/tools/memcast-vm" \
		--reuse --name files --devices 1 --pool-mib 16 --rw "$temp/$out" -- \
		cat /proc/self/environ </dev/null |
		tr '\0' '\n' >out
	grep -q '^PATH=' out && ! grep -E '^(MAKE[A-Z]*|MFLAGS|OLDPWD|SHLVL|_|LC_ALL|EARLIER)=' out
}

# One boot for four: a variable's value from the host, a file of a folder that is reached by a link,
# a program that is called by a link, with a library beside itself, which only the user may read, and
# memcast's tools in PATH
# shellcheck disable=SC2016
without_host() {
	mkdir origin && echo 'int five(void) { return 5; }' |
		gcc -shared -fPIC -x c -o origin/libfive.so - &&
		echo 'int five(void); int main(void) { return five(); }' | gcc -x c -o origin/asks - \
			-Lorigin -lfive -Wl,-rpath,'$ORIGIN' &&
		chmod -R go= origin && ln -s origin/asks asks || return
	ln -s . link && cd link || return
	WORD='of two words' "$top/tools/memcast-vm" --devices 3 --env WORD -- \
		sh -c 'echo "$WORD"; memcast-smi --json
			for tool in smi perf profile run; do command -v memcast-$tool; done
			memcast-run sh -c "echo at \$LD_LIBRARY_PATH"; memcast-run --version
			memcast-perf --help && memcast-profile --help && echo both help
			"$1"; echo "asks $?"; cat "$0"' covered.c ./asks >out
}
variable_by_name() {
	without_host && grep -qx 'of two words' out &&
		! "$top/tools/memcast-vm" --env NOT_THERE_AT_ALL -- true
}
argument_below_a_link() { tail -n 1 out | cmp - covered.c; }
program_called_by_a_link() { grep -qx 'asks 5' out || { cat out; return 1; } }
tools_without_host() {
	local tool
	cat out
	for tool in smi perf profile run; do
		grep -qx "/memcast-vm/memcast-$tool" out || return
	done
	grep -q '"device": *2' out && grep -qx 'both help' out &&
		grep -q "^at $top/build/lib" out &&
		grep -qx "$("$top/tools/memcast-run" --version)" out
}
# shellcheck disable=SC2016
tools_with_host() {
	vm -- sh -c 'for tool in smi perf profile run bench ptx hosts; do
			command -v memcast-$tool || echo "no $tool"
		done' >out
	cat out
	! grep '^no ' out && grep -qx "$top/build/tools/memcast-bench" out &&
		grep -qx "$top/tools/memcast-run" out
}

plan files 17
check reads_and_writes_in_memory reads_and_writes_in_memory
if command -v python3 >/dev/null; then
	check an_interpreter an_interpreter
else
	skip an_interpreter 'no python3 here'
fi
check rw_is_on_the_host rw_is_on_the_host
check out_is_made out_is_made
check coverage coverage
check core_dump core_dump
check our_library our_library
check environment_comes_along environment_comes_along
check environment_left_out environment_left_out
check variable_by_name variable_by_name
check argument_below_a_link argument_below_a_link
check program_called_by_a_link program_called_by_a_link
check tools_without_host tools_without_host
check tools_with_host tools_with_host
if command -v gdb >/dev/null; then
	check debugger debugger
else
	skip debugger 'no gdb here'
fi
for kernel in 6.12 6.1; do
	if [ "$(id -u)" -eq 0 ] && ! unshare -m true 2>/dev/null; then
		skip "ordinary_user_$kernel" "no mount namespace to be had"
	elif [ "$(id -u)" -eq 0 ] &&
		! setpriv --reuid=65534 --clear-groups test -x "$top/tools/memcast-vm"; then
		skip "ordinary_user_$kernel" "another user cannot reach $top/tools/memcast-vm"
	else
		check "ordinary_user_$kernel" ordinary_user "$kernel"
	fi
done
exit $failed
