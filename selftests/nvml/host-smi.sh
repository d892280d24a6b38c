#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: what memcast-smi says of processes in a virtual machine, as
# JSON against its schema and as a page; which a browser reads as well, where there is one.
cd "$(dirname "$0")/../.." || exit 1
. selftests/script/tap.sh
temp=$(mktemp -d "$PWD/build/host-smi.XXXXXX")
chmod 755 "$temp"
trap 'rm -rf "$temp"' EXIT

plan smi 8
if ! command -v python3 >/dev/null; then
	for word in machine schema schema_refuses page pieces links pool browser; do skip $word "no python3 here"; done
	exit
fi

# Both are looked at once all is as it stays: somebody waits, and the last of them has its memory.
# shellcheck disable=SC2016	# for the machine's shell
gcc -Wall -Wextra -Iinclude -o "$temp/host-smi" selftests/nvml/host-smi.c -Lbuild/lib -lcuda >"$temp/said" 2>&1 &&
	tools/memcast-vm --rw "$temp" --root --devices 4 --pool-mib 64 -- sh -c 'cd "$1"; ./host-smi &
	until memcast-smi --json >smi.json && grep -q cuMulticastBindMem smi.json && grep -q "\"where\": *\"3\"" smi.json; do
		kill -0 $! || exit; sleep 0.1
	done
	memcast-smi pool >pool && memcast-smi --html page.html && ! ls | grep part && ! memcast-smi --html none/page.html 2>none' \
	sh "$temp" >>"$temp/said" 2>&1
result machine $?

python3 selftests/nvml/host-smi.py "$temp" docs/memcast-smi.schema.json >"$temp/said" 2>&1
for word in schema schema_refuses page pieces links pool; do
	case $word in schema*)
		if grep -qx 'no jsonschema' "$temp/said"; then
			skip $word "no python3-jsonschema here"
			continue
		fi ;;
	esac
	grep -qx $word "$temp/said"
	result $word $?
done

# What a browser makes of the page has the same pictures in it.
browser() {
	chromium --headless --no-sandbox --disable-gpu --user-data-dir="$temp/chromium" \
		--dump-dom "file://$temp/page.html" >"$temp/dom" 2>"$temp/said"
	local part
	for part in '<rect' '<text' '<tr' '<h3' '&lt;b'; do
		[ "$(grep -o "$part" "$temp/page.html" | wc -l)" -eq "$(grep -o "$part" "$temp/dom" | wc -l)" ] ||
			{ echo "$part: page and browser differ" >>"$temp/said"; return 1; }
	done
}
if command -v chromium >/dev/null; then
	browser
	result browser $?
else
	skip browser "no chromium here"
fi
[ -z "${KEEP_PAGE-}" ] || cp "$temp/page.html" "$temp/smi.json" "$KEEP_PAGE"
exit $failed
