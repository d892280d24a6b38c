# SPDX-License-Identifier: MIT
"""What a run comes to: reports in the log of the machine's kernel, and the status of memcast-vm."""
import os
import re
from signal import Signals

from vm.host import die, read, save, say, write

BEGUN = "memcast-vm: init"  # what init writes first into the kernel's log
PANICS = r"Kernel panic - .*|Oops: .*|the kernel reported something while it booted"
REPORTS = re.compile(
    r"WARNING:|BUG:|Oops|Internal error: |kernel BUG|KASAN|KCSAN|UBSAN|general protection fault|"
    r"Bad page|refcount_t|DMA-API|INFO: task .* blocked|possible circular locking|"
    r"inconsistent lock state|suspicious RCU|possible recursive|held lock freed|"
    r"bad unlock balance|still has locks held|lock held when returning|"
    r"sleeping function called|unreferenced object|soft lockup|rcu: INFO|stack-protector|"
    r"memory leak|list_(add|del) corruption|ODEBUG|Call [Tt]race")
HARMLESS = re.compile(r"DMA-API: preallocated|KASAN: outline|debugging enabled|"
                      r"KernelAddressSanitizer initialized")
# Where programs have used up the memory, Linux says so with call traces: they report no fault.
OUT_OF_MEMORY = (
    r"^.* invoked oom-killer: (?s:.*?)(\n.*[Oo]ut of memory: Killed process .*\n|\Z)",
    r"^.* page allocation failure: order:0, mode:.*GFP_HIGHUSER(?s:.*?)(\n.*</TASK>.*\n|\Z)")
# On a busy machine vivid's capture thread runs late and asks the kernel to sleep for a negative
# time. The kernel reports that with a call trace; it is the driver's fault and fails no run.
WRONG_TIMEOUT = r"^.*schedule_timeout: wrong timeout value(?s:.*?)\n.*</TASK>.*\n"
SHOWN = 45  # lines of a report

def lines_of(text):
    """Return: the lines of a log, without the carriage returns of a serial port"""
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []

def show_reports(text):
    """Shows the reports in a kernel's log. Return: is there one?"""
    text = "".join(line + "\n" for line in lines_of(text) if not HARMLESS.search(line))
    for pattern in OUT_OF_MEMORY:
        text = re.sub(pattern, "", text, flags=re.M)
    text = re.sub(WRONG_TIMEOUT, lambda found: "" if "vivid_thread_" in found[0] and not
                  re.search("BUG|WARNING|memcast", found[0]) else found[0], text, flags=re.M)
    shown, left, count = "", 0, 0
    for line in text.splitlines():
        if not left and REPORTS.search(line):
            left, count = SHOWN, count + 1
            shown += "…\n" if count > 1 else ""
        if left:
            shown += f"  {line}\n"
            left -= 1
        if count > 3:
            break
    write(2, shown)
    return bool(shown)

def show_log(text, count):
    """Shows the log's last lines; lines of the boot only if there are no others"""
    lines = lines_of(text)
    begun = next((at for at, line in enumerate(lines) if BEGUN in line), len(lines))
    lines = [line for line in lines[begun + 1:] if line] or lines
    write(2, "".join(f"  {line}\n" for line in lines[-count:]))

def failed_boot(machine, code):
    """Return: in words, why linux did not boot; None: it has, or there are no words"""
    log, qemu = machine.log(), read(machine.temp + "/qemu", "")
    if BEGUN in log or code == machine.processors.passed and "end" in machine.status():
        return None
    # vm-watch says so if it ended QEMU for its silence
    found = re.search(PANICS, log) or code == 124 and re.search("wrote nothing .*", qemu)
    return found[0].removesuffix("\r") if found else None

def verdict(machine, code):
    """Says what was wrong. Return: the status of this run"""
    log, qemu, status = machine.log(), read(machine.temp + "/qemu", ""), machine.status()
    options, last = machine.options, qemu.strip().rpartition("\n")[2]
    more = f"--memory gives the machine more than its {machine.memory} MiB"
    saved = "for the whole log, run again with --keep-log FILE"
    if options.keep_log:
        save(options.keep_log, log)
        saved = f"the whole log is in {options.keep_log}"
    machine.restore_terminal()
    killed = re.findall(r"Out of memory: Killed (process [0-9]+ \([^)]*\))", log)
    if killed:
        say(f"the machine ran out of memory, and Linux killed {killed[-1]}: {more}")
    if "memcast: lazy pools have no more memory" in log:
        say(f"programs touched more memory of devices than the machine has for pools: {more}")
    if "timeout" in status:
        show_reports(log)
        say(f"time was up: {status['timeout']}; --timeout and --limit give more; {saved}")
        return 124
    if code == 123:
        die(f"output was lost, and the machine ended: {last}; set TMPDIR to a folder with more")
    if code == 124:
        show_log(log, 15)
        if BEGUN not in log and "wrote nothing " in qemu:
            die(f"linux hung while it booted, at the last attempt too; {saved}")
        say(f"time was up: {last}; --timeout and --limit give more; {saved}")
        return 124
    if "cannot set up guest memory" in qemu:
        die(f"this computer does not give the machine the {machine.memory} MiB that it is to have:"
            " --pool-mib, --devices and --memory say how much; without --pool-mib pools take"
            " only what is touched")
    if code != machine.processors.passed or "end" not in status:
        write(2, qemu)
        show_log(log, 40)
        die(f"the machine did not end properly (QEMU's status {code}); {saved}")
    # The machine has counted the bytes that it wrote: all have to be here.
    here = [str(os.path.getsize(f"{machine.temp}/{name}")) for name in ("out", "err")]
    wanted = status.get("bytes", " ".join(here)).split()
    if here != wanted:
        die(f"output was lost: of {wanted[0]} bytes and {wanted[1]} of errors"
            f" {here[0]} and {here[1]} have arrived")
    if "error" in status:
        show_log(log, 15)
        if "Cannot allocate memory" in status["error"]:
            say(more)
        die(f"{status['error']}; {saved}")
    refused = [line + "\n" for line in lines_of(log) if "memcast: unknown parameter" in line]
    if refused:
        write(2, "".join(refused))
        die(f"memcast.ko has no such parameter; see: modinfo -p {machine.module}")
    if show_reports(log):
        say(f"the kernel's log has a report, which fails the run; {saved}")
        return 126
    if status.get("unload", "ok") != "ok":
        say(f"memcast.ko does not unload: {status['unload']}; an object outlived all processes"
            " (--no-unload goes without this test)")
        return 126
    if "signal" in status:
        number = int(status["signal"])
        names = {int(at): at.name.removeprefix("SIG") for at in Signals}
        say(f"signal {number} ended the program ({names.get(number, f'RTMIN+{number - 34}')})")
        return 128 + number
    number = int(status["exit"])
    if number == 127:
        if not options.host:
            say(f"status 127: if something that {os.path.basename(options.command[0])} starts"
                " was not found, --add FILE brings it along")
    # only on a terminal: scripts get what the program wrote, and nothing else
    elif number and not options.no_module and os.isatty(2) and not machine.says_errors:
        say(f"status {number}: if a call of CUDA failed, --env CUDA_LOG_FILE=stderr says why")
    return number
