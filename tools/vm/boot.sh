# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Starts and watches memcast-vm's machine, and looks for reports in its kernel's log. Used
# by memcast-vm only, with its variables: temp, build, base, cache, machine, append, watched,
# verbose, keep_log, release, vmlinuz, module, cpus, icount, memory, pool_mib, devices, hosts,
# params, settings; memcast-vm has accel and kvm_device from here.

kvm_device=/dev/kvm	# host-kvm.sh sets another file

# Are pools lazy? The module decides likewise.
lazy_pools() {
	[ -n "$module" ] || return 1
	case " ${params[*]} " in
	*" backing=lazy "*) ;;
	*" backing="*) return 1 ;;
	*) [ -z "$pool_mib" ] ;;
	esac
}

# Prints what this computer, or the container's limit of it, can give now, in MiB
available_mib() {
	local mib limit used file
	mib=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
	for file in memory.max:memory.current memory/memory.limit_in_bytes:memory/memory.usage_in_bytes; do
		read -r limit 2>/dev/null <"/sys/fs/cgroup/${file%:*}" || continue
		[ "$limit" != max ] || continue
		read -r used 2>/dev/null <"/sys/fs/cgroup/${file#*:}" || used=0
		limit=$(((limit - used) >> 20))
		[ "$limit" -ge "$mib" ] || mib=$limit
	done
	echo "$mib"
}

# Memory for a machine without --memory
choose_memory() {
	local pools=0 needs each i
	# a process per device needs 8 MiB
	needs=$((512 + 2 * $(stat -c %s "$temp/files.cpio") / 1048576 + ${hosts:+8 * devices}+0))
	if lazy_pools; then
		# The module lets pools take half of the machine's memory. The machine gets half of what
		# this computer has free, so that two fit, and 6144 MiB at most: an emulated processor
		# describes each page while it boots.
		memory=$(($(available_mib) / 2))
		[ "$memory" -le 6144 ] || memory=6144
		[ "$memory" -ge $((needs + 320)) ] || memory=$((needs + 320))
	else
		# 64 MiB a device where no pools are made: with --no-module, or where it refuses to load
		IFS=, read -ra each <<<"${pool_mib:-64}"
		for ((i = 0; i < devices; i++)); do : $((pools += ${each[i]-${each[-1]}})); done
		# Linux describes pages in a 64th of the memory, and the module leaves a 16th free
		memory=$((pools * 64 / 59 + needs))
	fi
	case $release in *-kasan|*-kcsan) memory=$((memory * 5 / 4 + 512)) ;; esac
}

# Chooses KVM or emulation for the machine's processors
choose_processors() {
	local vm_module=$build/kmod-$release/vm/memcast_vm.ko
	machine=(-nodefaults -no-user-config -display none -no-reboot -kernel "$vmlinuz"
		"${board[@]}")
	append="$board_words loglevel=5 panic=-1 oops=panic$append"
	if [ -n "$icount" ]; then
		accel=(-accel tcg -cpu "max,-erms,-fsrm" -icount shift=0,sleep=off -seed 1
			-rtc base=2024-01-01T00:00:00,clock=vm)
		append+=" nokaslr norandmaps"
		return
	elif [ "$arch" = "$own" ] && kvm_works; then
		accel=(-accel kvm -cpu host)
		return
	fi
	accel=(-accel "tcg,thread=multi" -cpu "$emulated")
	[ "$arch" = x86 ] || return 0
	# Without memcast_vm.ko QEMU may go on running kernel text that linux has replaced.
	if [ -n "$module" ] && [ "$cpus" -gt 1 ] && [ -e "$vm_module" ]; then
		pack "$vm_module" memcast-vm/modules/memcast_vm.ko
		settings=(module=/memcast-vm/modules/memcast_vm.ko "${settings[@]}")
	fi
	# If the host relies on its TSC, linux is told the rate. The rate that linux itself measures
	# on a busy host may be wrong by a factor of four; linux then reports false lockups.
	if grep -qsE 'tsc|kvm-clock' \
		/sys/devices/system/clocksource/clocksource0/current_clocksource; then
		append+=" tsc=reliable tsc_early_khz=$("$tools/vm-watch" --counter-rate)"
	fi
}

