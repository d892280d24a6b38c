#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Emulated hosts: what memcast-hosts gives ranks, what hosts see, how ranks end, and a collective of
# all hosts. One machine runs this as a user who is not root, with busybox only; another has all
# files of this host, and runs it as the user who started it. The second part of this script runs
# in these machines.
# shellcheck disable=SC2317,SC2086	# functions called by their names, words of commands
cd "$(dirname "$0")/../../.." || exit 1
. selftests/base/tap.sh

outside()
{
	temp=$(mktemp -d "$PWD/build/host-hosts.XXXXXX")
	chmod 755 "$temp"
	trap 'rm -rf "$temp"' EXIT
	if command -v mpicc >/dev/null && command -v mpirun >/dev/null; then
		mpicc -O1 -o "$temp/mpi" -x c - <<-'END'
			#include <mpi.h>
			#include <stdio.h>
			#include <unistd.h>

			/* Rank 0 prints the host of each rank; with an argument, the last fails. */
			int main(int argc, char **argv)
			{
				char name[16][64] = { "" }, own[64];
				int rank, ranks;

				(void)argv;
				MPI_Init(&argc, &argv);
				MPI_Comm_rank(MPI_COMM_WORLD, &rank);
				MPI_Comm_size(MPI_COMM_WORLD, &ranks);
				gethostname(own, sizeof(own));
				MPI_Gather(own, 64, MPI_CHAR, name, 64, MPI_CHAR, 0,
					   MPI_COMM_WORLD);
				for (int i = 0; i < ranks && !rank; i++)
					printf("%s\n", name[i]);
				if (argc > 1 && rank == ranks - 1)
					return 3;
				MPI_Finalize();
				return 0;
			}
		END
	fi
	for kernel in 6.1 6.12; do
		files="--add $PWD/tools/tests/vm/host-hosts.sh --add $PWD/selftests/base/tap.sh"
		files="$files --add build/tools/memcast-perf:/memcast-vm/memcast-perf"
		[ $kernel = 6.1 ] || files=--host
		machine "hosts with linux $kernel, $files" --kernel $kernel $files --hosts 4 \
			--devices 8 --pool-mib 16 -- \
			sh "$PWD/tools/tests/vm/host-hosts.sh" inside "$kernel" "$temp/mpi"
	done
	echo "# memcast-vm --each"
	plan hosts 1
	# shellcheck disable=SC2016	# of the ranks
	tools/memcast-vm --hosts 2 --devices 4 --pool-mib 16 --each --label -- \
		sh -c '[ $RANK = 3 ] || sleep 1000000
		hostname; exit 3' </dev/null >"$temp/said" 2>"$temp/errors"
	status=$?
	words="memcast-hosts: rank 3 on host1 ended with status 3; ending the others"
	[ $status -eq 3 ] && [ "$(cat "$temp/said")" = "3: host1" ] &&
		grep -qx "$words" "$temp/errors"
	add_errors_and_result memcast-vm $?
	exit $failed
}

# add_errors_and_result NAME STATUS: stderr, in $temp/errors, is shown after stdout
add_errors_and_result()
{
	[ "$2" -eq 0 ] || sed 's/^/! /' "$temp/errors" >>"$temp/said"
	result "$1" "$2"
}

# ---- in the machine: 4 hosts with 2 devices each

# hosts STATUS OPTION…: memcast-hosts ends with that status; its output is in said and errors
hosts()
{
	expected=$1
	shift
	status=0
	$memcast_hosts "$@" >said 2>errors || status=$?
	[ $status -eq "$expected" ] || { echo "status $status, not $expected" >>errors; return 1; }
}

# said WORDS: the whole output, with lines in the order of ranks; complained TEXT: the whole stderr
said() { [ "$(sort -n said | xargs)" = "$1" ]; }
complained() { [ "$(cat errors)" = "$1" ]; }

environment()
{
	# shellcheck disable=SC2016	# of the ranks
	hosts 0 --label -- sh -c 'echo $(hostname) $RANK $LOCAL_RANK $WORLD_SIZE $LOCAL_WORLD_SIZE \
		$GROUP_RANK $GROUP_WORLD_SIZE $MASTER_ADDR:$MASTER_PORT $OMPI_COMM_WORLD_RANK \
		$OMPI_COMM_WORLD_SIZE $OMPI_COMM_WORLD_LOCAL_RANK $OMPI_COMM_WORLD_LOCAL_SIZE \
		$PMI_RANK $PMI_SIZE $MEMCAST_HOSTS $(ulimit -n)' || return
	sort -n said >sorted
	for rank in 0 1 2 3 4 5 6 7; do
		host=$((rank / 2)) local=$((rank % 2))
		echo "$rank: host$host $rank $local 8 2 $host 4 host0:29500 $rank 8 $local 2 $rank 8 4" \
			"$(ulimit -n)"
	done | diff sorted - >>errors
}

