# SPDX-License-Identifier: MIT
"""Makes the file system of a machine: a cpio archive that never changes, and one for this run."""
import os
from mmap import ACCESS_READ, mmap
from stat import S_IFDIR, S_IFLNK, S_IFREG
from subprocess import DEVNULL

from vm.host import die, find_program, read, say
from vm.processors import kvm_works, pack_foreign

LINKS = ("bin", "sbin", "lib", "lib64")  # top folders that are links
USERS = {"passwd": "root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/tmp:/bin/sh\n",
         "group": "root:x:0:\ntty:x:5:\nuser:x:1000:\n", "hosts": "127.0.0.1 localhost memcast\n"}
FOLDER, FILE = S_IFDIR | 0o755, S_IFREG | 0o644
CODE = (b"\x7fELF", b"\x50\xed\x55\xba")  # how programs and fatbins begin
OWN = ("/proc/", "/sys/", "/dev/")  # where the machine has file systems of its own
UNPACK = {".xz": "xz", ".zst": "zstd", ".gz": "gzip"}

def is_readable(file):
    """Is this a file that this user may read?"""
    return os.path.isfile(file) and os.access(file, os.R_OK)

def is_hidden(machine, file):
    """Does the machine have a file system of its own where this file is, and no folder of --rw?"""
    options, named = machine.options, machine.place.absolute(file)
    own = (*OWN, *["/run/"] * bool(options.host))
    shared = tuple(os.path.realpath(folder) + "/" for folder in options.rw)
    # Without --host links are not followed there: what is packed has the name that was given.
    return any(path.startswith(own) and not path.startswith(shared)
               for path in (named, os.path.realpath(file) if options.host else named))

def files_of(machine):
    """Return: those words of the command that are files of this computer"""
    return [word for word in machine.options.command
            if is_readable(word) and not is_hidden(machine, word)]

def has_loader(file):
    """Does a program name a loader for its libraries, as programs that are not static do?"""
    with open(file, "rb") as opened:
        head = opened.read(4096)

    def number(at, size):
        return int.from_bytes(head[at:at + size], "little")
    start, size, count = number(32, 8), number(54, 2), number(56, 2)  # of the program headers
    return head[:4] == b"\x7fELF" and any(
        number(start + size * at, 4) == 3 for at in range(count))  # PT_INTERP

def contains(file, *texts):
    """Has a file all of these texts? Of data, which may be many GiB, the first MiB counts."""
    if not is_readable(file):
        return False
    try:
        with open(file, "rb") as opened:
            data = opened.read(1 << 20)
            try:
                if data[:4] in CODE:
                    data = mmap(opened.fileno(), 0, access=ACCESS_READ)
            except (OSError, ValueError):  # not all file systems map files
                data += opened.read()
            return all(data.find(text) >= 0 for text in texts)
    except OSError:
        return False

def contents(file):
    """Return: what a file has that is packed"""
    try:
        with open(file, "rb") as opened:
            if os.fstat(opened.fileno()).st_size >> 32:
                die(f"{file} is too large for the machine's memory; --host has it without a copy")
            return opened.read()
    except OSError as error:
        die(f"{file} cannot be read: {error.strerror}")

def write_archive(file, mode, entries):
    """Writes a cpio archive, "newc": @entries have a mode, and contents or a path, by name"""
    # All files are root's, and of the year 1970. The same files make the same bytes: with --icount
    # the time to unpack them has to be the same.
    for name in list(entries):
        while name := os.path.dirname(name):
            entries.setdefault(name, (FOLDER, b""))
    with open(file, mode) as archive:
        for count, name in enumerate([*sorted(entries), "TRAILER!!!"], 1):
            kind, data = entries.get(name, (0, b""))
            if isinstance(data, str):
                data = contents(data)
            path = os.fsencode(name) + b"\0"
            numbers = (count, kind, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(path), 0)
            head = b"070701" + b"".join(b"%08X" % number for number in numbers) + path
            archive.write(head + bytes(-len(head) % 4))
            archive.write(data)
            archive.write(bytes(-len(data) % 4))
        archive.write(bytes(-archive.tell() % 512))