# /dev/kvm alone proves little: on some hosts stock kernels hang with KVM. So a machine is booted
# with it on trial, once per boot of the host and per kernel.
kvm_works() {
	local verdict code=0
	[ -w "$kvm_device" ] || return 1
	verdict=$cache/kvm/$(cat /proc/sys/kernel/random/boot_id)-$release
	if [ ! -e "$verdict" ]; then
		mkdir -p "$cache/kvm" "$temp/probe/memcast-vm"
		say "trying KVM with linux $release, some seconds"
		touch "$temp/probe/memcast-vm/probe"
		(cd "$temp/probe" && find memcast-vm | cpio -o -H newc --quiet) |
			cat "$base" - >"$temp/probe.cpio"
		# The answer is kept, so the 8 s are time in which the host let QEMU run.
		# without panic=-1, as arm64's exit status is the same after a panic
		{ "$tools/vm-watch" --limit 8 "$qemu_program" "${machine[@]}" -accel kvm \
			-cpu host -m 512 -initrd "$temp/probe.cpio" \
			-append "${append/panic=-1/panic=0}" </dev/null
		} >/dev/null 2>&1 || code=$?
		[ $code -eq $passed ] && echo yes >"$verdict" || echo no >"$verdict"
		say "KVM: $(cat "$verdict")"
	fi
	[ "$(cat "$verdict")" = yes ]
}

since() { awk -v a="$started" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.2f s", b - a }'; }

# until_says PATTERN FILE: wait for a line in FILE; fails if the machine has gone before
until_says() {
	until grep -qsE "$1" "$2"; do
		[ -e "$2" ] || return
		sleep 0.02
	done
}

watch() {
	until_says init "$temp/log" || return 0
	note "init after $(since)"
	until_says start "$temp/status" || return 0
	note "the program after $(since)"
}

# await PATTERN [WORDS]: wait for a line of the machine's status; say WORDS if it takes over 2 s
await() {
	local start=$EPOCHSECONDS
	until grep -qsE "^($1)" "$temp/status"; do
		[ -e "$temp/status" ] || exit 0
		sleep 0.2
		if [ -n "${2-}" ] && ((EPOCHSECONDS - start > 2)); then
			say "$2"
			await "$1"
		fi
	done
}

# Tells a person at a terminal what takes so long
tell() {
	await start "booting linux $release"
	await 'exit|signal'
	await end "the program has ended; unloading memcast.ko, looking for what is left"
}

# The first SIGINT to this script is passed on to the program; the second one ends the machine.
asked=
interrupted() {
	if [ -n "$asked" ] || [ -n "$icount" ] || [ -n "$reuse" ] ||
	   ! grep -qs '^start' "$temp/status"; then
		exit 130
	fi
	asked=yes
	echo 'signal 2' 1<>"$temp/clock.in"
}

# wait_for PID, or -n PID…: wait, and go on after a signal that interrupted() passed on
wait_for() {
	local before status
	while :; do
		before=$asked status=0
		wait "$@" || status=$?
		[ "$before" != "$asked" ] || return $status
	done
}

# Waits for a tail that passes output on; its status is 141 if the reader of the output has gone.
tail_ended() {
	local status=0
	wait_for "$1" || status=$?
	case $status in
	0) ;;
	141) say "nobody reads the output any more; stopped"
	     exit 141 ;;
	*) die "the output could not be written: $(sed 's/^tail: //' "$temp/tail" | head -n 1)" ;;
	esac
}

# Output goes to files, not pipes: QEMU ends at once, and output waits for a slow reader.
boot() {
	local tails=() watcher=
	rm -f "$temp"/{log,status,out,err,qemu}
	touch "$temp"/{log,status,out,err,qemu}
	# The files that tell of a full disk get their room before the disk is full.
	{ fallocate -n -l 1M "$temp/log" && fallocate -n -l 64K "$temp/status" &&
		fallocate -n -l 64K "$temp/qemu"; } 2>/dev/null || true
	"$tools/vm-watch" "${watched[@]}" -- "$qemu_program" "${machine[@]}" \
		0<&"$keys" >/dev/null 2>>"$temp/qemu" &
	qemu=$!
	tail -c +1 -f -s 0.02 --pid=$qemu "$temp/out" 2>"$temp/tail" &
	tails+=($!)
	tail -c +1 -f -s 0.02 --pid=$qemu "$temp/err" >&2 2>/dev/null &
	tails+=($!)
	if [ -n "$verbose" ]; then watch & watcher=$!
	elif [ -t 2 ]; then tell & watcher=$!; fi
	code=0
	wait_for -n "$qemu" "${tails[@]}" || true
	if kill -0 "$qemu" 2>/dev/null && ! kill -0 "${tails[0]}" 2>/dev/null; then
		tail_ended "${tails[0]}"
	fi
	wait_for "$qemu" || code=$?
	qemu=
	# After a failed boot vm-door stays, as its clients wait for the next attempt.
	! booted || [ -z "$door" ] || { kill "$door" 2>/dev/null; door=; } || true
	tail_ended "${tails[0]}"
	wait_for "${tails[1]}" || true
	[ -z "$watcher" ] || kill "$watcher" 2>/dev/null || true
}

