#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: linux may change its own text while emulated processors run it.
# Without tools/vm/module, a machine ends within some tens of the changes that this test makes.
cd "$(dirname "$0")/../../.." || exit 1
. selftests/base/tap.sh
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
plan text 2

# Processors that switch between programs run into this tracepoint all the time.
cat >"$temp/change" <<'END'
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
event=/sys/kernel/tracing/events/sched/sched_switch/enable
for _ in 1 2; do
	yes | cat >/dev/null &
done
count=0
while [ $count -lt 60 ]; do
	echo 1 >"$event" && echo 0 >"$event" || exit
	count=$((count + 1))
done
echo changed
END
for kernel in 6.1 6.12; do
	tools/memcast-vm --kernel $kernel --root --timeout 60 --add "$temp/change" -- \
		sh "$temp/change" \
		</dev/null >"$temp/said" 2>&1 && grep -qx changed "$temp/said"
	result "changes_while_it_runs_$kernel" $?
done
exit $failed
