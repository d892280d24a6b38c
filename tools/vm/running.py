# SPDX-License-Identifier: MIT
"""Programs in machines that run already: exec, shell, ps and stop, and --reuse, all by vm-door."""
import os
import sys
from binascii import crc32
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH
from time import sleep, time

from vm.host import ME, die, lock, read, remove, save, say, write
from vm.options import Options

KEPT = 8 * 86400  # seconds for which files of a machine that was killed are kept

def has_door(place):
    """Has vm-door been built? It is before the first machine with a name boots."""
    return os.access(place.tools + "/vm-door", os.X_OK)

def door_says(place, *words, errors=True):
    """Does vm-door answer yes? This does without the module subprocess, as exec has to be fast."""
    silence = [(os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)] * (not errors)
    return has_door(place) and 0 == os.waitpid(os.posix_spawn(
        place.tools + "/vm-door", ["vm-door", *words], place.environ, file_actions=silence), 0)[1]

def door_output(place, *words):
    """Return: what vm-door writes"""
    status, text = place.run(place.tools + "/vm-door", *words, stdout=-1)
    return sys.exit(125) if status else text.strip()

def become_door(place, *words):
    """Makes this process vm-door."""
    from _signal import SIG_DFL, SIGPIPE, signal  # what the module signal has, in less time
    signal(SIGPIPE, SIG_DFL)
    os.execve(place.tools + "/vm-door", ["vm-door", *words], place.environ)

def settings_file(place, env, root, *more):
    """Return: the fd of a file in memory with a program's settings, for vm-door"""
    # It gets this process's folder and environment, and the variables of --env. Other users must
    # not read the environment, while they can read arguments.
    words = ["cwd=" + place.cwd, *["root="] * bool(root), *more,
             *("host_env=" + word for word in place.program_environment(True, False, [])),
             *("env=" + word for word in env)]
    fd = os.memfd_create("settings", 0)
    with open(fd, "wb", closefd=False) as file:
        file.write(os.fsencode("".join(word + "\0" for word in words)))
    return fd

# ---- names of machines that do not run yet

def starting_file(place, name):
    """Return: the file that is locked before a machine with this name boots, or an empty name"""
    # Its kernel is fetched and its module is built in that time. The folder is that of names.c: a
    # first run has no vm-door yet to ask.
    base, user = place.given.get("XDG_RUNTIME_DIR", ""), os.geteuid()
    folder = f"/tmp/memcast-{user}"
    if base.startswith("/") and os.path.exists(base) and os.stat(base).st_uid == user:
        folder = base + "/memcast"
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
    except OSError:
        return ""
    is_own = os.lstat(folder).st_uid == user and not os.path.islink(folder)
    return f"{folder}/{name}.starting" if is_own else ""

def note_name(machine):
    """Locks the file of a machine that will boot, until clients can connect or the run ends."""
    file = starting_file(machine.place, machine.options.name)
    machine.starting = lock(file, LOCK_EX | LOCK_NB), file

def name_served(machine):
    """Clients can connect, or will never: unlocks the file."""
    fd, file = machine.starting
    machine.starting = None, ""
    if fd is not None:
        remove(file)
        os.close(fd)

def await_name(place, name):
    """exec waits for the name, as people start exec right after the machine."""
    file = starting_file(place, name)
    for tries in range(100 if file else 0):
        if door_says(place, "alive", name, errors=False):
            return
        fd = lock(file, LOCK_SH | LOCK_NB)
        # Without a lock, the file's runner is about to lock it, or was killed.
        if fd is not None:
            os.close(fd)
        elif os.path.exists(file):
            say(f"waiting until the machine named {name} is ready to boot")
            lock(file, LOCK_SH)
            return
        if tries == 10:
            say(f"waiting up to 10 s for a machine named {name}")
        sleep(0.1)

