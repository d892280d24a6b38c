#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: checks the manual pages. Each says the same as the program, the
# header or the module; mandoc and groff print no warning.
cd "$(dirname "$0")/../.." || exit 1
. selftests/base/tap.sh
export LC_ALL=C.UTF-8 PATH=$PWD/build/tools:$PWD/tools:$PATH
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT

# words FILE: prints a page as plain words, without roff's markup
words() { sed 's/\\f[BIR]//g; s/\\-/-/g; s/\\(dq/"/g; s/\\e/\\/g; s/\\&//g' "$1"; }

# A page has each option of --help, and each line that explains an option, below the option.
options() {
	local page command word
	for page in build/man/memcast-*.1; do
		command=${page##*/} command=${command%.1}
		words "$page" >"$temp/page"
		"$command" --help | grep -oE '^ *(-[^ ,]+, )*--[a-z-]+' | grep -oE -- '--[a-z-]+' |
			while read -r word; do
			grep -qE "^ *(-[^ ,]+, )?$word\b" "$temp/page" ||
				{ echo "$page has no $word"; exit 1; }
		done || return 1
		[ "$(tr -s ' \n' '\n\n' <"$temp/page" | wc -l)" -ge \
			"$("$command" --help | wc -w)" ] ||
			{ echo "$page has fewer words than $command --help"; return 1; }
	done
	! grep -nE '^ {12}' build/man/memcast-*.1
}

# Each tool has a page. No page has ???, which a program outside of a UTF-8 locale prints for "…".
each_tool() {
	local tool
	for tool in tools/memcast-* build/tools/memcast-*; do
		[ -s "build/man/${tool##*/}.1" ] || { echo "$tool has no page"; return 1; }
	done
	! grep -nF '???' build/man/*.[1-9]
}

# Each function of a public header has a page, and the header's own page declares it.
functions() {
	local header name
	for header in include/memcast/*.h; do
		for name in $(sed -nE 's/^ \* (memcast[A-Za-z]+)\(\) - .*/\1/p' "$header"); do
			[ -e "build/man/$name.3" ] || { echo "$name has no page"; return 1; }
			grep -q "$name(" \
				"build/man/$(basename "$(sed 's/.so //' "build/man/$name.3")")" ||
				{ echo "$name is not declared on its page"; return 1; }
		done
	done
}

# Section 4 has each command and each parameter of the module, section 7 each variable.
module() {
	local name
	words build/man/memcast.4 >"$temp/page"
	for name in $(sed -nE 's/^ \* struct memcast_[a-z_]+ - ioctl\((MEMCAST_[A-Z_]+)\)/\1/p' \
		include/uapi/memcast.h); do
		grep -q "ioctl($name)" "$temp/page" || { echo "no $name"; return 1; }
	done
	for name in $(sed -nE 's/^module_param(_[a-z]+)*\(([a-z_]+),.*/\2/p' kmod/*/*.c); do
		grep -qx "\.I $name" "$temp/page" || { echo "no MODULE_PARM_DESC of $name"; return 1; }
		grep -q "^| .*\`$name\`" docs/install/by-hand.md ||
			{ echo "docs/install/by-hand.md has no row of $name"; return 1; }
	done
	words build/man/memcast.7 >"$temp/page"
	for name in $(sed -nE 's/^## ([A-Z_]+)$/\1/p' docs/environment.md); do
		grep -qx "\.B $name" "$temp/page" || { echo "no variable $name"; return 1; }
	done
}

# pages that do more than refer to another page
pages() { grep -L '^\.so ' build/man/*.[1-9]; }

plan man 6
env -u MAKEFLAGS -u MAKELEVEL make man >"$temp/said" 2>&1
result made $?
each_tool >"$temp/said" 2>&1
result each_tool $?
options >"$temp/said" 2>&1
result options $?
functions >"$temp/said" 2>&1
result functions $?
module >"$temp/said" 2>&1
result module $?
if command -v mandoc >/dev/null; then
	# shellcheck disable=SC2046	# words of a command
	mandoc -Tlint $(pages) >"$temp/said" 2>&1
	[ ! -s "$temp/said" ]
	result mandoc $?
else
	skip mandoc "no mandoc here: apt-get install mandoc"
fi
exit $failed
