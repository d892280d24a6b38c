# SPDX-License-Identifier: MIT
"""What all parts of memcast-vm use: words for the user, other programs, and memcast's folders."""
import fcntl
import os
import sys

ME = os.path.basename(sys.argv[0])

def write(fd, text):
    """Writes without a buffer, as other programs write there, too. Without a reader it is lost."""
    data = text.encode(errors="surrogateescape")
    try:
        while data:
            data = data[os.write(fd, data):]
    except OSError:
        pass

def say(text):
    """Tells the user."""
    write(2, f"{ME}: {text}\n")

def die(text):
    """Ends with the status of a machine that could not be started, or did not end properly."""
    say(text)
    sys.exit(125)

def find_program(word, path):
    """Return: the file that a shell with this PATH starts for a word; None if there is none"""
    files = [os.path.join(folder, word) for folder in ([""] if "/" in word else path.split(":"))]
    return next((file for file in files if os.path.isfile(file) and os.access(file, os.X_OK)), None)

def read(file, default=None):
    """Return: a file's text, or the default if it cannot be read"""
    try:
        with open(file, encoding="utf-8", errors="surrogateescape", newline="") as opened:
            return opened.read()
    except OSError:
        if default is None:
            raise
        return default

def save(file, text):
    """Writes a text into a file."""
    with open(file, "w", encoding="utf-8", errors="surrogateescape", newline="") as opened:
        opened.write(text)

def remove(*files):
    """Removes those of the files that are there."""
    for file in files:
        try:
            os.unlink(file)
        except FileNotFoundError:
            pass

def lock(file, how=fcntl.LOCK_EX):
    """Return: the fd of a file, locked; None: another process has it, or it cannot be opened"""
    try:
        fd = os.open(file, os.O_RDONLY if how & fcntl.LOCK_SH else os.O_WRONLY | os.O_CREAT, 0o666)
    except OSError:
        return None
    try:
        fcntl.flock(fd, how)
        if not how & fcntl.LOCK_SH:
            os.utime(fd)  # it is in use, so it is not old
    except BlockingIOError:
        os.close(fd)
        return None
    return fd

class Place:
    """Where memcast is: its source tree, or where `make install` has put it."""
    def __init__(self, here, cache):
        # the user's environment, which the program may get; Python may have added to its own
        words = read("/proc/self/environ").split("\0")
        self.given = dict(word.split("=", 1) for word in words if "=" in word)
        self.path = self.given.get("PATH", os.defpath)
        # of other programs that this one starts, without the options of a make that runs this one,
        # and without those that people export for kernels of their own
        self.environ = {name: value for name, value in self.given.items() if name not in (
            "MAKEFLAGS", "MAKELEVEL", "ARCH", "CROSS_COMPILE", "LLVM", "LLVM_IAS", "KBUILD_OUTPUT",
            "KERNEL", "KCFLAGS", "KCPPFLAGS", "KAFLAGS")}
        self.environ["LC_ALL"] = "C"
        pwd = self.given.get("PWD", "")  # the name that the shell has for the current folder
        try:
            cwd = os.getcwd()
        except OSError:  # it was removed
            cwd = "/"
        self.cwd = pwd if os.path.abspath(pwd) == pwd and os.path.realpath(pwd) == cwd else cwd
        self.here, self.cache = here, cache  # here is memcast-vm itself
        self.kernel_program = here + "/memcast-kernel"
        self.top = os.path.dirname(here)
        self.build = self.top + "/build"  # build/ARCH for processors of another kind
        self.tools = self.build + "/tools"  # programs for this computer
        self.libraries = self.build + "/lib"
        self.installed = os.path.exists(here + "/installed")
        self.module_source = None

    def absolute(self, file):
        """Return: a file's path, by the name that the shell has for the current folder"""
        # In a machine without the host's files the program's folder has that name, and no link is
        # there. A ".." at the beginning stays, as with the host's files it may follow a link.
        return os.path.join(self.cwd, os.path.normpath(file))

    def run(self, *words, **how):
        """Runs a program to its end. Return: its status, and with stdout=-1 what it wrote there"""
        from subprocess import Popen
        with Popen(words, **{"env": self.environ, **how}) as program:
            # this waits even if a signal says exit
            text = os.fsdecode(program.stdout.read()) if program.stdout else ""
            status = program.wait()
        return (status if status >= 0 else 128 - status), text

    def background(self, *words, **how):
        """Starts a program that Ctrl-C is not for. Return: its process"""
        from signal import SIG_IGN, SIGINT, SIGQUIT, signal
        from subprocess import Popen
        return Popen(words, env=self.environ, **how,
                     preexec_fn=lambda: [signal(at, SIG_IGN) for at in (SIGINT, SIGQUIT)])

    def output(self, *words, **how):
        """Return: what a program writes to its standard output"""
        return self.run(*words, stdout=-1, **how)[1]

    def library_path(self):
        """Return: LD_LIBRARY_PATH for ldd here, and for programs in the machine"""
        others = self.given.get("LD_LIBRARY_PATH")
        return self.libraries + (":" + others if others else "")

    def program_environment(self, host, root, more):
        """Return: the environment of a program in the machine, with the variables @more"""
        if host:  # that of this process, without the variables of its shell and of make
            words = {name: value for name, value in self.given.items()
                     if name not in ("SHLVL", "OLDPWD", "_", "MFLAGS") and name[:4] != "MAKE"}
            words.update(PATH=f"{self.build}/tools:{self.here}:{self.path}:/memcast-vm/nvidia",
                         PWD=self.cwd)
        else:  # a small one, which is much the same on all hosts
            words = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/memcast-vm:"
                             "/memcast-vm/nvidia",
                     "TERM": self.given.get("TERM", "dumb"), "HOME": "/root" if root else "/tmp"}
        words["LD_LIBRARY_PATH"] = self.library_path()
        words.update(word.split("=", 1) for word in more)
        return [f"{name}={value}" for name, value in words.items()]

    def version(self):
        """Return: memcast's version"""
        return self.output(self.kernel_program, "--version").split()[-1]

    def check_cache(self):
        """Refuses a cache that would be another folder for each current folder."""
        if not self.cache.startswith("/"):
            die(f"MEMCAST_CACHE, XDG_CACHE_HOME or HOME has to name a folder by its whole path;"
                f" the cache is {self.cache}")

    def use_installed(self):
        """An installed memcast has no folder to build in: each user has one in the cache."""
        self.check_cache()
        # The file `installed` beside memcast-vm says where `make install` has put the rest.
        words = dict(line.split("=", 1) for line in read(self.here + "/installed").splitlines())
        self.module_source = os.path.realpath(f"{self.here}/{words['module_source']}")
        self.libraries = os.path.realpath(f"{self.here}/{words['libraries']}")
        self.build, self.tools = self.cache + "/installed", self.cache + "/installed/tools"
        os.makedirs(self.tools, exist_ok=True)
        for folder, start in ((self.here, "vm-"), (f"{self.here}/{words['programs']}", "memcast-")):
            for name in filter(lambda name: name.startswith(start), os.listdir(folder)):
                file, link = os.path.normpath(f"{folder}/{name}"), f"{self.tools}/{name}"
                if not os.path.islink(link) or os.readlink(link) != file:
                    os.symlink(file, f"{link}.{os.getpid()}")
                    os.rename(f"{link}.{os.getpid()}", link)
