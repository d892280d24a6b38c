#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: programs in machines that run already. Eight boots: one that exec
# waits for, a named machine with packed files, three with terminals, and three for --reuse; a
# fourth is killed while it boots.
cd "$(dirname "$0")/../../.." || exit 1
. selftests/base/tap.sh
vm=$PWD/tools/memcast-vm
door=$PWD/build/tools/vm-door
terminal=$PWD/tools/tests/vm/host-terminal.py
# below build/, as a user's own files are: the machine's user has to find it
temp=$(mktemp -d "$PWD/build/host-running.XXXXXX")
chmod 755 "$temp"
export XDG_RUNTIME_DIR="$temp/names that are in a folder whose path alone has more bytes than a socket's whole path may have"
mkdir -m 700 "$XDG_RUNTIME_DIR"
names=$XDG_RUNTIME_DIR/memcast
export TMPDIR=$temp/tmp
mkdir -m 1777 "$TMPDIR"
runner=
cleanup() {
	[ -z "$runner" ] || kill "$runner" 2>/dev/null
	"$vm" stop again >/dev/null 2>&1
	rm -rf "$temp"
}
trap cleanup EXIT
cd "$temp" || exit 1

# check NAME COMMAND…: runs the command, and shows its output if it fails
check() {
	local is=0
	"${@:2}" >said 2>&1 || is=$?
	result "$1" $is
}

# status NUMBER COMMAND…: the command ends with that status
status() {
	local wanted=$1 is=0
	shift
	"$@" || is=$?
	[ $is -eq "$wanted" ] || { echo "status $is"; return 1; }
}

plan running 44

# said_by PID WORD FILE: waits for the word; false if the process has ended without writing it
said_by() {
	until grep -qs "$2" "$3"; do
		kill -0 "$1" || return
		sleep 0.1
	done
}

# ---- a machine that boots for ever: nobody answers at its end of the port

