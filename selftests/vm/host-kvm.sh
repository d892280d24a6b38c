#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: memcast-vm uses KVM if linux boots with it, and emulation
# otherwise. A false QEMU plays a host with KVM, so that any host can run this; nothing is booted.
cd "$(dirname "$0")/../.." || exit 1
. selftests/script/tap.sh
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
mkdir "$temp/bin"
touch "$temp/device" "$temp/base" "$temp/said"

# qemu COMMAND: makes a false QEMU, which notes its arguments and runs the command
qemu() {
	printf '#!/bin/bash\necho "$*" >>"%s"\n%s\n' "$temp/calls" "$1" \
		>"$temp/bin/$qemu_program"
	chmod +x "$temp/bin/$qemu_program"
	rm -f "$temp/calls"
}

# chosen CACHE DEVICE: prints the options with which memcast-vm starts QEMU
chosen() {
	# shellcheck disable=SC2016
	PATH="$temp/bin:$PATH" bash -Eeuo pipefail -c '
		build=build tools=build/tools base=$2/base cache=$2/$3 temp=$2 verbose= keep_log= release=6.12-played
		vmlinuz=vmlinuz module= cpus=2 icount= append= settings=()
		kernel=6.12 wanted_arch=
		say() { echo "$*" >>"$temp/said"; }
		. tools/vm/processors.sh
		. tools/vm/boot.sh
		choose_arch
		kvm_device=$1
		choose_processors
		echo "${accel[*]}"' - "$2" "$temp" "$1" 2>>"$temp/said"
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

# QEMU's status at the end of a machine of this computer's processors
# shellcheck disable=SC2034	# for choose_arch
kernel=6.12 wanted_arch='' icount='' passed='' qemu_program=''
# shellcheck source=tools/vm/processors.sh
. tools/vm/processors.sh
choose_arch
kvm='-accel kvm -cpu host' emulated='-accel tcg,thread=multi'

plan kvm 7
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
# on a host whose KVM hangs, only the first machine waits for it
qemu "exec sleep 100000"
chooses "$emulated" hangs "$temp/device" && chooses "$emulated" hangs "$temp/device" && calls 1 &&
	verdict hangs no
result emulated_where_it_hangs $?
qemu "exit $passed"
chooses "$emulated" none "$temp/no-device" && calls 0 && [ ! -e "$temp/none/kvm" ]
result emulated_without_a_device $?
exit $failed
