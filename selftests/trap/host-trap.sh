#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: plain stores to windows, on this machine's own processor.
cd "$(dirname "$0")/../.." || exit 1

# A signal handler must not call a function that takes a lock or calls malloc(): the signal may have
# interrupted the program's own malloc() or dlopen(). These functions are safe, and fault_install(),
# fault_catch() and the object's start() may call those after them as well; load.c runs in
# cuMemMap(). In the C library, pthread_getspecific() only reads, and pthread_setspecific() of NULL
# only writes. host_access_key is a variable; block_origin points to a function that only reads.
# log_write() calls functions of this list alone.
safe='memcpy|memset|memmove|memcmp|memchr|strlen|strnlen|strcmp|write|getpid|gettid|syscall|sched_yield
sigaction|sigaltstack|sigprocmask|sigpending|sigemptyset|sigaddset|sigdelset
sigismember|sigfillset|sigorset|__errno_location|_dl_find_object|program_invocation_name
Zydis[A-Za-z0-9]*|memcast[A-Z].*|trap_[a-z_]*|fault_[a-z_]*|window_(near|trapped|between)|device_ask_fd|library_[a-z]*
host_access_key|thread_keys|thread_keys_set|block_origin|log_write
__popcountdi2|_GLOBAL_OFFSET_TABLE_|__stack_chk_fail|pthread_getspecific|pthread_setspecific'
install='secure_getenv|getauxval|sysconf|getrlimit|memfd_create|ftruncate|close|mmap|munmap|mremap|mprotect|madvise|pthread_once|pthread_key_create'
unsafe=$(nm -u build/lib/trap/*/*.o $(ls build/lib/fault/*.o build/lib/fault/*/*.o | grep -v /load.o) |
	sed -n 's/^ *U //p' | sort -u |
	grep -vxE "$(echo "$safe|$install" | tr '\n' '|')")
if [ -n "$unsafe" ]; then
	echo "# not for a signal handler: $(echo $unsafe)"
	echo "not ok 1 trap.calls_in_a_handler"
	failed=1
fi
for test in host-trap host-trap-signal host-trap-stack; do
	build/selftests/$test || failed=1
done
exit ${failed:-0}
