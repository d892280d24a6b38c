#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: runs the commands of docs/tracing.md, as they stand there, in one
# virtual machine, and checks what each tool says of the module's events.
cd "$(dirname "$0")/../.." || exit 1
. selftests/base/tap.sh
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT

plan tracing 5
for tool in trace-cmd bpftrace perf; do
	command -v $tool >/dev/null && continue
	for name in lines order faults waits counts; do
		skip $name "no $tool here: make deps-check-all"
	done
	exit 0
done
if head -c 2 "$(command -v perf)" | grep -q '#!'; then
	# Ubuntu's perf is a script that starts the perf of the running kernel; a machine's kernel
	# has none.
	for name in lines order faults waits counts; do
		skip $name "this perf is of one kernel only"
	done
	exit 0
fi

# Extracts the page's indented blocks whose first line begins with a command.
awk '/^## As it was tried/ { tried = 1 }
	!/^    / { block = 0; next }
	!block { block = 1; commands = $1 ~ /^(mount|trace-cmd|bpftrace|perf|mkdir)$/ }
	tried && commands { print substr($0, 5) }' docs/tracing.md >"$temp/lines"

tools/memcast-vm --host --root --devices 4 --pool-mib 16 --memory 1536 -- \
	sh -exc "$(cat "$temp/lines")" \
	>"$temp/said" 2>&1 </dev/null
status=$?
[ "$(grep -cE '^(trace-cmd|bpftrace|perf|mkdir) ' "$temp/lines")" -ge 6 ] && [ $status -eq 0 ]
result lines $?

# said NAME WORDS: a line of the tools' output matches WORDS
said() {
	grep -qE "$2" "$temp/said"
	result "$1" $?
}
said order '^ *all-gather-[0-9]+ .* memcast_join: +team=[0-9]+ device=[0-3] joined=4 devices=4'
said faults '^@faults\[all-gather, [0-9]+\]: [1-9]'
said waits '^@waited_us:'
said counts '^ +[1-9][0-9,]* +memcast:memcast_bind'
exit $failed
