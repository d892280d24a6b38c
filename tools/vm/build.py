# SPDX-License-Identifier: MIT
"""Finds a machine's kernel, and builds what the machine has of memcast."""
import os
from subprocess import DEVNULL, PIPE, STDOUT, Popen

from vm.host import die, lock, read, remove, save, write

def find_kernel(machine):
    """Finds the kernel: sets .vmlinuz, .release, .modules (may be empty), and .kdir or .kernel."""
    place, kernel = machine.place, machine.kernel
    status, text = place.run(place.kernel_program, "path", kernel, stdout=PIPE, stderr=DEVNULL)
    fetched, built = (not place.run(place.kernel_program, word, kernel)[0] if status else False
                      for word in ("is-fetched", "is-built"))
    if fetched and place.run(place.kernel_program, "fetch", kernel, stdout=2)[0]:
        raise SystemExit(125)
    if fetched or built:
        status, text = place.run(place.kernel_program, "path", kernel, stdout=PIPE)
        if status:
            raise SystemExit(125)
    if not status:
        for line in text.splitlines():
            name, _, value = line.partition("=")
            setattr(machine, name, value.strip("'"))
    elif os.path.isdir(kernel):
        machine.vmlinuz = f"{kernel}/{machine.processors.image}"
        text = read(kernel + "/include/generated/utsrelease.h", "")
        if '"' not in text:
            die(f"{kernel} is not the folder of a built kernel")
        machine.release = text.split('"')[1]
        machine.kernel = os.path.realpath(kernel)
    elif os.path.isfile(kernel):
        machine.vmlinuz = kernel
        machine.release = os.path.basename(kernel).removeprefix("vmlinuz-")
        machine.modules = "/lib/modules/" + machine.release
        machine.kernel = machine.modules + "/build"
        if not machine.options.no_module and not os.path.isdir(machine.kernel):
            die(f"nothing to build memcast.ko from for {machine.vmlinuz}: no {machine.kernel}")
    if status and not os.path.isfile(machine.vmlinuz):
        die(f"no kernel '{machine.kernel}': give a series such as 6.12, or backports, generic,"
            " debug, kcsan, 6.12-arm64-64k, an image or a build folder")
    config = read((machine.kdir or machine.kernel) + "/.config", "")
    if "\nCONFIG_CC_IS_CLANG=y" in config:
        place.environ["LLVM"] = place.given.get("LLVM") or "1"
    prefix = place.given.get("CROSS_COMPILE", "")
    if prefix and f'CONFIG_CC_VERSION_TEXT="{os.path.basename(prefix)}gcc' in config:
        place.environ["CROSS_COMPILE"] = prefix  # the compiler of this kernel
    machine.module = f"{place.build}/kmod-{machine.release}/memcast.ko"

def ensure_built(machine):
    """Builds what is missing or older than its source, one build at a time."""
    place, with_module = machine.place, not machine.options.no_module
    own = ["build/tools/vm-watch", "build/tools/vm-door"]
    part = os.path.relpath(place.build, place.top) + "/tools/"
    goals = [part + "vm-init"]
    if with_module:
        goals += ["kmod", "lib", *(part + "memcast-" + name for name in (
            "smi", "perf", "profile", "hosts"))]
    made = f"{place.build}/made-{machine.release}{'-module' * with_module}"
    os.makedirs(place.build, exist_ok=True)
    if not place.installed and is_built(machine, made, goals + own):
        return
    held = lock(place.build + "/lock")
    if held is None:
        die(f"{place.build}/lock cannot be written")
    if place.installed:
        if with_module and not build_installed_module(machine):
            die("building memcast.ko failed; mend the errors above")
    else:
        last = ["KERNEL=" + machine.kernel]
        calls = [goals + own + last]
        if machine.sysroot:  # programs that run on this computer by a make of its own
            calls = [own, [*goals, "ARCH=" + machine.processors.arch, *last]]
        begun = f"{made}.{os.getpid()}"  # of the time when the build begins
        save(begun, "")
        try:
            if any(make(place, words) for words in calls):
                die("building failed; mend the errors above")
            os.replace(begun, made)
        finally:
            remove(begun)
    os.close(held)

def make(place, words):
    """Runs make, and shows what it does. Return: its status"""
    with Popen(["make", "--no-print-directory", "-C", place.top, *words], env=place.environ,
               stdout=PIPE, stderr=STDOUT, encoding="utf-8", errors="surrogateescape") as process:
        for line in process.stdout:
            if not line.startswith("make: ") or \
               "Nothing to be done for" not in line and "is up to date" not in line:
                write(2, line)
    return process.returncode

def is_built(machine, made, goals):
    """Do all goals exist, and is no source newer than the last build? make takes longer to tell."""
    top = machine.place.top
    files = [made, *(f"{top}/{goal}" for goal in goals if "/" in goal)]
    if not machine.options.no_module:
        files += [machine.module, machine.place.libraries + "/libcuda.so.1"]
    symbols = machine.kdir + "/Module.symvers"
    sources = [f"{top}/{name}" for name in (
        "include", "kmod", "lib", "tools", "profiles", "Makefile", "Kbuild", "dkms.conf")]
    return all(map(os.path.exists, files)) and not machine.place.output(
        "find", *sources, *[symbols] * os.path.exists(symbols), "-newer", made, "-print", "-quit")

def build_installed_module(machine):
    """Builds the module where memcast is installed, by its makefile. Return: false if it fails"""
    # This is done only if the module's source or the kernel's build has changed since the last
    # time, as make takes seconds even if all is built.
    place, kdir, source = machine.place, machine.kdir or machine.kernel, machine.place.module_source
    folder, symbols = os.path.dirname(machine.module), kdir + "/Module.symvers"
    stamp = place.output("sh", "-c", 'find "$@" -type f -print0 | sort -z | xargs -0 sha256sum',
                         "-", source, place.here + "/vm/module")
    if os.path.exists(symbols):
        stamp += f"{symbols} {os.stat(symbols).st_mtime_ns}\n"
    if os.path.exists(machine.module) and read(folder + "/stamp", "") == stamp:
        return True
    machine.note(f"building memcast.ko for linux {machine.release}")
    runner = []
    if not place.run(place.kernel_program, "is-fetched", machine.kernel)[0]:
        runner = [place.kernel_program, "run", machine.kernel]
    place.run("rm", "-rf", folder)
    os.makedirs(folder)
    place.run("cp", "-R", source + "/.", folder + "/")
    place.run("cp", "-R", place.here + "/vm/module", folder + "/vm")
    # BTF needs vmlinux and pahole, signatures need the builder's key: the module has neither.
    for part in (folder, folder + "/vm"):
        if place.run(*runner, "make", "--no-print-directory", "-C", kdir, "M=" + part,
                     "CONFIG_DEBUG_INFO_BTF_MODULES=", "CONFIG_MODULE_SIG_ALL=",
                     f"-j{len(os.sched_getaffinity(0))}", "modules", stdout=2)[0]:
            return False
    save(folder + "/stamp", stamp)
    return True
