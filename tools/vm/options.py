# SPDX-License-Identifier: MIT
"""The options of memcast-vm."""
import os

from vm.host import ME, die, write

# The options are those that this text has; one with a word behind it in capitals takes a value.
HELP = f"""\
Usage: {ME} [OPTION…] [--] COMMAND [ARGUMENT…]
  or:  {ME} exec [--root] [--env K=V] NAME [--] COMMAND [ARGUMENT…]
  or:  {ME} shell [--root] [--env K=V] [NAME]
  or:  {ME} ps [--json]
  or:  {ME} stop NAME

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
  {ME} -- build/tools/memcast-perf allreduce
  {ME} --kernel 6.1 --devices 8 -- ./my-program --size 64M
  {ME} --root -- sh -c 'grep . /sys/class/memcast/*/uuid'
  {ME} --modules vivid -- build/examples/dmabuf-camera
  {ME} --name x --host -- ./my-program & {ME} exec x -- memcast-smi -l 1
  {ME} --reuse -- ./my-test
  {ME} --hosts 4 --devices 8 --each --label -- ./rank
"""
# Without a line there: a run of --reuse starts a machine by it that has no program.
OPTIONS = {"--serves": "NAME"}
for line in HELP.splitlines():
    if line.startswith("  --"):
        name, *value = line[2:22].split()
        OPTIONS[name] = "".join(value)
NUMBERS = [name for name, value in OPTIONS.items() if value in ("N", "MIB", "SECONDS")]
# What is about the machine, not about the program: with others --reuse looks for another machine.
MACHINE = """--kernel --arch --cpus --memory --numa --modules --try-modules --append --devices
    --hosts --pool-mib --param --no-module --no-unload --no-leaks""".split()
DEFAULTS = {"kernel": "6.12", "cpus": 2, "numa": 1, "append": "", "devices": 4, "timeout": 300,
            "limit": 3600, "idle": 600, "way": None}  # way: --each, --per-host or --once
LISTS = "launcher modules try_modules param add rw out env kernels machine_options".split()

class Options:
    """What the command line asks for. Each option has an attribute of its name."""
    def __init__(self, words, place, known=None):
        self.known = known or OPTIONS
        vars(self).update({name[2:].replace("-", "_"): None for name in self.known}, **DEFAULTS,
                          **{name: [] for name in LISTS})
        self.command = words = list(words)
        while words and words[0].startswith("-"):
            name, equals, _ = words[0].partition("=")
            if name.startswith("--") and equals:
                if self.known.get(name) == "":
                    die(f"{name} takes no value; see {ME} --help")
                words[:1] = words[0].split("=", 1)
            word, value = words.pop(0), True
            if word == "--":
                break
            if word in ("-h", "--help") or word == "--version" and word in self.known:
                write(1, f"{ME} (memcast) {place.version()}\n" if word == "--version" else HELP)
                raise SystemExit(0)
            if word not in self.known:
                die(f"unknown option {word}; see {ME} --help")
            if self.known[word]:
                value = words.pop(0) if words else die(f"{word} needs a value; see {ME} --help")
            if word in MACHINE:
                self.machine_options += [word] if value is True else [word, value]
            self.take(word, number(word, value) if word in NUMBERS else value, place.given)

    def take(self, name, value, environ):
        """Sets what an option with this value means."""
        attribute = name[2:].replace("-", "_")
        if name in ("--rw", "--out"):
            self.machine_options += ["--rw", os.path.realpath(value)]
        if name in ("--host", "--rw", "--out", "--reuse", "--serves"):
            self.host = True
        if name in ("--devices", "--hosts", "--pool-mib"):
            self.param.append(f"{attribute}={value}")
        if name == "--out":
            self.rw.append(value)
        elif name == "--append":
            value = f"{self.append} {value}"
        elif name == "--env":
            variable, equals, _ = value.partition("=")
            if not variable:
                die(f"--env takes NAME=VALUE or NAME, not '{value}'")
            if not equals and variable not in environ:
                die(f"--env {value}: there is no such variable here")
            value = value if equals else f"{value}={environ.get(value, '')}"
        elif name == "--no-host-access":
            attribute, value = "env", "MEMCAST_HOST_ACCESS=forbid"
        elif name == "--kernels":
            value = os.path.realpath(value)
        elif name in ("--each", "--per-host", "--once", "--label"):
            attribute, value = "label" if name == "--label" else "way", name
        elif name == "--serves":
            self.name = value
        elif name == "--pool-mib":
            for word in value.replace(",", " ").split():
                number(name, word)
        elif name == "--param" and "=" not in value:
            die(f"--param takes NAME=VALUE, not '{value}'")
        elif name == "--param" and value.startswith("pool_mib="):
            self.pool_mib = value.partition("=")[2]
        if name in ("--modules", "--try-modules"):
            getattr(self, attribute).extend(value.replace(",", " ").split())
        elif attribute in LISTS:
            getattr(self, attribute).append(value)
        else:
            setattr(self, attribute, value)

    def check(self):
        """Refuses options that do not go together, and makes the folders of --out."""
        if self.serves:
            self.command = ["true"]
        if not self.command:
            write(2, HELP)
            raise SystemExit(125)
        name = self.name or "x"
        if not name.isascii() or not name[0].isalnum() or len(name) > 63 or \
           not name.translate(dict.fromkeys(b"._-", "x")).isalnum():
            die(f"'{name}' is no name: up to 63 letters, digits and . _ -, a letter or digit first")
        if self.icount and (self.name or self.reuse):
            die("--icount: such a machine runs one program only")
        if self.keep_log and self.reuse:
            die("--keep-log is not for --reuse: one log is of many programs")
        if self.keep_log:
            try:
                open(self.keep_log, "ab").close()
            except OSError as error:
                die(f"--keep-log: {self.keep_log} cannot be written: {error.strerror}")
        if len(self.rw) > 16:
            die("--rw and --out: 16 folders at most")
        for folder in self.out:
            try:
                os.makedirs(folder, exist_ok=True)
            except OSError:
                die(f"--out: the folder {folder} cannot be made")
        for folder in self.rw:
            if not os.path.isdir(folder):
                die(f"--rw: there is no folder {folder}")
            if (os.path.realpath(folder) + "/").startswith(("/proc/", "/sys/")) or \
               os.path.realpath(folder) == "/dev":
                die(f"--rw: the machine has its own {folder}")
        if self.kernels:
            self.env.append("MEMCAST_KERNELS=" + ":".join(self.kernels))
        self.add += [] if self.host else self.kernels
        if not self.hosts and (self.way or self.label):
            die(f"{self.way or self.label}: --hosts has to say how many hosts there are")
        if self.hosts and self.no_module:
            die("--hosts: there are none without memcast.ko")
        if self.label and not self.way:
            die("--label goes with --each or --per-host")
        if self.hosts:  # they need a network, and an IMEX channel to share memory by fabric handles
            self.modules += ["veth", "bridge"]
            if not any(word.startswith("imex_channels=") for word in self.param):
                self.param.append("imex_channels=1")
        if self.way:
            label = [self.label] if self.label else []
            self.launcher = ["/memcast-vm/memcast-hosts", self.way, *label, "--"]
        if self.host and self.add:
            die("--add is not needed with --host: all files are there")

def number(name, value):
    """Return: the value of a count or of seconds"""
    if not value.isascii() or not value.isdigit() or value[0] == "0":
        die(f"{name} takes a number, 1 or more, not '{value}'")
    return int(value)