def run_command(place, command, words):
    """memcast-vm exec, shell, ps and stop"""
    asked = Options(words, place, {"--root": "", "--env": "K=V"}) \
        if command in ("exec", "shell") else None
    name, *rest = asked and asked.command or [""]
    rest = rest[1:] if rest[:1] == ["--"] else rest
    usage = {"exec": not rest and "[--root] [--env K=V] NAME [--] COMMAND [ARGUMENT…]",
             "ps": words not in ([], ["--json"]) and "[--json]",
             "stop": len(words) != 1 and "NAME"}.get(command)
    if usage:
        die(f"usage: {ME} {command} {usage}")
    if place.installed:
        place.use_installed()
    if name:
        await_name(place, name)
    if not has_door(place) and command == "ps":
        write(1, "[]\n" if words else "no machine with a name runs\n")
        raise SystemExit(0)
    if not has_door(place):
        die("no machine with a name runs")
    if not asked:
        become_door(place, "list" if command == "ps" else command, *words)
    more = ["timeout=0", "limit=0"]
    if command == "shell":
        names = [name] if name else door_output(place, "list", "--names").split()
        if len(names) != 1:
            die(f"in which? {' '.join(names)}" if names else
                f"no machine with a name runs; for one with a shell: {ME} --host -- bash")
        if rest:
            die(f"shell takes a name only; {ME} exec runs commands")
        name = names[0]
        more.append("shell=" + (place.given.get("SHELL") or "/bin/sh"))
    fd = settings_file(place, asked.env, asked.root, *more)
    become_door(place, "run", name, f"/dev/fd/{fd}", "", *rest)

def open_door(machine):
    """Starts vm-door, which lets clients in and ends with this process."""
    options, place, words = machine.options, machine.place, ["named", *machine.options.command]
    if options.serves:
        words = ["reused"]
        machine.reuse_folder = door_output(place, "folder")
        save(f"{machine.reuse_folder}/{options.name}.folder", machine.temp + "\n")
    machine.door = place.background(
        place.tools + "/vm-door", "serve", options.name, str(os.getpid()), machine.temp,
        machine.release, *words, stdout=-1)
    with machine.door.stdout as ready:
        if ready.readline() != b"listens\n":
            raise SystemExit(125)
    name_served(machine)

# ---- --reuse

def lock_kept(file, how=LOCK_EX):
    """Return: the fd of a file, locked; None: its folder has gone, or another process has it"""
    while True:
        fd = lock(file, how)
        # The process that had the lock before may have removed the file.
        if fd is None or os.path.exists(file) and os.path.samestat(os.fstat(fd), os.stat(file)):
            return fd
        os.close(fd)

def forget(machine):
    """Removes the files of a machine that ends, but for a log with messages for the next run."""
    # If another machine has the name already, or is about to, the files are that machine's.
    file = f"{machine.reuse_folder}/{machine.options.name}"
    fd = lock_kept(file + ".lock", LOCK_EX | LOCK_NB)
    if fd is not None and read(file + ".folder", "").strip() == machine.temp:
        remove(file + ".key", file + ".folder", file + ".lock",
               *[file + ".log"] * (not read(file + ".log", "")))

