# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# The text of memcast-vm --help. Used by memcast-vm only, with its variable me.

usage() {
	cat <<-END
	Usage: $me [OPTION…] [--] COMMAND [ARGUMENT…]
	  or:  $me exec [--root] [--env K=V] NAME [--] COMMAND [ARGUMENT…]
	  or:  $me shell [--root] [--env K=V] [NAME]
	  or:  $me ps [--json]
	  or:  $me stop NAME

	Boots a kernel in QEMU with memcast.ko loaded and runs COMMAND there against
	our libcuda.so.1, as an unprivileged user. Its input, output, errors and exit
	status are passed through. COMMAND is a program of this machine; it is packed
	with the libraries it needs, as are arguments that name existing files. It
	starts in a folder named as the current one, on a file system in memory:
	what it writes is gone afterwards. The only network is localhost. PATH has
	memcast-smi, -perf, -profile and -run there; --host brings memcast-bench and
	all other tools along.

	The machine
	  --kernel KERNEL     a series such as 6.12 (default), 6.1 or 7.3, backports or
	                      generic (see tools/memcast-kernel --help; fetched once),
	                      debug, kcsan (built by tools/memcast-kernel build), or
	                      a kernel image or a kernel build folder
	  --arch ARCH         arm64: emulated processors of arm64, with the kernel of that
	                      name (6.12-arm64), for programs of make ARCH=arm64
	  --cpus N            processors (2)
	  --memory MIB        memory (half of what this computer has free, up to 6144; for
	                      pools of --pool-mib: theirs, 9 % more, and 512 MiB). More for
	                      debug kernels
	  --numa N            split processors and memory over N NUMA nodes
	  --modules A,B       load these modules of that kernel first
	  --try-modules A,B   and these, as far as that kernel has them
	  --append WORDS      add to the kernel's command line
	  --icount            reproducible time: one instruction, one nanosecond;
	                      the same run takes exactly the same guest time
	memcast
	  --devices N         emulated devices (4)
	  --hosts N           divide them among N emulated hosts
	  --pool-mib N[,N…]   MiB of memory per device, which the machine has from the start; the
	                      last is for all others. Without it a device has 81078 MiB, as an
	                      H100, and takes of the machine's memory what programs touch,
	                      up to half: docs/lazy-pools.md
	  --param K=V         another parameter of the module; may be repeated.
	                      MODULE.K=V: of another, as on a kernel's command line
	  --no-module         do not load memcast.ko
	  --no-unload         do not try whether memcast.ko unloads afterwards
	  --no-leaks          do not look for leaks (kernels with kmemleak: 15 s or more)
	The program, on emulated hosts: see memcast-hosts --help
	  --each              run it once per device, each host's in namespaces of its own,
	                      with RANK and so on, as torchrun and mpirun have them
	  --per-host          run it once per host
	  --once              run it on the first host, from where mpirun reaches the others
	  --label             lines of output have the rank in front
	The program
	  --root              run it as root
	  --add FILE[:DEST]   bring a file or folder along, to the same path or DEST,
	                      with the libraries that programs and plugins in it need
	  --host              all of this machine's files are there, read-only through 9p,
	                      and nothing needs to be packed; what the program writes stays
	                      in the machine's memory. It runs as the user who calls, with
	                      the environment but for SHLVL, OLDPWD, _, MFLAGS and MAKE…, which
	                      are about the shell and the make that call memcast-vm. Files that
	                      change here meanwhile may be seen old
	  --rw FOLDER         as --host, and what the program writes into FOLDER is here
	                      afterwards; up to 16 folders
	  --out FOLDER        as --rw, and the folder is made first if it is not there
	  --env K=V           set an environment variable; K alone: to what it is here
	                      MEMCAST_PROFILE is taken along, and a file that it names
	  --no-host-access    the program's own loads and stores to device memory are errors,
	                      as on hardware: --env MEMCAST_HOST_ACCESS=forbid
	  --kernels FILE      shared object with C functions for the program's kernels;
	                      may be repeated: docs/stack/kernels.md
	  --timeout SECONDS   give up when it gives no sign of life for so long (300):
	                      writes nothing, and uses less than a twentieth of a processor.
	                      A program that is busy, but does nothing with memcast for so
	                      long, goes on; where its threads are is printed
	  --limit SECONDS     give up after so long in all (3600). In both, time does not
	                      count in which the machine waits for a processor of the host.
	                      What memcast-smi shows, and where each process waits, is
	                      printed before the machine is ended
	Running machines
	  --name NAME         the machine has this name as long as COMMAND runs: other
	                      programs can be started in it, by the same user only
	  exec NAME COMMAND   run COMMAND in it, with input, output, errors and status of its
	                      own. With --host it has this environment and folder, else
	                      what was packed for the first program; it has no time limit,
	                      and ends with the machine
	  shell [NAME]        an interactive shell in it; the name may be left out if one runs
	  ps                  the machines that run, since when, their kernels, what runs in
	                      them; with --json as JSON
	  stop NAME           end it
	  --reuse             run COMMAND in a machine that stays, and is the next one's with
	                      the same options and the same module: as --host, without a boot.
	                      memcast.ko stays loaded, and files in the machine's memory stay;
	                      what COMMAND leaves running is killed. If it ran alone and not all
	                      of memcast is free again then, or the kernel reports something,
	                      the status is 126, and the next one has another machine. Leaks
	                      and unloading are looked at when the machine ends, and what was
	                      found is said by the next one that boots
	  --idle SECONDS      end a machine of --reuse when nobody has used it for so long (600)
	Keys: Ctrl-C is the program's, and two within two seconds end the machine; of exec and
	shell, they only are the program's. Without a terminal, the first SIGINT is passed
	on to the program, and the second ends it.
	What is shown
	  --keep-log FILE     keep the kernel's log
	  --verbose           say what is done and how long it took
	  --version           print the version

	Exit status: COMMAND's, 128+N if signal N ended it; and 124 if time was up,
	125 if the machine could not be started or did not end properly, 126 if the
	kernel's log has a warning, bug, lockdep or leak report, or the module did not
	unload, whatever COMMAND said.

	Examples
	  $me -- build/tools/memcast-perf allreduce
	  $me --kernel 6.1 --devices 8 -- ./my-program --size 64M
	  $me --root -- sh -c 'grep . /sys/class/memcast/*/uuid'
	  $me --modules vivid -- build/examples/dmabuf-camera
	  $me --name x --host -- ./my-program & $me exec x -- memcast-smi -l 1
	  $me --reuse -- ./my-test
	  $me --hosts 4 --devices 8 --each --label -- ./rank
	END
}
