#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: memcast-vm uses KVM if linux boots with it, and emulation
# otherwise. A false QEMU plays a host with KVM, so that any host can run this; nothing is booted.
cd "$(dirname "$0")/../../.." || exit 1
. selftests/base/tap.sh
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
mkdir -p "$temp/bin" "$temp/build/tools"
touch "$temp/device" "$temp/said" "$temp/build/tools/vm-init"
touch -r "$temp/build/tools/vm-init" "$temp/build/tools/vm-base.cpio"

# qemu COMMAND: makes a false QEMU, which notes its arguments and runs the command
qemu() {
	printf '#!/bin/bash\necho "$*" >>"%s"\n%s\n' "$temp/calls" "$1" \
		>"$temp/bin/$qemu_program"
	chmod +x "$temp/bin/$qemu_program"
	rm -f "$temp/calls"
}

# chosen CACHE DEVICE: prints the options with which memcast-vm starts QEMU
chosen() {
	PATH="$temp/bin:$PATH" /usr/bin/python3 -IBc 'import sys
sys.path.insert(0, "tools")
from vm import host, machine, options, pack, processors
device, temp, cache = sys.argv[1:]
place = host.Place("tools", f"{temp}/{cache}")
place.tools = "build/tools"
place.build = temp + "/build"
made = machine.Machine(options.Options(["true"], place), place)
made.temp, made.kvm_device, made.release, made.vmlinuz = temp, device, "6.12-played", "vmlinuz"
made.words = made.processors.words
made.pack = pack.Pack(made)
processors.accelerate(made)
print(*made.accel)' "$2" "$temp" "$1" 2>>"$temp/said"
}

# chooses WORDS CACHE DEVICE: memcast-vm chooses options that begin with WORDS
chooses() {
	local words
	: >"$temp/said"
	words=$(chosen "$2" "$3")
	echo "chosen: $words; in $2/kvm: $(cat "$temp/$2"/kvm/* 2>&1)" >>"$temp/said"
	[[ $words == "$1"* ]]
}
calls() { [ "$(grep -c . "$temp/calls" 2>/dev/null || true)" = "${1#0}" ]; }
verdict() { [ "$(cat "$temp/$1"/kvm/*-6.12-played)" = "$2" ]; }

# QEMU, and its status at the end of a machine of this computer's processors
qemu_program=qemu-system-x86_64 passed=85
[ "$(uname -m)" != aarch64 ] || qemu_program=qemu-system-aarch64 passed=0
kvm='-accel kvm -cpu host' emulated='-accel tcg,thread=multi'

plan kvm 8
qemu "exit $passed"
chooses "$kvm" works "$temp/device" && calls 1 && verdict works yes
result used_where_it_works $?
grep -q -- "$kvm" "$temp/calls" && grep -q -- '-initrd' "$temp/calls" && [ -s "$temp/probe.cpio" ]
result tried_with_kvm_itself $?
# KVM is tried once per boot of the host, not per machine
qemu "exit 1"
chooses "$kvm" works "$temp/device" && calls 0
result verdict_is_kept $?
chooses "$emulated" fails "$temp/device" && calls 1 && verdict fails no
result emulated_where_it_fails $?
qemu "exit $((passed + 3))"
chooses "$emulated" reboots "$temp/device" && calls 1 && verdict reboots no
result other_status_is_no_success $?
qemu "exit $passed"
chooses "$kvm" device/cache "$temp/device" && calls 1
result cache_that_cannot_be_written $?
# on a host whose KVM hangs, only the first machine waits for it
qemu "exec sleep 100000"
chooses "$emulated" hangs "$temp/device" && chooses "$emulated" hangs "$temp/device" && calls 1 &&
	verdict hangs no
result emulated_where_it_hangs $?
qemu "exit $passed"
chooses "$emulated" none "$temp/no-device" && calls 0 && [ ! -e "$temp/none/kvm" ]
result emulated_without_a_device $?
exit $failed
