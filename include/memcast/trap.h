/* SPDX-License-Identifier: MIT */
/*
 * Plain stores to a team's address: for programs with a SIGSEGV handler of their
 * own.
 *
 * A plain store to an address at which cuMemMap() mapped a team reaches every
 * replica by way of a signal. cuInit() installs the handler for it, which passes all
 * other signals on to the handler installed before. A program that installs
 * its handler after cuInit() calls memcastTrap() from it, or loses the stores.
 * Source: ours.
 *
 * Library: memcast's libcuda.so.1 (link with -lcuda).
 */
#ifndef MEMCAST_TRAP_H
#define MEMCAST_TRAP_H

#ifdef __cplusplus
extern "C" {
#endif

/**
 * memcastTrap() - do a plain store to a team's address that has raised a signal
 * @number: as the handler was given it
 * @info: the siginfo_t that the handler was given. If the store has to fail, this becomes the
 *	signal for the program: SIGBUS if no replica is bound, or the fault that the
 *	instruction would have had elsewhere.
 * @context: as the handler was given it, by SA_SIGINFO. If the store has to fail, its registers
 *	of the fault (REG_TRAPNO, REG_ERR, REG_CR2) become those of the fault in @info.
 *
 * Threads that run kernels have an alternate stack, as those of a kernel may be small. So the
 * handlers of a program that launches kernels need SA_ONSTACK: a launch ends, and stderr says
 * why, when a kernel's store comes here by a handler that runs on the kernel's stack.
 *
 * To be called first, from the handlers of SIGSEGV and of SIGBUS (the call finds out by
 * a signal inside it that a replica is not bound). errno and the signal
 * mask are as before when it returns.
 *
 * Return: 1 if the store was done: return from the handler, the program goes on after
 * the store. 0 if the signal is the program's.
 */
int memcastTrap(int number, void *info, void *context);

#ifdef __cplusplus
}
#endif

#endif /* MEMCAST_TRAP_H */