per_host()
{
	# shellcheck disable=SC2016
	hosts 0 --per-host --hosts 3 --label -- \
		sh -c 'echo $(hostname) $RANK $WORLD_SIZE $LOCAL_RANK' || return
	said "0: host0 0 3 0 1: host1 1 3 0 2: host2 2 3 0"
}

# Each host gets a line from the host before it, by name. The input of nc must not end too soon.
tcp()
{
	# shellcheck disable=SC2016
	hosts 0 --per-host -- sh -c 'mkfifo /dev/shm/nothing
		busybox nc -l -p 5000 <>/dev/shm/nothing >/dev/shm/line &
		next=host$(((RANK + 1) % WORLD_SIZE))
		until echo "from $RANK" | busybox nc $next 5000 2>/dev/null; do sleep 0.1; done
		wait
		echo $RANK $(cat /dev/shm/line)' || return
	said "0 from 3 1 from 0 2 from 1 3 from 2"
}

# Lines come out whole, though ranks write them in pieces.
whole_lines()
{
	# shellcheck disable=SC2016
	hosts 0 --label -- sh -c 'for i in 1 2 3 4 5 6 7 8 9; do
			printf "begin $RANK "; printf "middle $RANK "; echo "end $RANK"
		done; printf "begin $RANK middle $RANK end $RANK"' || return
	[ "$(wc -l <said)" -eq 80 ] &&
		[ "$(sed -E 's/^([0-7]): begin \1 middle \1 end \1$/right/' said | sort -u)" = right ]
}

# Only one rank gets the input.
input()
{
	status=0
	echo line | $memcast_hosts --label -- cat >said 2>errors || status=$?
	[ $status -eq 0 ] && said "0: line"
}

# memcast-hosts names the first rank that fails, and ends the others, which wait for ever.
failure()
{
	# shellcheck disable=SC2016
	hosts 3 -- sh -c '[ $RANK != 5 ] || exit 3; sleep 1000000' &&
		complained "memcast-hosts: rank 5 on host2 ended with status 3; ending the others"
}

by_signal()
{
	# shellcheck disable=SC2016
	hosts 139 -- sh -c '[ $RANK != 2 ] || kill -SEGV $$; sleep 1000000' &&
		complained "memcast-hosts: rank 2 on host1 ended by signal 11 (Segmentation fault);\
 ending the others"
}

# A rank that survives SIGTERM gets SIGKILL.
stubborn()
{
	# shellcheck disable=SC2016
	hosts 4 --grace 1 -- sh -c 'trap "" TERM
		if [ $RANK = 0 ]; then
			until [ $(cat said.* | wc -l) = 7 ]; do sleep 0.1; done
			exit 4
		fi
		echo there >said.$RANK; while :; do sleep 1000000; done'
	status=$?
	rm -f said.*
	[ $status -eq 0 ]
}

# The failure is named although the others print all the time.
talkative()
{
	# shellcheck disable=SC2016
	hosts 3 --label -- sh -c '[ $RANK = 5 ] || exec yes "$(printf %200d 0)"
		until [ -s said ]; do sleep 0.1; done; exit 3' || { : >said; return 1; }
	: >said
	grep -qx "memcast-hosts: rank 5 on host2 ended with status 3; ending the others" errors
}

# A socket has no room for all that memcast-hosts and a host say to each other here.
many()
{
	hosts 127 --hosts 1 --ranks 700 -- ./no-such-program &&
		grep -q "cannot run ./no-such-program" errors
}

not_found()
{
	hosts 127 -- ./no-such-program &&
		grep -q "cannot run ./no-such-program: No such file" errors &&
		grep -qE "rank [0-7] on host[0-3] ended with status 127" errors
}

# Each host has its own processes, shared memory, devices and name.
isolation()
{
	# shellcheck disable=SC2016
	hosts 0 --per-host -- sh -c 'echo $RANK >/dev/shm/$RANK
		[ "$(ls -d /proc/[0-9]*/ | wc -l)" -le 6 ] || echo "other processes"
		[ "$(cat /dev/shm/*)" = $RANK ] || echo "shared memory of others"
		[ "$(cat /proc/1/comm)" = memcast-hosts ] || echo "another first process"
		[ -c /dev/memcast ] || echo "no device"
		[ -z "$(ls /dev/memcast-host 2>/dev/null)" ] || echo "devices of others"
		kill -0 '$$' 2>/dev/null && echo "the process outside"
		true' && [ ! -s said ]
}

