# SPDX-License-Identifier: MIT
"""What differs between machines by their processors: x86 or arm64, and KVM or emulation."""
import os
import re
from subprocess import DEVNULL

from vm.host import die, read, save, say

OWN = "arm64" if os.uname().machine == "aarch64" else "x86"

class Processors:
    """The kind of processors that a machine has, and what QEMU has to be told for it."""
    def __init__(self, arch):
        self.arch, self.foreign = arch, arch != OWN
        if arch == "arm64":
            self.qemu, self.image = "qemu-system-aarch64", "arch/arm64/boot/Image"
            self.board, self.words = "-machine virt,gic-version=max", "console=ttyAMA0"
            # Pointer authentication as the architecture has it takes three times as long.
            self.emulated, self.passed = "max,pauth-impdef=on", 0
        else:
            self.qemu, self.image = "qemu-system-x86_64", "arch/x86/boot/bzImage"
            self.board = "-machine pc -device isa-debug-exit,iobase=0xf4,iosize=4"
            # An emulated timer comes late on a busy host, and linux's test whether it ticks fails.
            self.words = "console=ttyS0 no_timer_check"
            # 85 is what init's write to isa-debug-exit makes of QEMU's exit status.
            self.emulated, self.passed = "max,-erms,-fsrm", 85

def choose(options, place):
    """Chooses the processors of --arch, or those of the kernel, whose name may change by that."""
    arch, kernel = options.arch or OWN, options.kernel
    if arch not in ("x86", "arm64"):
        die(f"--arch takes x86 or arm64, not '{arch}'")
    if kernel.endswith("-arm64") or "-arm64-" in kernel and kernel.endswith("k") or \
       os.path.exists(kernel + "/arch/arm64/boot/Image"):
        arch = "arm64"
    elif arch == "arm64" and OWN != "arm64":
        if not kernel or kernel.strip("0123456789."):
            die(f"--arch arm64 takes a kernel such as 6.12, or a build folder, not '{kernel}'")
        options.kernel += "-arm64"
    if arch == "arm64" and options.icount:
        die("--icount: for x86 only, as the machine needs four serial ports")
    chosen = Processors(arch)
    if chosen.foreign and arch != "arm64":
        die(f"machines of {arch} are for computers of {arch} only")
    if chosen.foreign and place.installed:
        die(f"machines of {arch} need memcast's source tree here")
    if chosen.foreign and options.host:
        die(f"--host, --rw, --out and --reuse: this computer's programs are not for {arch}")
    return chosen

def accelerate(machine):
    """Chooses KVM or emulation. Sets the machine's .accel, and adds to its kernel's words."""
    kind, options, place = machine.processors, machine.options, machine.place
    if options.icount:
        machine.accel = """-accel tcg -cpu max,-erms,-fsrm -icount shift=0,sleep=off -seed 1
            -rtc base=2024-01-01T00:00:00,clock=vm""".split()
        machine.words += " nokaslr norandmaps"
        return
    if not kind.foreign and kvm_works(machine):
        machine.accel = ["-accel", "kvm", "-cpu", "host"]
        return
    machine.accel = ["-accel", "tcg,thread=multi", "-cpu", kind.emulated]
    if kind.arch != "x86":
        return
    # Without memcast_vm.ko QEMU may go on running kernel text that linux has replaced.
    module = f"{place.build}/kmod-{machine.release}/vm/memcast_vm.ko"
    if not options.no_module and options.cpus > 1 and os.path.exists(module):
        machine.pack.file(module, "memcast-vm/modules/memcast_vm.ko")
        machine.settings.insert(0, "module=/memcast-vm/modules/memcast_vm.ko")
    # An exception in the midst of QEMU's cmpxchg16b may leave rubbish in the processor's flags.
    # Linux's allocator uses that instruction, and so ends by a double fault once in some hours.
    # By this word linux does without it; programs may go on to use it.
    machine.words += " clearcpuid=cx16"
    # If the host relies on its TSC, linux is told the rate. The rate that linux itself measures
    # on a busy host may be wrong by a factor of four; linux then reports false lockups.
    clock = read("/sys/devices/system/clocksource/clocksource0/current_clocksource", "")
    if "tsc" in clock or "kvm-clock" in clock:
        rate = place.output(place.tools + "/vm-watch", "--counter-rate").strip()
        machine.words += f" tsc=reliable tsc_early_khz={rate}"

def kvm_works(machine):
    """Does linux boot with KVM? A machine that is booted on trial answers."""
    # /dev/kvm alone proves little: on some hosts stock kernels hang with KVM. The answer is kept
    # for this boot of the host and this kernel.
    place, kind = machine.place, machine.processors
    if not os.access(machine.kvm_device, os.W_OK):
        return False
    boot = read("/proc/sys/kernel/random/boot_id").strip()
    verdict = f"{place.cache}/kvm/{boot}-{machine.release}"
    machine.kvm = machine.kvm or read(verdict, "")
    if not machine.kvm:
        say(f"trying KVM with linux {machine.release}, some seconds")
        probe = machine.temp + "/probe.cpio"
        pack = type(machine.pack)(machine)
        pack.put("memcast-vm/probe", 0o100644)
        pack.write(probe)
        # The answer is kept, so the 8 s are time in which the host let QEMU run.
        # without panic=-1, as arm64's exit status is the same after a panic
        status = place.run(
            place.tools + "/vm-watch", "--limit", "8", *machine.qemu_words(), "-accel", "kvm",
            "-cpu", "host", "-m", "512", "-initrd", probe, "-append",
            machine.words.replace("panic=-1", "panic=0"),
            stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)[0]
        machine.kvm = "yes\n" if status == kind.passed else "no\n"
        say(f"KVM: {machine.kvm.strip()}")
        try:
            os.makedirs(place.cache + "/kvm", exist_ok=True)
            save(f"{verdict}.{os.getpid()}", machine.kvm)
            os.replace(f"{verdict}.{os.getpid()}", verdict)
        except OSError:  # the next run tries again
            pass
    return machine.kvm == "yes\n"

def pack_foreign(pack, file):
    """Packs the libraries of a program for other processors: memcast's, or those of the sysroot."""
    place, sysroot = pack.place, pack.machine.sysroot
    text = place.output("readelf", "-d", file)
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", text)
    paths = ":".join(re.findall(r"\(R(?:UN)?PATH\).*\[(.*)\]", text))
    paths = [path.replace("$ORIGIN", os.path.dirname(file)) for path in paths.split(":") if path]
    for name in [*needed, "libgcc_s.so.1"]:
        dest = f"usr/lib/aarch64-linux-gnu/{name}"
        if dest in pack.needed:
            continue
        pack.needed.add(dest)
        folders = [place.libraries, *paths, f"{sysroot}/usr/lib/aarch64-linux-gnu"]
        library = next(filter(os.path.exists, (f"{folder}/{name}" for folder in folders)), None)
        if not library:
            die(f"{file} needs {name}, which is not found for {pack.machine.processors.arch}")
        pack.file(library, library if library.startswith(place.libraries) else dest)
        pack_foreign(pack, library)
    pack.file(sysroot + "/lib/ld-linux-aarch64.so.1", "usr/lib/ld-linux-aarch64.so.1")
