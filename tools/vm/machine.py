# SPDX-License-Identifier: MIT
"""A machine, from the options to its end."""
import os
import sys
from signal import SIG_IGN, SIGCONT, SIGHUP, SIGINT, SIGPIPE, SIGTERM, SIGUSR1, getsignal, signal
from subprocess import DEVNULL
from time import monotonic, sleep

from vm import build, processors, running
from vm.host import die, find_program, read, save, say
from vm.pack import FILE, FOLDER, Pack, has_loader, host_files, lazy_pools, parameters
from vm.report import BEGUN, failed_boot, verdict

OUTPUTS = ("log", "status", "out", "err")  # files that QEMU writes
SMALLEST, LARGEST = 320, 6144  # MiB of memory beside needs, and in all, for lazy pools

def available_mib():
    """Return: what this computer, or the container's limit of it, can give now, in MiB"""
    mib = int(read("/proc/meminfo").partition("\nMemAvailable:")[2].split()[0]) // 1024
    for limit, used in (("memory.max", "memory.current"),
                        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes")):
        most = read("/sys/fs/cgroup/" + limit, "max").strip()
        if most != "max":
            mib = min(mib, int(most) - int(read("/sys/fs/cgroup/" + used, "0")) >> 20)
    return mib

def same_file(*fds):
    """Do these files lead to the same place? A closed one does not."""
    try:
        return os.path.sameopenfile(*fds)
    except OSError:
        return False

def choose_memory(options, release, files, available=available_mib):
    """Return: MiB of memory for a machine without --memory, whose @files have so many bytes"""
    # a process per device needs 8 MiB
    needs = 512 + 2 * files // 1048576 + (8 * options.devices if options.hosts else 0)
    if lazy_pools(options):
        # The module lets pools take half of the machine's memory. The machine gets half of what
        # this computer has free, so that two fit, and 6144 MiB at most: an emulated processor
        # describes each page while it boots.
        memory = max(min(available() // 2, LARGEST), needs + SMALLEST)
    else:
        # 64 MiB a device where no pools are made: with --no-module, or where it refuses to load
        each = [int(word) for word in (options.pool_mib or "64").split(",") if word.isdigit()]
        each += each[-1:] * options.devices
        # Linux describes pages in a 64th of the memory, and the module leaves a 16th free
        memory = sum(each[:options.devices]) * 64 // 59 + needs
    return memory * 5 // 4 + 512 if release.endswith(("-kasan", "-kcsan")) else memory

class Machine:
    """A machine of this run, and what is to be tidied up after it."""
    def __init__(self, options, place):
        self.options, self.place = options, place
        self.processors = processors.choose(options, place)
        self.kernel = options.kernel  # its name; later what `make KERNEL=` builds for
        self.release = self.vmlinuz = self.modules = self.kdir = ""
        self.module = ""  # the file memcast.ko
        self.sysroot = ""  # of programs for other processors
        self.temp = None  # a folder that is removed at the end
        self.settings = []  # for init: KEY=VALUE
        self.words = f"{self.processors.words} loglevel=5 panic=-1 oops=panic{options.append}"
        self.memory = options.memory
        self.kvm = ""  # does linux boot with KVM? "yes\n" or "no\n"
        self.kvm_device = "/dev/kvm"  # host-kvm.sh sets another file
        self.qemu = None  # the process of vm-watch, which has QEMU as its child
        self.door = None  # the process that lets clients in
        self.starting = None, ""  # the lock of a name whose machine does not run yet
        self.reuse_folder = None  # with files of this machine, which --reuse has started
        self.terminal = None  # what the terminal was set to
        self.input = True  # may the program read this process's input?
        self.client = None  # with --reuse: the process that runs the program in another machine
        self.asked = False  # the program has got a SIGINT
        self.ends = False  # a signal has ended this run
        self.started = 0.0  # when the first attempt to boot began

    def note(self, text):
        """Tells the user of --verbose."""
        if self.options.verbose:
            say(text)

    def log(self):
        """Return: what the kernel has written"""
        return read(self.temp + "/log", "")

    def booted(self):
        """Has init begun?"""
        return BEGUN in self.log()

    def status(self):
        """Return: what the machine has written of its state, by the first word; of two the first"""
        lines = read(self.temp + "/status", "").split("\n")[:-1]
        return dict(line.partition(" ")[::2] for line in reversed(lines))

    # ---- before the boot

    def prepare(self):
        """Finds the kernel, the programs that are needed, and builds what is missing."""
        options, place = self.options, self.place
        place.check_cache()
        for name in (self.processors.qemu, "busybox", "make"):
            if not find_program(name, place.path):
                missing = place.output(place.kernel_program, "deps", "missing").strip()
                die(f"{name} is missing; run: apt-get install {missing}")
        busybox = find_program("busybox", place.path)
        if not self.processors.foreign and has_loader(busybox):
            die(f"{busybox} needs libraries, which the machine does not have; run:"
                " apt-get install busybox-static")
        if self.processors.foreign:
            self.sysroot = place.output(place.kernel_program, "sysroot").strip() or sys.exit(125)
            place.build += "/" + self.processors.arch
            place.libraries = place.build + "/lib"
        # MEMCAST_PROFILE may name a file, which the virtual machine needs, too; see
        # docs/environment.md
        if place.given.get("MEMCAST_PROFILE"):
            options.env.insert(0, "MEMCAST_PROFILE=" + place.given["MEMCAST_PROFILE"])
        for at, word in enumerate(options.env):
            name, _, file = word.partition("=")
            if name == "MEMCAST_PROFILE" and os.path.isfile(file):
                options.env[at] = f"{name}={os.path.realpath(file)}"
                options.add.append(os.path.realpath(file))
        if place.installed:
            place.use_installed()
        # A run of --reuse in another folder reads the log in there, too.
        folder = os.path.abspath(place.given.get("TMPDIR") or "/tmp")
        self.temp = f"{folder}/memcast-vm.{os.urandom(4).hex()}"
        try:
            os.mkdir(self.temp, 0o700)
        except OSError as error:
            die(f"no folder can be made in {folder}: {error.strerror}; set TMPDIR to another")
        set_signals(self)
        if options.name and not options.reuse and not options.serves:
            running.note_name(self)
        build.find_kernel(self)
        build.ensure_built(self)

    def make_files(self):
        """Packs the machine's file system. What init and the program have to know is in it, too."""
        options, place = self.options, self.place
        self.settings += [word + "=" for word, on in (
            ("nounload", options.no_unload), ("noleaks", options.no_leaks),
            ("root", options.root)) if on]
        self.pack = pack = Pack(self)
        processors.accelerate(self)
        if options.host:
            host_files(self)
        else:
            pack.program()
        for name in ["virtio_pci", "virtio_console", *options.try_modules]:
            pack.module(name, may_be_missing=True)
        for name in options.modules:
            pack.module(name)
        if not options.no_module:
            pack.file(self.module, "memcast-vm/modules/memcast.ko")
            pack.tools()
            self.settings.append("memcast=/memcast-vm/modules/memcast.ko "
                                 + parameters(options, "memcast"))
        if os.isatty(1):
            columns, rows = os.get_terminal_size(1)
            self.settings.append(f"tty={rows}x{columns}" if rows and columns else "tty=24x80")
        if same_file(1, 2):  # what the program writes to both comes in the order of its writes
            self.settings.append("merged=")
        # Only a process group in the foreground of a terminal may read from it.
        group, _, _, foreground = read("/proc/self/stat").rpartition(")")[2].split()[2:6]
        if not options.icount and os.isatty(0) and os.isatty(1) and group == foreground:
            from termios import tcgetattr
            self.terminal = tcgetattr(0)
            os.mkfifo(self.temp + "/keys")
            self.settings.append("input_tty=")
        self.input = not options.icount and (self.terminal or not os.isatty(0))
        self.settings += ["cwd=" + place.cwd, *(["serial="] if options.icount else [
            f"timeout={options.timeout}", f"limit={options.limit}"])]
        if options.serves:
            self.settings += ["alone=", f"serve={options.idle}"]
            options.timeout, options.limit = 300, 1000000000
        elif options.name:
            self.settings.append("serve=0")
        environment = place.program_environment(options.host, options.root, options.env)
        self.says_errors = any(word.startswith("CUDA_LOG_FILE=") for word in environment)
        pack.put(place.cwd, FOLDER)
        for name, words in (("settings", self.settings), ("env", environment),
                            ("argv", options.launcher + options.command)):
            text = "".join(word + "\0" for word in words)
            pack.put("memcast-vm/" + name, FILE, os.fsencode(text))
        try:
            size = pack.write(self.temp + "/initrd")
        except OSError as error:
            die(f"{self.temp}/initrd cannot be written: {error.strerror}; set TMPDIR to a folder"
                " with more room")
        self.memory = self.memory or choose_memory(options, self.release, size)

    # ---- the boot

    def qemu_words(self):
        """Return: QEMU, with the arguments that each machine of this kernel has"""
        board = "-nodefaults -no-user-config -display none -no-reboot " + self.processors.board
        return [self.processors.qemu, *board.split(), "-kernel", self.vmlinuz]

    def command(self):
        """Return: the command that runs QEMU. In its text @ stands for the folder of this run."""
        options, temp = self.options, self.temp
        text = f"-m {self.memory} -smp {options.cpus}"
        if options.numa > 1:
            each = self.memory // options.numa
            text = f"-m {each * options.numa} -smp {options.cpus},sockets={options.cpus}"
            for node in range(options.numa):
                text += (f" -object memory-backend-ram,id=m{node},size={each}M"
                         f" -numa node,nodeid={node},memdev=m{node}")
            for cpu in range(options.cpus):
                text += f" -numa cpu,node-id={cpu % options.numa},socket-id={cpu}"
        # append=on: truncation would free the room from boot().
        for name in OUTPUTS:
            text += f" -chardev file,id={name},path=@/{name},append=on"
        text += " -serial chardev:log"
        # vm-watch ends QEMU when this process ends or is killed. The machine's init applies the
        # limits and says why; those of vm-watch, which are longer, are for a machine whose init no
        # longer can.
        watch = f"--parent {os.getpid()} --remove @ --room @"
        if options.icount:
            watch += f" --timeout {options.timeout} --limit {options.limit}"
            text += " -serial chardev:status -serial chardev:out -serial chardev:err"
        else:
            watch += (f" --timeout {options.timeout + 60} --limit {options.limit + 120}"
                      " --clock @/clock.in --begun @/status")
            watch += " --begin 600" * self.release.endswith(("-kasan", "-kcsan"))
            watch += "".join(f" --file @/{name}" for name in OUTPUTS)
            # Without ioeventfd a write has reached the host's file when the guest goes on.
            text += (" -device virtio-serial-pci,ioeventfd=off -chardev"
                     f" {'stdio,signal=on' if self.input else 'null'},id=in")
            pipes = ["clock", "door"] if options.name else ["clock"]
            for name in pipes:
                os.mkfifo(f"{temp}/{name}.in")
                os.mkfifo(f"{temp}/{name}.out")
                text += f" -chardev pipe,id={name},path=@/{name}"
            for number, name in enumerate([*OUTPUTS[1:], "in", *pipes], 1):
                text += f" -device virtserialport,nr={number},chardev={name}"
        # In QEMU's options a comma is written twice.
        words = [word.replace("@", temp.replace(",", ",,")) for word in text.split()]
        folders = [("host", "/", "readonly=on,"), *(
            (f"rw{at}", os.path.realpath(path).replace(",", ",,"), "")
            for at, path in enumerate(options.rw))] if options.host else []
        for name, path, more in folders:
            words += ["-fsdev", f"local,id={name},path={path},{more}security_model=none,"
                      "multidevs=remap", "-device", f"virtio-9p-pci,fsdev={name},mount_tag={name}"]
        watch = [word.replace("@", temp) for word in watch.split()]
        return [self.place.tools + "/vm-watch", *watch, "--", *self.qemu_words(), *self.accel,
                "-initrd", temp + "/initrd", "-append", self.words, *words]

    def run(self):
        """Boots the machine and waits for its end. Return: the status of QEMU"""
        options, temp, keys = self.options, self.temp, 0
        command = self.command()
        if options.name:
            running.open_door(self)
        if self.terminal:
            keys = os.open(temp + "/keys", os.O_RDWR)
            self.place.background(self.place.tools + "/vm-door", "input", str(os.getpid()),
                                  temp + "/clock.in", stdout=keys)
        self.started = monotonic()
        self.note(f"linux {self.release}, {self.accel[1]}, {options.cpus} processors,"
                  f" {self.memory} MiB, {os.path.getsize(temp + '/initrd') >> 20} MiB of files")
        for attempt in (1, 2, 3):
            code = self.boot(command, keys)
            # Only a failed boot is tried again: rarely, and mostly on a busy host, QEMU's timers
            # come late or never, its threads run stale kernel text, or a debug kernel's KASAN
            # reports the kernel's own start. A failure after init is never hidden.
            reason = failed_boot(self, code)
            if not reason:
                break
            say(f"linux did not boot ({reason}), attempt {attempt} of 3")
        self.note(f"ended after {monotonic() - self.started:.2f} s")
        return code

    def boot(self, command, keys):
        """Runs QEMU once, and passes output on. Return: its status"""
        # Output goes to files, not pipes: QEMU ends at once, and output waits for a slow reader.
        start = self.place.background
        # The files that tell of a full disk get their room before the disk is full.
        for name, room in {"out": 0, "err": 0, "log": "1M", "status": "64K", "qemu": "64K"}.items():
            running.remove(f"{self.temp}/{name}")
            save(f"{self.temp}/{name}", "")
            if room:
                self.place.run("fallocate", "-n", "-l", room, f"{self.temp}/{name}", stderr=DEVNULL)
        with open(self.temp + "/qemu", "ab") as errors:
            self.qemu = start(*command, stdin=keys, stdout=DEVNULL, stderr=errors)
        tail = ["tail", "-c", "+1", "-f", "-s", "0.02", f"--pid={self.qemu.pid}"]
        with open(self.temp + "/tail", "wb") as errors:
            tails = [start(*tail, self.temp + "/out", stderr=errors),
                     start(*tail, self.temp + "/err", stdout=2, stderr=DEVNULL)]
        telling = self.tell() if self.options.verbose or os.isatty(2) else iter(lambda: 0, 1)
        while self.qemu.poll() is None and not tails[0].poll():
            next(telling)
            sleep(0.02)
        # After a failed boot vm-door stays, as its clients wait for the next attempt.
        if self.booted():
            self.close_door()
        if tails[0].wait() == -SIGPIPE:
            say("nobody reads the output any more; stopped")
            sys.exit(141)
        if tails[0].returncode:
            line = read(self.temp + "/tail").partition("\n")[0]
            die("the output could not be written: " + line.removeprefix("tail: "))
        tails[1].wait()
        code = self.qemu.returncode
        return code if code >= 0 else 128 - code

    def tell(self):
        """With each next(): tells --verbose what is reached, or a terminal what takes over 2 s."""
        verbose = self.options.verbose
        for words, text in [("init", "init"), ("start", "the program")] if verbose else [
                ("start", f"booting linux {self.release}"), ("exit signal", None),
                ("end", "the program has ended; unloading memcast.ko, looking for what is left")]:
            begun = monotonic()
            while not (self.booted() if words == "init" else
                       set(words.split()) & set(self.status())):
                if text and not verbose and monotonic() - begun > 2:
                    say(text)
                    text = None
                yield
            if verbose:
                say(f"{text} after {monotonic() - self.started:.2f} s")
        while True:
            yield

    # ---- the end

    def close_door(self):
        """Ends the process that lets clients in."""
        if self.door:
            self.door.terminate()
            self.door = None

    def restore_terminal(self):
        """Sets the terminal to what it was."""
        if self.terminal:
            from termios import TCSADRAIN, error, tcsetattr
            try:
                tcsetattr(0, TCSADRAIN, self.terminal)
            except error:
                pass

    def clean_up(self):
        """Ends what still runs, and removes this run's files."""
        # A second signal would end this function half-way.
        for number in (SIGINT, SIGTERM, SIGHUP, SIGUSR1):
            signal(number, SIG_IGN)
        if self.qemu:
            self.qemu.terminate()
            self.qemu.send_signal(SIGCONT)      # Ctrl-Z may have stopped it with its group
            self.qemu.wait()
        self.close_door()
        running.name_served(self)
        if self.reuse_folder:
            running.forget(self)
        self.restore_terminal()
        self.place.run("rm", "-rf", self.temp)

def set_signals(machine):
    """Ends the run when a signal says so; a SIGINT goes to the program first."""
    def ends(number, frame):
        if machine.client:
            machine.client.send_signal(number)
        elif not machine.ends:
            machine.ends = True
            sys.exit(130 if number in (SIGINT, SIGUSR1) else 143)

    def interrupted(number, frame):
        if machine.asked or machine.options.icount or machine.options.reuse or \
           "start" not in machine.status():
            ends(number, frame)
        elif not machine.ends:
            machine.asked = True
            fd = os.open(machine.temp + "/clock.in", os.O_RDWR)
            os.write(fd, b"signal 2\n")
            os.close(fd)

    # SIGUSR1 is the second Ctrl-C, from vm-door.
    for number in (SIGINT, SIGTERM, SIGHUP, SIGUSR1):
        if getsignal(number) != SIG_IGN:  # nohup(1) has it ignored
            signal(number, interrupted if number == SIGINT else ends)

def run(options, place):
    """Runs the command of the options in a machine. Return: the status of this process"""
    options.check()
    machine = Machine(options, place)
    try:
        machine.prepare()
        if options.reuse:
            return running.run_reused(machine)
        machine.make_files()
        return verdict(machine, machine.run())
    finally:
        if machine.temp:
            machine.clean_up()
