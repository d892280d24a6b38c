/* SPDX-License-Identifier: MIT */
/* Faults of kernels that run without libcuda.so.1, which has the signals' handler elsewhere */
#ifndef CATCH_FAULTS_H
#define CATCH_FAULTS_H

#include <signal.h>
#include <stdint.h>

#include "registers.h"
#include "translate/ptx_object.h"

static __thread ptx_catcher *catcher;

static void set_catcher(ptx_catcher *new)
{
	catcher = new;
}

/* Faults of kernels go to the object; those of this program end it. */
static void on_fault(int signal_number, siginfo_t *info, void *at)
{
	const ucontext_t *context = at;
	ptx_catcher *chosen = catcher;

	catcher = NULL;			/* it gets one, as of libcuda.so.1 */
	if (!chosen)
		signal(signal_number, SIG_DFL);
	else
		chosen(signal_number, (uintptr_t)info->si_addr, fault_instruction(context),
		       fault_stack_pointer(context), fault_writes(context));
}

static void catch_faults(void)
{
	static char memory[65536];
	stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory) };
	struct sigaction action = {
		.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER,
	};

	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}

#endif /* CATCH_FAULTS_H */
