#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: tools/memcast-vm reports failures, and ends programs and machines
# that make no progress. Each boot serves several tests.
cd "$(dirname "$0")/../../.." || exit 1
. selftests/base/tap.sh
vm=$PWD/tools/memcast-vm
temp=$(mktemp -d)
mounted=
cleanup() {
	[ -z "$mounted" ] || umount "$temp/small"
	rm -rf "$temp"
}
trap cleanup EXIT
status=0

# A program that copes with a comma and a space copes with any folder.
export TMPDIR="$temp/a, b"
mkdir "$TMPDIR" "$temp/bin" "$temp"/only-{conf,rpath,path}

# check NAME COMMAND…: a failed command shows the output of the last run, in $temp/{out,err}
check() {
	if "${@:2}"; then
		passes "$1"
	else
		fails "$1" < <(tail -n 30 "$temp/out" "$temp/err"; echo "status $status")
	fi
}

run() {
	"$@" >"$temp/out" 2>"$temp/err" </dev/null
	status=$?
}

said() { grep -qE -- "$1" "$temp/out"; }
told() { grep -qE -- "$1" "$temp/err"; }
ended() { [ $status -eq "$1" ]; }

# A mount namespace, if one can be had, gives programs another /etc/ld.so.cache.
namespace=()
for words in "unshare -m" "unshare -rm"; do
	[ ${#namespace[@]} -gt 0 ] || ! $words true 2>/dev/null || read -ra namespace <<<"$words"
done

plan vm 25

# ---- packed files: one boot, of a program whose name begins with "-"

${CC:-gcc} -shared -fPIC -o "$temp/only-conf/libonlyconf.so" -x c - <<-END
	int only_conf(void) { return 42; }
END
${CC:-gcc} -o "$temp/bin/uses-conf" -x c - -L"$temp/only-conf" -lonlyconf <<-END
	#include <stdio.h>
	int only_conf(void);
	int main(void) { return printf("from ld.so.conf %d\n", only_conf()) < 0; }
END
# libraries in a folder of the program's own search path, and in LD_LIBRARY_PATH
for place in rpath path; do
	${CC:-gcc} -shared -fPIC -o "$temp/only-$place/libonly$place.so" -x c - \
		<<<"int only_$place(void) { return 43; }"
	# shellcheck disable=SC2046
	${CC:-gcc} -o "$temp/bin/uses-$place" -x c - -L"$temp/only-$place" -lonly$place \
		$([ $place = path ] || echo "-Wl,-rpath,$temp/only-$place") <<-END
		#include <stdio.h>
		int only_$place(void);
		int main(void) { return printf("from $place %d\n", only_$place()) < 0; }
	END
done
export LD_LIBRARY_PATH=$temp/only-path
# NCCL and others link with none of these libraries, and open them by name.
${CC:-gcc} -o "$temp/bin/opens" -x c - <<-END
	#include <dlfcn.h>
	#include <stdio.h>
	int main(void)
	{
		int nvml = !!dlopen("libnvidia-ml.so.1", RTLD_NOW);
		int cuda = !!dlopen("libcuda.so.1", RTLD_NOW);
		int array = !!dlopen("libmemcast.so.0", RTLD_NOW);

		return printf("opened %d %d %d %d\n", nvml, cuda, array,
			      !!dlopen("libcudart.so.13", RTLD_NOW)) < 0;
	}
END
${CC:-gcc} -pthread -o "$temp/bin/cancels" -x c - <<-END
	#include <pthread.h>
	#include <stdio.h>
	#include <unistd.h>
	static void *body(void *arg) { pause(); return arg; }
	int main(void)
	{
		pthread_t thread;
		void *value;

		pthread_create(&thread, NULL, body, NULL);
		pthread_cancel(thread);
		pthread_join(thread, &value);
		return printf("cancelled %d\n", value == PTHREAD_CANCELED) < 0;
	}
END
cat >"$temp/bin/-program" <<-END
	#!/bin/sh
	echo arguments \$#
	$temp/bin/uses-conf
	$temp/bin/uses-rpath
	$temp/bin/uses-path
	$temp/bin/opens
	$temp/bin/cancels
	$temp/not-packed
END
chmod +x "$temp/bin/-program"
# without the other ld.so.cache, its library is found nowhere, which is an error
[ ${#namespace[@]} -gt 0 ] || rm "$temp/bin/uses-conf"
touch "$temp/not-packed"
echo "include /etc/ld.so.conf
$temp/only-conf" >"$temp/ld.so.conf"
PATH=$PATH:/usr/sbin:/sbin ldconfig -iX -C "$temp/ld.so.cache" -f "$temp/ld.so.conf" 2>/dev/null
mapfile -t many < <(seq 5000)
# shellcheck disable=SC2016	# for the inner shell
PATH=$temp/bin:$PATH run "${namespace[@]}" bash -c '
	[ -z "$1" ] || mount --bind "$2" /etc/ld.so.cache || exit 99
	exec "${@:3}"' - "${namespace[*]}" "$temp/ld.so.cache" \
	"$vm" --no-module --add "$temp/bin" -- -program "${many[@]}"
check command_begins_with_a_dash said '^arguments '
check comma_in_tmpdir said '^arguments '
check five_thousand_arguments said '^arguments 5000$'
if [ ${#namespace[@]} -gt 0 ]; then
	check library_of_ld_so_conf said '^from ld.so.conf 42$'
else
	skip library_of_ld_so_conf "no mount namespace to be had"
fi
check library_of_rpath said '^from rpath 43$'
check library_of_ld_library_path said '^from path 43$'
check libraries_opened_by_name said '^opened 1 1 1 1$'
unset LD_LIBRARY_PATH
check thread_can_be_cancelled said '^cancelled 1$'
check status_127_has_a_hint eval 'ended 127 && told "--add"'

# ---- a full disk

if [ ${#namespace[@]} -gt 0 ]; then
	# shellcheck disable=SC2016
	run "${namespace[@]}" bash -c '
		mount -t tmpfs -o size=40m tmpfs "$TMPDIR" && exec "$@"' - \
		"$vm" --no-module -- sh -c 'head -c 40000000 /dev/zero; exit 37'
	check lost_output_is_an_error eval 'ended 125 && told "output was lost.*no room is left"'
else
	skip lost_output_is_an_error "no mount namespace to be had"
fi
if [ -w /dev/full ]; then
	"$vm" --no-module -- sh -c 'echo; sleep 1000' >/dev/full 2>"$temp/err" </dev/null
	status=$?
	check output_that_nobody_takes eval 'ended 125 && told "could not be written"'
else
	skip output_that_nobody_takes "no /dev/full"
fi

# ---- a panic before init is tried again; a program that waits is explained

cat >"$temp/bin/qemu-system-x86_64" <<-END
	#!/bin/bash
	printf '%s\n' "\$*" >>"$temp/calls"
	[ "\$(wc -l <"$temp/calls")" -gt 1 ] || {
		for log in "$TMPDIR"/memcast-vm.*/log; do
			echo "Kernel panic - not syncing: IO-APIC + timer doesn't work!" >>"\$log"
		done
		exit 0
	}
	exec $(type -P qemu-system-x86_64) "\$@"
END
chmod +x "$temp/bin/qemu-system-x86_64"
${CC:-gcc} -Iinclude -Iinclude/cuda -o "$temp/waits" -x c - -Lbuild/lib -lcuda <<-END
	#include <cuda.h>
	int main(void)
	{
		CUmulticastObjectProp prop = { .numDevices = 2, .size = 2 << 20 };
		CUmemAllocationProp on = {
			.type = CU_MEM_ALLOCATION_TYPE_PINNED,
			.location.type = CU_MEM_LOCATION_TYPE_DEVICE,
		};
		CUmemGenericAllocationHandle team, memory;

		if (cuInit(0) || cuMulticastCreate(&team, &prop) || cuMulticastAddDevice(team, 0) ||
		    cuMemCreate(&memory, prop.size, &on, 0))
			return 1;
		return cuMulticastBindMem(team, 0, memory, 0, prop.size, 0);
	}
END
PATH=$temp/bin:$PATH run "$vm" --timeout 5 -- "$temp/waits"
check panic_while_booting_is_tried_again eval \
	'told "linux did not boot \(Kernel panic .*attempt 1 of 3" &&
		[ "$(wc -l <"$temp/calls")" -eq 2 ]'
check timer_is_not_tested grep -q no_timer_check "$temp/calls"
explained() {
	ended 124 && told 'time is up: .* used no processor for 5 s' && told '\(waits\) sleeps' &&
		told 'WAITING SINCE'
}
check who_waits_is_explained explained

cat >"$temp/bin/qemu-system-x86_64" <<-END
	#!/bin/bash
	echo >>"$temp/boots"
	[ "\$(wc -l <"$temp/boots")" -gt 1 ] ||
		set -- "\${@/no_timer_check/no_timer_check sysctl.kernel.tainted=512}"
	exec $(type -P qemu-system-x86_64) "\$@"
END
PATH=$temp/bin:$PATH run "$vm" -- true
check report_while_booting_is_tried_again eval 'ended 0 &&
	told "the kernel reported something while it booted\), attempt 1 of 3" &&
	[ "$(wc -l <"$temp/boots")" -eq 2 ]'

# fails_once NAME TEXT COMMAND: a false QEMU that, the first time, boots nothing, writes TEXT to the
# log and runs COMMAND
fails_once() {
	cat >"$temp/bin/qemu-system-x86_64" <<-END
		#!/bin/bash
		echo >>"$temp/$1"
		if [ "\$(wc -l <"$temp/$1")" -eq 1 ]; then
			tr '\0' ' ' <"/proc/\$PPID/cmdline" >"$temp/$1.watch"
			for log in "$TMPDIR"/memcast-vm.*/log; do echo "$2" >>"\$log"; done
			exec $3
		fi
		exec $(type -P qemu-system-x86_64) "\$@"
	END
}

# With --icount, the host ends a machine right after --timeout, and not a minute later.
fails_once hangs "acpi PNP0A03" "sleep 10000"
PATH=$temp/bin:$PATH run "$vm" --icount --timeout 4 -- true
check hang_while_booting_is_tried_again eval 'ended 0 &&
	told "linux did not boot \(wrote nothing .*\), attempt 1 of 3" &&
	[ "$(wc -l <"$temp/hangs")" -eq 2 ]'

fails_once later "memcast-vm: init" "sleep 10000"
PATH=$temp/bin:$PATH run "$vm" --icount --timeout 4 -- true
check hang_after_that_is_not_tried_again eval 'ended 124 && told "time was up" &&
	! told "boot" && [ "$(wc -l <"$temp/later")" -eq 1 ]'

fails_once panics "Kernel panic - not syncing" true
PATH=$temp/bin:$PATH run "$vm" --reuse --name tried-again --idle 5 -- echo here
check reused_machine_boots_again eval \
	'ended 0 && said here && [ "$(wc -l <"$temp/panics")" -eq 2 ]'
check booting_has_less_time grep -qE -- '--begun [^ ]*.*/status' "$temp/panics.watch"
run "$vm" stop tried-again

# ---- a kernel's report about a late thread of vivid fails no run; one about another thread does

reported() {
	run "$vm" --no-module --root -- sh -c "
		for line in 'schedule_timeout: wrong timeout value ffffffffffffffea' 'Call Trace:' \\
			' $1+0x3b2/0x440' ' </TASK>'; do echo \"<4>\$line\" >/dev/kmsg; done"
}
reports_by_driver() {
	reported vivid_thread_vid_cap && ended 0 && reported mc_team_wait && ended 126
}
check reports_by_driver reports_by_driver

# ---- more memory than the host has

ulimited() (
	ulimit -v 4000000
	run "$vm" --memory 8192 -- true
	ended 125 && told "does not give the machine the 8192 MiB"
)
check too_much_memory ulimited

# ---- a program that computes goes on until the limit, in the machine's time, not the clock's

# shellcheck disable=SC2016
run "$vm" --no-module --timeout 4 --limit 30 -- sh -c '
	seconds() { while ! read -r now </run/memcast-vm.clock; do :; done; echo "${now%.*}"; }
	while [ ! -s /run/memcast-vm.clock ]; do sleep 0.1; done
	start=$(seconds)
	while [ $(($(seconds) - start)) -lt 12 ]; do :; done
	echo computed
	while :; do :; done'
check silent_work_goes_on_to_the_limit eval \
	'ended 124 && said "^computed" && told "did not end in 30 s"'

# ---- without a terminal, the first SIGINT goes to the program, and the second ends the machine

# said_by PID WORD: waits for the word; false if the process has ended without writing it
said_by() { until said "$2"; do kill -0 "$1" 2>/dev/null || return; sleep 0.1; done; }
two_interrupts() {
	# A script's children in the background ignore SIGINT, and bash could not trap it.
	env --default-signal=INT "$vm" --no-module --limit 300 -- sh -c '
		trap "echo caught" INT; echo up; while :; do sleep 0.1; done' >"$temp/out" \
			2>"$temp/err" </dev/null &
	said_by $! ^up && kill -INT $! && said_by $! ^caught && kill -0 $! && kill -INT $!
	wait $!
	status=$?
	ended 130 && [ "$(grep -c caught "$temp/out")" -eq 1 ]
}
check two_interrupts two_interrupts

# ---- killing the runner ends the machine

: >"$temp/out"	# the test before has left its "up" there
"$vm" --no-module -- sh -c 'echo up; sleep 1000' >"$temp/out" 2>"$temp/err" </dev/null &
runner=$!
disown
until grep -q up "$temp/out" || ! kill -0 $runner 2>/dev/null; do sleep 0.1; done
folder=$(echo "$TMPDIR"/memcast-vm.*)
machines() { pgrep -f "path=${folder//,/,,}" >/dev/null; }
nothing_left() {
	[ -n "$before" ] || return 1
	for ((i = 0; i < 600; i++)); do
		machines || [ -e "$folder" ] || return 0
		sleep 0.1
	done
	return 1
}
before=$(machines && echo yes)
kill -KILL $runner
check killed_runner_leaves_nothing nothing_left

# ---- the demo's first program does less when there is no time for more; data end where the
# ranks' flags begin

run "$vm" --add build/tools/memcast-perf:/memcast-vm/memcast-perf -- sh -c '
	memcast-perf allreduce --iters 100000 --seconds 2 &&
	memcast-perf broadcast --ranks 2 --minbytes 2094832 --maxbytes 2094832'
check perf_in_time eval \
	'ended 0 && said "^# Fewer iterations from" && ! said "Out of bounds values : [1-9]" &&
	 [ "$(grep -c "^# Out of bounds values : 0 OK" "$temp/out")" -eq 2 ]'
exit $failed
