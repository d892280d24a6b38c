# SPDX-License-Identifier: MIT
"""A machine's own program, and a shell beside it, at terminals; for host-running.sh.

Prints a line for each thing that is as it should be, and all that was seen where not.
"""
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios

VM = sys.argv[1]
DOOR = os.path.dirname(os.path.dirname(VM)) + "/build/tools/vm-door"


class Terminal:
    def __init__(self, *words):
        ready, go = os.pipe()
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.close(go)
            os.read(ready, 1)
            os.execv(VM, (VM, *words))
        self.resize(30, 100)
        os.close(ready)
        os.close(go)
        self.text = b""

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self):
        try:
            got = os.read(self.fd, 4096)
        except OSError:
            got = b""
        self.text += got
        return got

    def until(self, word):
        """Return: false if the program has ended without it"""
        while word not in self.text:
            if not self.read():
                return False
        return True

    def type(self, keys):
        self.text = b""
        os.write(self.fd, keys)

    def status(self):
        while self.read():
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def shows(name, good, *terminals):
    if good:
        print(name)
        return
    print(name, "is not so:", *(terminal.text for terminal in terminals))


def pump_ends():
    """The pump of keys ends with its runner, also when the shell has taken the terminal back.

    A key that comes then is the shell's: it neither ends the pump nor stops it.
    """
    taken, taken_back = os.pipe()
    pid, fd = pty.fork()
    if not pid:
        ready, go = os.pipe()
        runner = os.fork()
        if not runner:
            os.setpgid(0, 0)
            os.read(ready, 1)
            subprocess.Popen([DOOR, "input", str(os.getpid()), "/dev/null"],
                             stdout=subprocess.DEVNULL)
            signal.pause()
        os.setpgid(runner, runner)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        os.tcsetpgrp(0, runner)
        os.write(go, b"g")
        # The program has the terminal once keys have no echo any more.
        while termios.tcgetattr(0)[3] & termios.ECHO:
            os.sched_yield()
        os.tcsetpgrp(0, os.getpid())
        os.write(taken_back, b"t")
        # times out after a minute if the pump takes the terminal
        left = select.select([0], [], [], 60)[0]
        with open(f"/proc/{runner}/task/{runner}/children", encoding="ascii") as file:
            pump = int(file.read().split()[0])
        os.kill(runner, signal.SIGKILL)
        os.waitpid(runner, 0)
        state = ""
        while state not in ("T", "Z"):
            try:
                with open(f"/proc/{pump}/stat", encoding="ascii") as file:
                    state = file.read().rsplit(")", 1)[1].split()[0]
            except (FileNotFoundError, ProcessLookupError):  # it may end after open()
                state = "Z"
        os._exit(not left or state == "T" or not termios.tcgetattr(0)[3] & termios.ECHO)
    os.read(taken, 1)
    os.write(fd, b"k")
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    for end in (fd, taken, taken_back):
        os.close(end)
    return not status


shows("keys_end_with_the_runner", pump_ends())
small = ("--devices", "1", "--pool-mib", "16")
silent = Terminal(*small, "--env", "CUDA_LOG_FILE=/dev/null", "--", "false")
failed = Terminal(*small, "--", "false")
shows("failure_names_the_log", failed.status() == 1 == silent.status() and
      b"CUDA_LOG_FILE=stderr" in failed.text and b"status 1" not in silent.text, failed, silent)
first = Terminal("--name", "keys", *small, "--", "sh", "-c",
                 'trap "echo caught" INT; echo up; while :; do sleep 0.1; done')
first.until(b"up")
shell = Terminal("shell")
shell.type(b'stty size; echo mar""ker\n')
shell.until(b"marker")
shows("size_at_start", b"30 100" in shell.text, shell)
shell.resize(40, 120)
# The size does not come in order with the keys, so the program asks until it has arrived.
for _ in range(100):
    shell.type(b'stty size; echo mar""ker\n')
    shell.until(b"marker")
    if b"40 120" in shell.text:
        break
shows("resized", b"40 120" in shell.text, shell)
shell.type(b'sh -c \'trap "echo cau""ght; exit" INT; echo "u"p; while :; do sleep 0.1; done\'\n')
shell.until(b"up\r")
shell.type(b"\x03")
shows("keys_reach_the_program", shell.until(b"caught"), shell)
shell.type(b"exit 9\n")
shows("shell_status", shell.status() == 9, shell)
first.type(b"\x03")
shows("first_is_the_programs", first.until(b"caught"), first)
first.type(b"\x03\x03")
status = first.status()
names = subprocess.run([VM, "ps"], capture_output=True, text=True).stdout
shows("second_ends_the_machine", status == 130 and "keys" not in names, first)