class Shared:
    """The machine that a run of --reuse uses, with others."""
    def __init__(self, machine):
        self.machine, self.options, self.place = machine, machine.options, machine.place
        folder = door_output(machine.place, "folder")
        # a machine with another key has other options, or another kernel or module
        words = [*self.options.machine_options, str(self.options.idle), machine.release]
        for file in [machine.vmlinuz, machine.place.build + "/tools/vm-init"] + [
                machine.module] * (not self.options.no_module):
            words.append(f"{file} {os.stat(file).st_mtime_ns} {os.stat(file).st_size}")
        self.key = "\0".join(words)
        self.name = self.options.name or f"reuse-{crc32(os.fsencode(self.key)):08x}"
        self.file = f"{folder}/{self.name}"

    def alive(self):
        """Does the machine run?"""
        return door_says(self.place, "alive", self.name)

    def check(self):
        """Refuses the name of a machine with a program of its own, and leaves that alone."""
        if self.alive() and not door_says(self.place, "reused", self.name) and self.alive():
            die(f"the machine named {self.name} was started without --reuse and runs a program of"
                f" its own; give another name, or run this in it: {ME} exec {self.name} COMMAND")

    def sweep(self):
        """Removes old files whose machine was killed, or for whose log nobody asked."""
        for entry in os.scandir(os.path.dirname(self.file)):
            name, _, kind = entry.name.rpartition(".")
            try:
                old = entry.is_file(follow_symlinks=False) and \
                    time() - entry.stat().st_mtime > KEPT
            except FileNotFoundError:  # another run has removed it
                continue
            if kind in ("key", "folder", "lock", "log", "starting") and old and \
               not door_says(self.place, "alive", name):
                remove(entry.path)

    def show_log(self):
        """Shows what the machine has said."""
        write(2, "".join(f"  {line}\n" for line in read(self.file + ".log", "").splitlines()))

    def boot(self):
        """Ensures that a machine with this name and key runs, or boots"""
        self.check()
        self.sweep()
        fd = lock_kept(self.file + ".lock")
        if fd is None:
            die(f"{self.file}.lock cannot be written")
        if read(self.file + ".key", "") != self.key and self.alive():
            say(f"{self.name} has other options, or another module: it is started anew when its"
                " programs have ended")
            door_says(self.place, "stop", self.name)
        if not self.alive():
            self.start()
            self.check()
        os.close(fd)

    def start(self):
        """Starts the machine in the background, and waits until clients can connect."""
        if read(self.file + ".log", ""):
            say("the machine before this one said:")
            self.show_log()
        self.machine.note(f"booting {self.name}")
        save(self.file + ".key", self.key)
        from subprocess import DEVNULL
        with open(self.file + ".log", "wb") as errors:
            process = self.place.background(
                self.place.here + "/memcast-vm", *self.options.machine_options, "--idle",
                str(self.options.idle), "--serves", self.name, stdin=DEVNULL, stdout=DEVNULL,
                stderr=errors, start_new_session=True)
        while not self.alive():
            if process.poll() is not None:
                self.show_log()
                remove(*(f"{self.file}.{kind}" for kind in ("key", "folder", "lock", "log")))
                die("no machine could be started")
            sleep(0.05)

def run_reused(machine):
    """Runs the command in a shared machine. Return: the status of this process"""
    from subprocess import Popen
    from vm.report import show_reports
    options, place, began = machine.options, machine.place, machine.temp + "/began"
    shared = Shared(machine)
    fd = settings_file(place, options.env, options.root, "fresh=", "clean=",
                       f"timeout={options.timeout}", f"limit={options.limit}")
    for attempt in (1, 2, 3):
        shared.boot()
        log = read(shared.file + ".folder", "").strip() + "/log"
        size = len(read(log, ""))
        # vm-door takes the keys of a terminal that is input and output. Other signals come to this
        # process alone, which passes them on: of a Ctrl-C for both, vm-door would get two.
        machine.client = Popen(
            [place.tools + "/vm-door", "run", shared.name, f"/dev/fd/{fd}", began,
             *options.launcher, *options.command], env=place.environ, pass_fds=(fd,),
            preexec_fn=None if os.isatty(0) and os.isatty(1) else os.setpgrp)
        code = machine.client.wait()
        machine.client = None
        code = code if code >= 0 else 128 - code
        if os.path.exists(began):
            break
        machine.note(f"attempt {attempt}: the machine had ended")
    else:
        shared.show_log()
    # A kernel report in that time fails the run, even if the cause is another program.
    if show_reports(read(log, "")[size:]):
        say("the kernel's log has a report, which fails the run")
        code = 126
    # After a report or a leak the next run gets a fresh module, in another machine.
    if code == 126:
        door_says(place, "stop", shared.name, errors=False)
    return code