# slow KIND: starts such a machine of that kind; its runner is $runner, its door $slow
slow() {
	rm -rf fake && mkdir fake && mkfifo fake/door.in fake/door.out && : >fake/settings
	bash -c '"$0" serve slow $$ fake 6.x "$@" >fake/said & echo $! >fake/door; wait' \
		"$door" "$1" sleep 1 $'\xff\n' &
	runner=$!
	said_by $runner listens fake/said && said_by $runner . fake/door && slow=$(cat fake/door)
}
# until_gone PID: waits until the process ends, whether or not a parent waits for it
until_gone() {
	while grep -qs '^State:.[^Z]' "/proc/$1/status"; do sleep 0.1; done
}
# connected PID: waits until the client has reached the machine's socket, or has ended
connected() {
	# shellcheck disable=SC2012	# what a link leads to
	until ls -l "/proc/$1/fd" 2>/dev/null | grep -q socket: || ! kill -0 "$1" 2>/dev/null; do
		sleep 0.1
	done
}
# What is no UTF-8 is U+FFFD, and what would begin another line is a "?" in the table.
is_listed_while_it_boots() {
	slow named && "$vm" ps >list && grep -q $'^slow .* starting: sleep 1 \xef\xbf\xbd?$' list &&
		"$vm" ps --json | iconv -f utf-8 >list && grep -q '"starting": *true' list &&
		status 0 "$door" stop slow
	status 143 wait "$runner"
}
# Ctrl-Z in its terminal stops a runner, and not what others ask of its machine.
stopped_machine_answers() {
	slow named && kill -TSTP "$slow" && kill -STOP "$runner" &&
		timeout 60 "$vm" ps | grep ^slow && status 0 timeout 60 "$door" stop slow
	status 143 wait "$runner"
}
input_of_no_program_is_left() {
	local client
	slow named && echo input >input || return
	{ "$door" run slow fake/settings "" cat; echo "status $?"; cat; } <input >rest 2>/dev/null &
	client=$!
	until [ -n "$(cat /proc/$client/task/$client/children)" ]; do sleep 0.1; done
	connected "$(cut -d' ' -f1 </proc/$client/task/$client/children)"
	kill "$runner" && wait $client
	[ "$(cat rest)" = "status 125
input" ]
}
# told FRAMES: a machine named closed tells its one client what these words of perl say, and closes
# the socket. A frame is CHANNEL, TYPE (6: output, 8: status, see wire.h), LENGTH and data.
told() {
	rm -f listens
	# shellcheck disable=SC2016	# perl's
	perl -MSocket -e 'chdir shift; socket(my $l, PF_UNIX, SOCK_STREAM, 0);
		bind($l, sockaddr_un("closed")) && listen($l, 1) && open(my $f, ">", shift) or exit 2;
		syswrite $f, "listens\n"; accept(my $s, $l); unlink "closed";
		my $client = unpack("i", getsockopt($s, SOL_SOCKET, 17)); kill "STOP", $client;
		sub frame { syswrite $s, pack("LLL", 0, $_[0], length $_[1]) . $_[1] }
		eval shift; close $s; kill "CONT", $client' "$names" "$PWD/listens" "$1" &
	said_by $! listens listens
}
# The client reads all that came before the socket was closed, though it can answer no more.
closed_socket_is_read() {
	told 'frame(8, "start\n"); frame(6, "x" x 30000) for 1 .. 5; frame(8, "exit 7\nend\n")' &&
		status 7 "$door" run closed fake/settings "" cat </dev/null >copy 2>err &&
		[ "$(wc -c <copy)" -eq 150000 ]
}
output_that_cannot_be_written() {
	told 'frame(8, "start\n"); frame(6, "x"); frame(8, "exit 7\nend\n")' &&
		status 125 "$door" run closed fake/settings "" cat </dev/null >/dev/full 2>err &&
		grep -q 'could not be written: No space left' err
}
# The process that runs the program in the machine may be killed there.
status_that_is_not_told() {
	told 'frame(8, "start\nend\n")' &&
		status 125 "$door" run closed fake/settings "" cat </dev/null 2>err &&
		grep -q 'does not say how the program ended' err
}
# exec counts its tries: a stopped exec makes none until the name exists.
exec_waits_for_the_name() {
	local client
	"$vm" exec slow cat </dev/null >/dev/null 2>waits &
	client=$!
	said_by $client 'waiting up to 10 s for a machine named slow' waits && kill -STOP $client &&
		slow named && kill -CONT $client && connected $client && kill -0 $client || return
	kill "$runner" && status 125 wait $client && ! grep -q 'no machine named' waits
}
# A first run fetches its kernel and builds its module before it boots: here its ldd waits until
# exec has said what it waits for.
exec_waits_for_what_comes_before_the_boot() {
	local client first
	mkdir -p bin &&
		printf '#!/bin/sh\nuntil [ -e "%s/go" ]; do sleep 0.1; done\nexec %s "$@"\n' \
		"$temp" "$(type -P ldd)" >bin/ldd && chmod +x bin/ldd
	PATH=$temp/bin:$PATH "$vm" --no-module --name early --limit 300 -- \
		sh -c 'until [ -e /tmp/end ]; do sleep 0.1; done' </dev/null &
	first=$!
	"$vm" exec early touch /tmp/end </dev/null 2>waits &
	client=$!
	said_by $client 'until the machine named early is ready to boot' waits; touch go
	# The machine ends with the program of exec, maybe before exec has heard how that program
	# ended.
	wait $client
	wait $first && [ ! -e "$names/early.starting" ]
}
a_killed_runner_takes_its_door_along() { slow named && kill -9 "$runner" && until_gone "$slow"; }
a_killed_runner_takes_its_client_along() {
	local client
	slow reused && mkdir of-client || return
	bash -c '"$0" run slow fake/settings of-client/began cat & echo $! >fake/client; wait' \
		"$door" </dev/null &
	client=$!
	said_by $client . fake/client && connected "$(cat fake/client)" && kill -9 $client &&
		until_gone "$(cat fake/client)" || return
	kill "$runner"
	[ ! -e of-client ]
}
check is_listed_while_it_boots is_listed_while_it_boots
check stopped_machine_answers stopped_machine_answers
check input_of_no_program_is_left input_of_no_program_is_left
check closed_socket_is_read closed_socket_is_read
check output_that_cannot_be_written output_that_cannot_be_written
check status_that_is_not_told status_that_is_not_told
check exec_waits_for_the_name exec_waits_for_the_name
check exec_waits_for_what_comes_before_the_boot exec_waits_for_what_comes_before_the_boot
check a_killed_runner_takes_its_door_along a_killed_runner_takes_its_door_along
check a_killed_runner_takes_its_client_along a_killed_runner_takes_its_client_along

# ---- a machine with packed files, whose own program waits for a file

"$vm" --name first --timeout 3000 --devices 2 --pool-mib 16 -- \
	sh -c 'until [ -e /tmp/end ]; do sleep 0.1; done; exit 4' >first.out 2>first.err \
	</dev/null &
runner=$!
until "$vm" ps | grep -q ^first || ! kill -0 $runner; do sleep 0.2; done

streams() {
	status 7 "$vm" exec first -- sh -c 'echo out; echo err >&2; exit 7' >out 2>err
	[ "$(cat out)" = out ] && [ "$(cat err)" = err ]
}
one_file_keeps_their_order() {
	[ "$("$vm" exec first -- sh -c 'echo o1; echo e1 >&2; echo o2; echo e2 >&2; echo o3' 2>&1 |
		tr -d '\n')" = o1e1o2e2o3 ]
}
input_and_output_are_whole() {
	head -c 3000000 /dev/urandom >random
	"$vm" exec first cat <random >copy && cmp random copy
}
a_signal_is_its_status() {
	# shellcheck disable=SC2016	# for the inner shell
	status 137 "$vm" exec first -- sh -c 'kill -9 $$' 2>err && grep -q 'signal 9 ended' err
}
devices_are_there() { "$vm" exec first memcast-smi --json | grep -q '"device": *1'; }
root_and_environment() {
	[ "$("$vm" exec --root --env WORD='of two words' first -- \
		sh -c 'echo "$(id -u), $WORD"')" = \
		'0, of two words' ]
}
is_listed() {
	"$vm" ps >list && grep -qE '^first +20.* 6\.12.*sh -c until' list &&
		"$vm" ps --json | grep -q '"name": *"first"'
}
a_name_is_taken_once() {
	status 125 "$vm" --name first --devices 1 -- true && grep -q 'named first runs already' said
}
reuse_leaves_it_alone() {
	status 125 "$vm" --reuse --name first -- true &&
		grep -q 'first was started without --reuse' said &&
		"$vm" exec first -- true
}
long_arguments() {
	# shellcheck disable=SC2016	# for the inner shell
	[ "$("$vm" exec first -- sh -c 'echo ${#1} ${#2}' x \
		"$(head -c 100000 /dev/zero | tr '\0' y)" '')" = '100000 0' ]
}
names_are_checked() {
	status 125 "$vm" --name ../first -- true && status 125 "$vm" exec nobody -- true &&
		status 125 "$vm" exec first
}
# When a client is killed, its program is ended.
killed_client() {
	local client i find=(sh -c 'grep -qs 1234[5] /proc/[0-9]*/cmdline')
	"$vm" exec first -- sh -c 'echo up; exec sleep 12345' >killed </dev/null &
	client=$!
	said_by $client up killed && "$vm" exec first -- "${find[@]}" || return
	kill -9 $client
	for ((i = 0; i < 300; i++)); do
		"$vm" exec first -- "${find[@]}" || return 0
		sleep 0.2
	done
	return 1
}
# The first SIGINT goes to the program, the second ends it, and the machine stays.
interrupts() {
	local client
	env --default-signal=INT "$vm" exec first -- \
		sh -c 'trap "echo caught" INT; echo up; while :; do sleep 0.1; done' >caught \
		</dev/null &
	client=$!
	said_by $client up caught && kill -INT $client && said_by $client caught caught || return
	kill -INT $client
	status 130 wait $client && "$vm" exec first -- true
}
# Other users are refused even if the folder is open to all.
as="setpriv --reuid=65534 --clear-groups"
other_users_are_not() {
	status 125 $as "$vm" exec first -- true || return
	chmod 755 "$XDG_RUNTIME_DIR" "$names" && chmod 777 "$names/first"
	# shellcheck disable=SC2016	# perl's
	$as perl -MSocket -e 'chdir shift; socket(my $s, PF_UNIX, SOCK_STREAM, 0);
		connect($s, sockaddr_un("first")) or exit 2; $SIG{PIPE} = "IGNORE";
		syswrite $s, "\0" x 12; exit(sysread($s, my $word, 1) ? 1 : 0)' "$names" &&
			chmod 700 "$names" && "$vm" exec first -- true
}

check streams streams
check one_file_keeps_their_order one_file_keeps_their_order
check input_and_output_are_whole input_and_output_are_whole
check a_signal_is_its_status a_signal_is_its_status
check devices_are_there devices_are_there
check root_and_environment root_and_environment
check is_listed is_listed
check a_name_is_taken_once a_name_is_taken_once
check reuse_leaves_it_alone reuse_leaves_it_alone
check long_arguments long_arguments
check names_are_checked names_are_checked
check killed_client killed_client
check interrupts interrupts
if [ "$(id -u)" -eq 0 ] && command -v perl >/dev/null && command -v setpriv >/dev/null; then
	if $as test -x "$vm"; then
		check other_users_are_not other_users_are_not
	else
		skip other_users_are_not "another user cannot reach $vm"
	fi
else
	skip other_users_are_not "needs root, setpriv and perl"
fi
# The machine ends with its own program, and clients that are still there are told.
ends_with_its_program() {
	local client
	"$vm" exec first -- sh -c 'echo up; exec sleep 12345' >left 2>err </dev/null &
	client=$!
	said_by $client up left && "$vm" ps | grep -q 'sleep 12345' || return
	"$vm" exec first -- touch /tmp/end
	status 4 wait "$runner" && status 125 wait $client && grep -q 'the machine has ended' err &&
		[ "$("$vm" ps)" = 'no machine with a name runs' ] && [ ! -e "$names/first" ]
}
check ends_with_its_program ends_with_its_program
runner=

# ---- a terminal: keys, sizes, a shell; and a killed runner leaves no name

words="keys_end_with_the_runner failure_names_the_log size_at_start resized keys_reach_the_program
	shell_status first_is_the_programs second_ends_the_machine"
if command -v python3 >/dev/null; then
	python3 "$terminal" "$vm" >terminal.out 2>&1
	for word in $words; do
		check $word eval "grep -qx $word terminal.out || { cat terminal.out; false; }"
	done
else
	for word in $words; do
		skip $word "no python3 here"
	done
fi

# ---- one boot for many programs

options=()
reused=(--reuse --name again --idle 30 --devices 1 --pool-mib 16)
again() { "$vm" "${reused[@]}" "${options[@]}" "$@"; }

# A program whose machine is killed before the program starts is started in the next machine, with
# all of its input.
input_waits_for_the_program() {
	local client run
	again cat <random >copy 2>killed &
	client=$!
	until run=$(cat /proc/[0-9]*/task/[0-9]*/children 2>/dev/null | tr ' ' '\n' |
		while read -r run; do
			tr '\0' ' ' 2>/dev/null <"/proc/$run/cmdline" |
				grep -q "^$door run again" && echo "$run"
		done) && [ -n "$run" ] || ! kill -0 $client; do sleep 0.2; done
	connected "$run" || return
	kill -9 "$("$vm" ps --json | sed -n 's/.*"pid": *\([0-9]*\).*/\1/p')" && wait $client &&
		cmp random copy
}
runs_again() {
	[ "$(again -- sh -c 'echo kept >/tmp/kept; cat /proc/sys/kernel/random/boot_id' \
		</dev/null)" = \
		"$(again -- cat /proc/sys/kernel/random/boot_id)" ] &&
		[ "$(again -- cat /tmp/kept)" = kept ] && status 9 again -- sh -c 'exit 9'
}
# A signal for memcast-vm alone is the program's, and the program's status comes back.
signal_is_the_programs() {
	local runner
	"$vm" "${reused[@]}" -- sh -c 'trap "exit 7" TERM; echo up; while :; do sleep 0.1; done' \
		>up </dev/null &
	runner=$!
	said_by $runner up up && kill -TERM $runner && status 7 wait $runner
}
# The Ctrl-C of a terminal that is the input alone is one SIGINT for the program. vm-door is in
# another group, and does not get it as well: it would count two, if they do not come at once.
key_with_output_elsewhere() {
	: >up
	status 7 python3 -c '
import os, pty, sys, time
pid, fd = pty.fork()
if not pid:
    os.dup2(os.open("up", os.O_WRONLY), 1)
    os.execvp(sys.argv[1], sys.argv[1:])
while not os.path.getsize("up") and os.waitpid(pid, os.WNOHANG) == (0, 0):
    time.sleep(0.1)
children = open(f"/proc/{pid}/task/{pid}/children").read().split()
if os.tcgetpgrp(fd) in map(os.getpgid, map(int, children)):
    sys.exit("vm-door gets the SIGINT of the key")
os.write(fd, b"\x03")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))' \
		env --default-signal=INT "$vm" "${reused[@]}" -- \
		sh -c 'trap "exit 7" INT; echo up; while :; do sleep 0.1; done'
}
# The machine sees the host's changes, whatever was read before, and by whichever program.
sees_new_files() {
	local i
	for i in one another three; do
		printf '#!/bin/sh\necho %s\n' $i >script
		chmod +x script
		[ "$(again -- ./script)" = $i ] || return
	done
	rm script
	status 127 again -- ./script
}
# A machine with other options is not reused, whether it is named or not.
other_options() {
	options=(--param team_slots=7)
	again -- sh -c 'cat /sys/module/memcast/parameters/team_slots' >out
	[ "$(cat out)" = 7 ] && grep -q 'again has other options' said
}
ends_when_idle() { while "$vm" ps | grep -q ^again; do sleep 0.5; done; }
# A machine that had nothing to say leaves no files.
leaves_no_files() {
	local i
	for ((i = 0; i < 300; i++)); do
		[ -n "$(ls -A "$names")" ] || return 0
		sleep 0.2
	done
	ls -A "$names"
	return 1
}
# Objects of a running program do not count as leftovers of one that has ended: the machine looks
# for leftovers, here until a writer comes, while another program starts.
other_programs_are_no_leftovers() {
	local client writer fifo=/tmp/stats.fifo stats=/sys/kernel/debug/memcast/stats
	rm -f up	# a test before has left its "up" there, which may be read before the shell empties it
	again --root -- sh -c "mkfifo $fifo && mount --bind $fifo $stats && echo up" >up &
	client=$!
	said_by $client up up || return
	"$vm" exec --root again -- sh -c \
		"until [ -e /tmp/enough ]; do echo memories 3 >$fifo; done" &
	writer=$!
	status 0 wait $client || return
	# The next program is judged alone: the writer has to end before, and may wait for a reader.
	"$vm" exec --root again -- sh -c "umount $stats; >/tmp/enough; exec 3<>$fifo" || return
	wait $writer || true	# or the writer has no reader any more
}
# The machine's root fakes a leak and a report of the kernel: the next program gets another machine,
# which is not booted here.
leftovers_and_reports_fail_the_run() {
	status 126 again --root -- sh -c \
		'sed "s/^memories .*/memories 3/" /sys/kernel/debug/memcast/stats >/tmp/stats &&
		mount --bind /tmp/stats /sys/kernel/debug/memcast/stats &&
		echo "<4>BUG: of a test" >/dev/kmsg' &&
		grep -q 'not all free again: memories 3' said && grep -q 'BUG: of a test' said &&
		[ "$("$vm" ps)" = 'no machine with a name runs' ]
}
# Each runner removes what it has unpacked, even if the folder of names goes before it ends.
leaves_no_folders() {
	local i
	rm -rf "$XDG_RUNTIME_DIR"
	for ((i = 0; i < 300; i++)); do
		[ -n "$(find "$TMPDIR" -name 'memcast-vm.*' -print -quit)" ] || return 0
		sleep 0.2
	done
	find "$TMPDIR" -maxdepth 2
	return 1
}
check input_waits_for_the_program input_waits_for_the_program
check runs_again runs_again
check signal_is_the_programs signal_is_the_programs
check key_with_output_elsewhere key_with_output_elsewhere
check sees_new_files sees_new_files
check other_options other_options
check ends_when_idle ends_when_idle
check leaves_no_files leaves_no_files
check other_programs_are_no_leftovers other_programs_are_no_leftovers
check leftovers_and_reports_fail_the_run leftovers_and_reports_fail_the_run
check leaves_no_folders leaves_no_folders
exit $failed
