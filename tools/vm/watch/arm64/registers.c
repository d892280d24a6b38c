// SPDX-License-Identifier: MIT
#include <elf.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include "vm/watch/place.h"

bool registers_read(pid_t tid, uintptr_t *instruction, uintptr_t *stack)
{
	struct user_regs_struct registers;
	struct iovec to = { &registers, sizeof(registers) };

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &to))
		return false;
	*instruction = registers.pc;
	*stack = registers.sp;
	return true;
}

/* bl, blr */
bool is_behind_call(const unsigned char before[8])
{
	uint32_t last;

	memcpy(&last, before + 4, sizeof(last));
	return last >> 26 == 0x25 || (last & 0xfffffc1f) == 0xd63f0000;
}
