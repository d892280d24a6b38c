// SPDX-License-Identifier: MIT
#include <elf.h>
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
	*instruction = registers.rip;
	*stack = registers.rsp;
	return true;
}

/* call rel32, or call through a register or memory: ff /2, with all its lengths */
bool is_behind_call(const unsigned char before[8])
{
	if (before[3] == 0xe8)
		return true;
	for (int length = 2; length <= 7; length++)
		if (before[8 - length] == 0xff && (before[9 - length] & 0x38) == 0x10)
			return true;
	return false;
}