class Pack:
    """The files of a machine: which of this computer's is in which place there."""
    def __init__(self, machine):
        self.machine, self.place = machine, machine.place
        self.base = self.place.build + "/tools/vm-base.cpio"
        self.files = {}  # by place in the machine: mode, and the path here or the contents
        self.needed = set()  # files whose needs are packed
        self.dependencies = None  # of the kernel's modules: lines of modules.dep by name
        init = self.place.build + "/tools/vm-init"
        # The archive has the time of what it was made from: another version's may be older.
        time = max(os.stat(file).st_mtime_ns for file in (init, __file__))
        if not os.path.exists(self.base) or os.stat(self.base).st_mtime_ns != time:
            self.make_base(init, time)

    def make_base(self, init, time):
        """Makes the archive that never changes: folders, users, busybox under all its names"""
        busybox = find_program("busybox", self.place.path)
        files = {name: (FOLDER, b"") for name in "dev proc sys run root home var".split()}
        files["tmp"] = (S_IFDIR | 0o1777, b"")
        for name in LINKS:
            files.update({"usr/" + name: (FOLDER, b""),
                          name: (S_IFLNK | 0o777, b"usr/" + name.encode())})
        for name in self.place.output(busybox, "--list").split():
            files["usr/bin/" + name] = (S_IFLNK | 0o777, b"busybox")
        files["init"] = (S_IFREG | 0o755, init)
        files["usr/bin/busybox"] = (S_IFREG | 0o755, self.machine.sysroot + busybox)
        files.update({"etc/" + name: (FILE, text.encode()) for name, text in USERS.items()})
        write_archive(f"{self.base}.{os.getpid()}", "wb", files)
        os.utime(f"{self.base}.{os.getpid()}", ns=(time, time))
        os.rename(f"{self.base}.{os.getpid()}", self.base)

    def put(self, dest, mode, data=b""):
        """Packs one file or folder. Some top folders are links, as /lib."""
        before, dots, after = dest.partition("/../")
        if dots:  # the folder has to be there
            self.put(before, FOLDER)
            self.put(f"{os.path.dirname(before)}/{after}", mode, data)
            return
        dest = os.path.normpath("/" + dest).lstrip("/")
        if dest.partition("/")[0] in LINKS:
            dest = "usr/" + dest
        self.files.setdefault(dest, (mode, data))

    def file(self, source, dest=None, above=()):
        """Packs a file, or a folder with all that is in it. Links are followed."""
        dest, real = dest or source, os.path.realpath(source)
        if not os.path.exists(real):
            return
        # All files are root's there. What the owner of a file may read or run here, programs may,
        # and they become root by root's files only.
        about = os.stat(real)
        mode = about.st_mode & (~0o6000 if about.st_uid else ~0)
        mode |= (mode >> 6 & 5) * 0o11
        if os.path.isfile(real):
            self.put(dest, mode, real)
        elif os.path.isdir(real) and real not in above:
            self.put(dest, mode if above else FOLDER)
            try:
                names = os.listdir(real)
            except OSError as error:
                die(f"{real} cannot be read: {error.strerror}")
            for name in names:
                self.file(f"{real}/{name}", f"{dest}/{name}", (*above, real))

    def named(self, file):
        """Packs a file with what it needs. A link is a link there, as $ORIGIN is about the file."""
        target = file
        if os.path.islink(file) and os.path.isabs(file):
            target = os.path.join(os.path.dirname(file), os.readlink(file))
            # Folders are no links there, so what is above one may be another folder.
            target = os.path.realpath(target) if ".." in target.split("/") else target
        if target == file or target.startswith(OWN):
            self.file(file)
            self.needs(file)
            return
        self.named(target)
        self.put(file, S_IFLNK | 0o777, os.fsencode(target))

    def library(self, file):
        """Packs a library, and files that are loaded with it although ldd does not name them"""
        folder, name = os.path.split(file)
        # The machine's processor may not be the host's: its loader may take any variant.
        folder = folder.partition("/glibc-hwcaps/")[0]
        kinds = folder + "/glibc-hwcaps"
        others = [f"{kinds}/{kind}/{name}" for kind in
                  (os.listdir(kinds) if os.path.isdir(kinds) else [])]
        # pthread_exit() and pthread_cancel() open libgcc_s.
        others += [folder + "/libgcc_s.so.1"] * (name == "libc.so.6")
        for other in [file, f"{folder}/{name}", *others]:
            self.file(other)

    def ldd(self, file):
        """Return: the libraries that a program needs, and one that ldd does not find"""
        libraries, missing = [], None
        for line in self.place.output("ldd", file, stderr=DEVNULL, env=dict(
                self.place.environ, LD_LIBRARY_PATH=self.place.library_path())).splitlines():
            path = line.rpartition(" => ")[2].strip().rpartition(" (0x")[0]
            if path.startswith("/"):
                libraries.append(path)
            elif "not found" in line:
                missing = missing or line.split()[0]
        return libraries, missing

    def needs(self, file):
        """Packs the files that a program needs to start: its libraries, or its interpreter"""
        if file in self.needed or not is_readable(file):
            return
        self.needed.add(file)
        with open(file, "rb") as opened:
            first = opened.readline(4096)
        if first.startswith(b"\x7fELF") and self.machine.sysroot:
            pack_foreign(self, file)
        elif first.startswith(b"\x7fELF"):
            libraries, missing = self.ldd(file)
            if missing:
                die(f"{file} needs {missing}, which is not found")
            for library in libraries:
                self.library(library)
        # With libraries for other processors the machine's busybox is all there is.
        elif first.startswith(b"#!") and not self.machine.sysroot:
            for word in os.fsdecode(first[2:]).split():
                program = find_program(word, self.place.path)
                if program:
                    self.named(program)

    def program(self):
        """Packs the program, files among its arguments, files of --add, and memcast's libraries"""
        place, options = self.place, self.machine.options
        find_command(self.machine)
        for word in files_of(self.machine):
            self.named(place.absolute(word))
        for word in options.add:
            source, _, dest = word.partition(":")
            if not os.path.exists(source):
                die(f"--add: there is no {source}")
            dest = place.absolute(dest or source)
            if (dest + "/").startswith(OWN):
                die(f"the machine has a file system of its own where {dest} would be")
            self.file(source, dest)
            for file in place.output("find", "-L", source, "-type", "f", "(", "-perm", "/111", "-o",
                                     "-name", "*.so*", ")", "-print0").split("\0")[:-1]:
                self.needs(file)
        # By this cache the loader finds libraries in folders that only /etc/ld.so.conf names.
        # If a library in the cache is not packed, the loader searches the usual folders.
        if not self.machine.sysroot:
            self.file("/etc/ld.so.cache")
        # Programs load these with dlopen(), which ldd does not see. Device code is in a section of
        # programs and libraries of nvcc, and PTX names its target.
        has_code = any(contains(word, b".nv_fatbin") or contains(word, b".target sm_")
                       for word in files_of(self.machine)) or any(
                           contains(path, b".nv_fatbin") for name, (_, path) in self.files.items()
                           if ".so" in os.path.basename(name) and isinstance(path, str))
        for name in ["libcuda.so.1", "libcudart.so.13", "libnvidia-ml.so.1", "libmemcast.so.0",
                     "memcast-trap.so", *["memcast-ptx.so"] * has_code]:
            self.file(f"{place.libraries}/{name}")
            self.needs(f"{place.libraries}/{name}")

    def tools(self):
        """Packs memcast's tools, for a program to start."""
        # memcast-bench is not among them: with libm, which most programs do without, it takes more
        # than all that is packed for a small program.
        place, host, tools = self.place, self.machine.options.host, self.place.build + "/tools"
        for name in ["smi", *["perf", "profile"] * (not host),
                     *["hosts"] * bool(self.machine.options.hosts)]:
            self.file(f"{tools}/memcast-{name}", f"memcast-vm/memcast-{name}")
            if not host:
                self.needs(f"{tools}/memcast-{name}")
        # behind all other folders of PATH, so that NVIDIA's own comes first
        self.file(tools + "/memcast-smi", "memcast-vm/nvidia/nvidia-smi")
        if not host:
            for folder in (tools, place.here):
                self.file(folder + "/memcast-run", "memcast-vm/memcast-run")
            # memcast-run reads the folder of the libraries from this file beside itself.
            self.put("memcast-vm/installed", FILE, os.fsencode(
                f"libraries='..{place.libraries}'\ninstalled_version='{place.version()}'\n"))

    def module(self, name, may_be_missing=False):
        """Packs a module and the modules it needs, in the order to load them"""
        machine, folder = self.machine, self.machine.modules
        if self.dependencies is None:
            self.dependencies = {}
            for line in read(folder + "/modules.dep", "").splitlines():
                self.dependencies.setdefault(module_name(line.partition(":")[0]), line)
        line = self.dependencies.get(name.replace("-", "_"), "")
        if not line and not may_be_missing and name.replace("-", "_") not in map(
                module_name, read(folder + "/modules.builtin", "").splitlines()):
            die(f"kernel {machine.release} has no module {name} (what is built in needs no"
                " --modules)")
        for file in reversed(line.replace(":", " ", 1).split()):
            path, (base, _, form) = f"{folder}/{file}", os.path.basename(file).rpartition(".ko")
            dest = f"memcast-vm/modules/{base}.ko"
            if dest not in self.files:
                if form:
                    from subprocess import check_output
                    self.put(dest, FILE, check_output([UNPACK[form], "-dcq", path]))
                self.file(path, dest)
                words = parameters(machine.options, module_name(file))
                machine.settings.append(f"module=/{dest} {words}".rstrip())

    def write(self, file):
        """Writes the archives to a file. Return: the size of the one for this run"""
        with open(self.base, "rb") as base, open(file, "wb") as copy:
            copy.write(base.read())
        write_archive(file, "ab", self.files)
        return os.path.getsize(file) - os.path.getsize(self.base)

