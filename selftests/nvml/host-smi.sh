#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: checks what memcast-smi shows of processes in a virtual machine:
# JSON, against its schema, and a page, which a browser reads as well if there is one.
cd "$(dirname "$0")/../.." || exit 1
. selftests/base/tap.sh
temp=$(mktemp -d "$PWD/build/host-smi.XXXXXX")
chmod 755 "$temp"
trap 'rm -rf "$temp"' EXIT

plan smi 17
if ! command -v python3 >/dev/null; then
	for word in not_loaded machine statuses header written_anew schema schema_refuses page \
		bindings pieces links pool lazy large topo_schema topo_refuses browser; do
		skip $word "no python3 here"
	done
	exit
fi

# Without the module, memcast-smi says so, and has nvidia-smi's status without its driver.
not_loaded() {
	local words status
	for words in '' topo pool --json -q '--html page.html' \
		'--query-device=index --format=csv' '-l 1'; do
		status=0
		# shellcheck disable=SC2086
		build/tools/memcast-smi $words || status=$?
		[ $status -eq 9 ] || { echo "memcast-smi $words: status $status"; return 1; }
	done >"$temp/said" 2>&1
	[ "$(grep -c 'insmod memcast.ko' "$temp/said")" -eq 8 ]
}
if [ -e /sys/class/memcast ]; then
	skip not_loaded "memcast.ko is loaded here"
else
	not_loaded
	result not_loaded $?
fi

# Both outputs are taken once nothing changes any more: a process waits, and the last process has
# its memory. The output that says so may have begun before.
# shellcheck disable=SC2016	# for the machine's shell
gcc -Wall -Wextra -Iinclude -Iinclude/cuda -o "$temp/host-smi" selftests/nvml/host-smi.c \
	-Lbuild/lib -lcuda >"$temp/said" 2>&1 &&
	tools/memcast-vm --rw "$temp" --root --devices 4 --pool-mib 64 -- \
	sh -c 'cd "$1"; ./host-smi &
	until memcast-smi --json >smi.json && grep -q cuMulticastBindMem smi.json &&
			grep -q "\"where\": *\"3\"" smi.json; do
		kill -0 $! || exit; sleep 0.1
	done
	memcast-smi --json >smi.json && memcast-smi topo --json >topo.json && memcast-smi pool >pool &&
		memcast-smi --html page.html && ! ls | grep part && memcast-smi >tables || exit
	for words in "--html none/page.html" "-l 1 --html none/page.html" "-i 77" --nonsense; do
		memcast-smi $words 2>>none
		echo "$? $words"
	done >statuses
	for words in memcast-smi memcast-profile "memcast-perf allreduce -e 8"; do
		$words >/dev/full 2>>none
		echo "$? $words" >>statuses
	done
	memcast-smi -l 1 --html again.html &
	until [ -e again.html ]; do sleep 0.1; done
	cp again.html first.html
	kill $(pidof host-smi)
	while grep -q rank0 again.html; do sleep 0.1; done
	kill $!' \
	sh "$temp" >>"$temp/said" 2>&1
result machine $?

printf '%s\n' '1 --html none/page.html' '1 -l 1 --html none/page.html' '6 -i 77' \
	'2 --nonsense' '1 memcast-smi' '1 memcast-profile' \
	'1 memcast-perf allreduce -e 8' |
	diff - "$temp/statuses" >"$temp/said" 2>&1
result statuses $?

# The header has the versions of the tools and of the module, as nvidia-smi's has the driver's.
head -n 2 "$temp/tables" >"$temp/said" 2>&1
version=$(build/tools/memcast-smi --version | sed 's/.* //')
grep -qE "memcast-smi $version +module $version +linux [0-9]" "$temp/said"
result header $?

# memcast-smi -l writes the page anew, always whole, for a browser that reloads it; a process that
# has ended is gone.
grep -q 'rank0' "$temp/first.html" &&
	grep -q 'http-equiv="refresh" content="1"' "$temp/first.html" &&
	! grep -q 'rank0' "$temp/again.html" && grep -q 'device 3' "$temp/again.html" &&
	grep -q '</html>' "$temp/again.html" && ! grep -q 'http-equiv' "$temp/page.html"
result written_anew $?

python3 selftests/nvml/host-smi.py "$temp" docs >"$temp/said" 2>&1
for word in schema schema_refuses topo_schema topo_refuses page bindings pieces links pool; do
	case $word in *schema* | *refuses)
		if grep -qx 'no jsonschema' "$temp/said"; then
			skip $word "no python3-jsonschema here"
			continue
		fi ;;
	esac
	grep -qx $word "$temp/said"
	result $word $?
done

# Memories of lazy pools have no places.
lazy() {
	tools/memcast-vm --rw "$temp" --root --devices 4 --pool-mib 64 --param backing=lazy -- \
		sh -c 'cd "$1"; ./host-smi &
	until memcast-smi --json >lazy.json && grep -q "\"where\": *\"3\"" lazy.json; do
		kill -0 $! || exit; sleep 0.1
	done
	memcast-smi pool >lazy-pool && memcast-smi --html lazy.html' sh "$temp" &&
		grep -q '"backing": *"lazy"' "$temp/lazy.json" &&
		! grep -q '"places"' "$temp/lazy.json" &&
		grep -q 'lazy pools have no places' "$temp/lazy-pool" &&
		grep -q 'as lazy pools have no places' "$temp/lazy.html" &&
		grep -qE '^     3  (.)\1{5}\.{58}  6 of 64 MiB$' "$temp/lazy-pool"
}
lazy >"$temp/said" 2>&1
result lazy $?

# A pool with more chunks than a picture has characters, and more ranges than a line lists
large() {
	tools/memcast-vm --root --devices 2 --pool-mib 1200,64 --add build/selftests -- \
		sh -c 'memcast-smi pool; build/selftests/fdinfo_test'
}
large >"$temp/said" 2>&1 && grep -q 'a character is 4 MiB' "$temp/said" &&
	grep -q '^ok.*more_places' "$temp/said" &&
	[ "$(grep -cE '^(     0|      )  [.]+' "$temp/said")" -eq 5 ]
result large $?

# The page as a browser renders it has the same pictures.
browser() {
	chromium --headless --no-sandbox --disable-gpu --user-data-dir="$temp/chromium" \
		--dump-dom "file://$temp/page.html" >"$temp/dom" 2>"$temp/said"
	local part
	for part in '<rect' '<text' '<tr' '<h3' '&lt;b'; do
		[ "$(grep -o "$part" "$temp/page.html" | wc -l)" -eq \
			"$(grep -o "$part" "$temp/dom" | wc -l)" ] ||
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