# running NAME: prints how many processes of that name there are, in all hosts
running() { grep -lxs "$1" /proc/[0-9]*/comm | wc -l; }
until_sleeping() { until [ "$(running sleep)" -eq "$1" ]; do sleep 0.1; done; }

# start: starts memcast-hosts, whose pid is then $hosts_pid, and waits until all eight ranks sleep
start()
{
	$memcast_hosts -- sleep 1234567 >said 2>errors &
	hosts_pid=$!
	until_sleeping 8
}

terminated()
{
	start
	kill -TERM $hosts_pid
	status=0
	wait $hosts_pid || status=$?
	[ $status -eq 143 ] && until_sleeping 0
}

# A killed memcast-hosts leaves no process, and no network interface.
killed()
{
	ls /sys/class/net >before
	start
	kill -KILL $hosts_pid
	wait $hosts_pid 2>/dev/null
	until_sleeping 0
	# each host's first process goes after all other processes of the host
	until [ "$(running memcast-hosts)" -eq 0 ]; do sleep 0.1; done
	ls /sys/class/net >after
	diff before after >said
}

in_running()
{
	echo input >input
	start
	{
		$memcast_hosts exec host2 -- sh -c 'hostname; cat; exit 5' <input
		echo "status $?"
		$memcast_hosts exec 1 sh -c "$memcast_hosts exec host3 hostname; kill -9 \$\$"
		echo "status $?"
		$memcast_hosts agent host1 hostname '&&' echo 'two  spaces'
		$memcast_hosts exec host4 true
		echo "status $?"
	} >said 2>errors
	kill -TERM $hosts_pid
	wait $hosts_pid
	[ "$(xargs <said)" = "host2 input status 5 host3 status 137 host1 two spaces status 125" ] &&
		grep -q "there are host0 to host3 only" errors
}

# A team of all devices of all hosts; each host sees two of the devices.
collective()
{
	# shellcheck disable=SC2016
	hosts 0 -- memcast-perf allreduce -b 1M -e 1M -w 1 -i 1 --bind 4M --create 6M || return
	for rank in 0 1 2 3 4 5 6 7; do
		grep -qE "Rank +$rank Pid +[0-9]+ on host$((rank / 2)) device +$((rank % 2)) " said ||
			return
	done
	[ "$(grep -oE '[0-9a-f]{8}-[0-9a-f-]{27}' said | sort -u | wc -l)" -eq 8 ] &&
		grep -q "Out of bounds values : 0 OK" said
}

refusals()
{
	hosts 125 --hosts 5 -- true && grep -q "5: there are 4" errors &&
		hosts 125 --device-folder /no/such/folder -- true &&
		grep -q "there is no /no/such/folder/0" errors &&
		hosts 125 --per-host --ranks 2 -- true && grep -q "goes with --each" errors &&
		hosts 125 --no-devices -- true && grep -q "says how many" errors &&
		hosts 125 exec host0 true && grep -q "no hosts run here" errors
}

mpirun_across()
{
	mpirun="mpirun --allow-run-as-root --mca btl_base_warn_component_unused 0"
	# mpirun is told the agent, and the number of ranks of each host
	hosts 0 --once -- $mpirun --mca plm_rsh_agent "$memcast_hosts agent" \
		--host host0:2,host1:1,host3:2 "$mpi" || return
	said "host0 host0 host1 host3 host3" || return
	# mpirun is told nothing: each device gets a rank
	hosts 0 --once -- $mpirun "$mpi" || return
	said "host0 host0 host1 host1 host2 host2 host3 host3" || return
	hosts 3 --once -- $mpirun "$mpi" fail
}

inside()
{
	mpi=$2
	cd /tmp && mkdir host-hosts && cd host-hosts || exit 1
	memcast_hosts=/memcast-vm/memcast-hosts
	PATH=/memcast-vm:$PATH temp=$PWD
	plan "hosts-$1" 18
	for name in environment per_host tcp whole_lines input failure by_signal stubborn \
			talkative many not_found isolation terminated killed in_running collective refusals; do
		: >said
		: >errors
		$name
		add_errors_and_result $name $?
	done
	if [ -x "$mpi" ] && command -v mpirun >/dev/null; then
		mpirun_across
		add_errors_and_result mpirun $?
	else
		skip mpirun "no mpirun, or no mpicc when this was started"
	fi
	exit $failed
}

case ${1-} in
inside)	inside "$2" "$3" ;;
*)	outside ;;
esac