def module_name(file):
    """Return: the name of the module in a file, in the form that the kernel uses"""
    return os.path.basename(file).partition(".ko")[0].replace("-", "_")

def find_command(machine):
    """Finds the program's file. memcast's own tools are found without their folder."""
    command, place = machine.options.command, machine.place
    name, path = command[0], place.path
    # nvidia-smi is the machine's, if this computer has none.
    if name == "nvidia-smi" and not machine.options.no_module and not find_program(name, path):
        command[0] = "/memcast-vm/nvidia/nvidia-smi"
    else:
        program = find_program(name, f"{path}:{place.build}/tools:{place.here}")
        if not program and name.startswith(("build/", place.build + "/")):
            die(f"no {name} yet; run: make")
        if not program:
            die(f"no program '{name}' on this machine")
        command[0] = place.absolute(program)
        if is_hidden(machine, command[0]):
            die(f"{command[0]} is where the machine has a file system of its own; copy it to"
                " another folder")
        if not is_readable(command[0]):
            die(f"{command[0]} cannot be read, so it cannot be brought along")
        arch = machine.processors.arch
        head = open(command[0], "rb").read(20) if machine.sysroot else b""
        if head[:4] == b"\x7fELF" and head[18:] != b"\xb7\0":
            die(f"{command[0]} is not for {arch}: make ARCH={arch} builds memcast's programs into"
                f" build/{arch}")
    for word in files_of(machine):
        name = os.path.basename(word)
        if ".so" not in name and contains(word, b"cuGetExportTable", b"cudaErrorCudartUnloading"):
            say(f"{name} has NVIDIA's static runtime, which does not work on memcast:"
                " build it with nvcc --cudart shared (docs/stack/runtime.md)")