# ---- the kernel's log, and the machine's messages

panics='Kernel panic - .*|Oops: .*|the kernel reported something while it booted'
booted() { grep -q 'memcast-vm: init' "$temp/log"; }
# Prints vm-watch's message if it ended QEMU for its silence while linux booted; else fails
hung() { [ $code -eq 124 ] && ! booted && grep -oE 'wrote nothing .*' "$temp/qemu"; }
reports='WARNING:|BUG:|Oops|Internal error: |kernel BUG|KASAN|KCSAN|UBSAN|general protection fault|Bad page|'
reports+='refcount_t|DMA-API|INFO: task .* blocked|possible circular locking|'
reports+='inconsistent lock state|suspicious RCU|possible recursive|held lock freed|'
reports+='bad unlock balance|still has locks held|'
reports+='lock held when returning|sleeping function called|unreferenced object|soft lockup|'
reports+='rcu: INFO|stack-protector|memory leak|list_(add|del) corruption|ODEBUG|Call [Tt]race'
harmless='DMA-API: preallocated|KASAN: outline|debugging enabled|KernelAddressSanitizer initialized'

# On a busy machine vivid's capture thread runs late and asks the kernel to sleep for a negative
# time. The kernel reports that with a call trace; it is the driver's fault and fails no run.
without_late_vivid() {
	awk '/schedule_timeout: wrong timeout value/ { held = 1; text = "" }
		!held { print; next }
		{ text = text $0 "\n" }
		/<\/TASK>/ {
			if (text !~ /vivid_thread_/ || text ~ /BUG|WARNING|memcast/)
				printf "%s", text
			held = 0
		}
		END { if (held) printf "%s", text }'
}

# Where programs have used up the memory, Linux says so with call traces: they report no fault.
without_oom() {
	sed '/ invoked oom-killer: /,/[Oo]ut of memory: Killed process /d
		/ page allocation failure: order:0, mode:.*GFP_HIGHUSER/,/<\/TASK>/d'
}
more_memory() { echo "--memory gives the machine more than its $memory MiB"; }
say_out_of_memory() {
	local killed
	killed=$(grep -oE 'Out of memory: Killed process [0-9]+ \([^)]*\)' "$temp/log" | tail -n 1) || true
	[ -z "$killed" ] || say "the machine ran out of memory, and Linux killed ${killed#*Killed }:" \
		"$(more_memory)"
	! grep -q 'memcast: lazy pools have no more memory' "$temp/log" ||
		say "programs touched more memory of devices than the machine has for pools:" \
			"$(more_memory)"
}

# show_reports: print reports in the kernel's log; fails if there is none
show_reports() {
	local found
	found=$(grep -vE "$harmless" "$temp/log" | without_oom | without_late_vivid | awk -v re="$reports" '
		{ sub(/\r$/, "") }
		!left && $0 ~ re { left = 45; shown++; if (shown > 1) print "…" }
		left { print "  " $0; left-- }
		{ if (shown > 3) exit }') || true
	[ -z "$found" ] || echo "$found" >&2
	[ -n "$found" ]
}
# Shows the log's last lines; lines of the boot only if there are no others
show_log() {
	{ sed '1,/memcast-vm: init/d' "$temp/log" | grep . || cat "$temp/log"; } | tail -n "$1" |
		sed 's/\r$//; s/^/  /' >&2
}
saved() { [ -n "$keep_log" ] && echo "the whole log is in $keep_log" ||
	echo "for the whole log, run again with --keep-log FILE"; }
# lost FILE BYTES: the file is shorter than what the program has written
lost() { [ "$(stat -c %s "$temp/$1")" -ne "$2" ]; }