def host_files(machine):
    """With --host no file is packed: init loads these modules and mounts the host's files."""
    options = machine.options
    find_command(machine)
    compile_ahead(machine)
    for name in ("9p", "9pnet_virtio", "overlay"):
        machine.pack.module(name)
    machine.settings.append("host=")
    if not options.root:
        group = os.getegid()
        machine.settings += [f"user={os.geteuid()}:{group}", f"group={group}", *(
            f"group={word}" for word in os.getgroups() if word != group)]
    machine.settings += ["rw=" + os.path.realpath(folder) for folder in options.rw]

def compile_ahead(machine):
    """Compiles the kernels of the program, and of the libraries that it is linked with."""
    # They go into the user's folder, where the machine finds them: an emulated processor takes
    # minutes for seconds of this one. An emulated x86 has no more than x86-64-v3.
    options, place = machine.options, machine.place
    compiler, library = place.build + "/tools/memcast-ptx", place.libraries + "/memcast-ptx.so"
    is_off = "MEMCAST_PTX=0" in options.env or place.given.get("MEMCAST_PTX") == "0"
    files = []
    for word in files_of(machine):
        if not options.icount and not is_off and os.access(compiler, os.X_OK) and \
           os.path.exists(library):
            files += [file for file in [word, *machine.pack.ldd(os.path.realpath(word))[0]]
                      if contains(file, b".nvFatBinSegment")]
    settings = [word for word in options.env if word.startswith("MEMCAST_PTX_")]
    environ = dict(place.environ, **dict(word.split("=", 1) for word in settings))
    folder = environ.get("MEMCAST_PTX_CACHE") or (
        environ.get("XDG_CACHE_HOME") or environ.get("HOME", "") + "/.cache") + "/memcast/ptx"
    if not files or not folder.startswith("/"):
        return
    from hashlib import sha256
    target = ["--target=x86-64-v3"] * (machine.processors.arch == "x86" and not kvm_works(machine))
    text = f"{' '.join(target)} {' '.join(settings)}\n" + "".join(
        f"{file} {os.stat(file).st_size} {int(os.stat(file).st_mtime)}\n"
        for file in [library, *files])
    done, list_of_done = sha256(os.fsencode(text)).hexdigest()[:32], folder + "/ahead"
    # memcast-ptx.so removes the list when it cannot keep something, or removes something. What
    # was not compiled to its end is tried again.
    try:
        if not os.path.isdir(folder):
            os.makedirs(folder, 0o700, exist_ok=True)
        about = os.lstat(folder)
        if about.st_uid != os.geteuid() or about.st_mode & 0o022:
            raise OSError(1, "other users can write there")
        if done in read(list_of_done, "").split():
            return
        fd = os.open(list_of_done, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        if not place.run(compiler, "--quiet", "--progress", "--seconds", "120", *target, *files,
                         env=environ, stdout=2)[0]:
            os.write(fd, f"{done}\n".encode())
            room = os.statvfs(folder)
            if not os.fstat(fd).st_nlink and room.f_bavail * room.f_frsize < 8 << 20:
                raise OSError(28, "not all of it has room there")
        os.close(fd)
    except OSError as error:
        say(f"compiled kernels cannot be kept in {folder}: {error.strerror};"
            " the machine compiles them at each run")

def lazy_pools(options):
    """Are pools lazy? The module decides likewise."""
    backing = [word for word in options.param if word.startswith("backing=")]
    return not options.no_module and ("backing=lazy" in backing or
                                      not backing and not options.pool_mib)

def parameters(options, module):
    """Return: a module's parameters from --param: K=V for memcast, MODULE.K=V for any module"""
    # The machine is one person's, so its users have no shares of lazy pools.
    words = [f"lazy_user_mib={1 << 40}"] * (module == "memcast" and lazy_pools(options))
    for word in options.param:
        dotted = "." in word.partition("=")[0]
        owner, _, rest = word.partition(".") if dotted else ("memcast", "", word)
        if owner.replace("-", "_") == module:
            words.append(rest)
    return " ".join(words)
