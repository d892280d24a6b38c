/* SPDX-License-Identifier: MIT */
/*
 * Plain stores to a team's address: for programs with a SIGSEGV handler of their
 * own.
 *
 * A plain store to an address that cuMemMap() was given for a team reaches every
 * replica by way of a signal. cuInit() installs the handler for it and passes on
 * whatever is not its own to the handler that was there. A program that installs
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
 * memcastTrap() - do what a plain store to a team's address was to do
 * @number: as the handler was given it
 * @info: the siginfo_t that the handler was given. If the store has to fail, it becomes what
 *	the program is to see: SIGBUS where no replica is bound, or the fault that
 *	the instruction would have had elsewhere.
 * @context: as the handler was given it, by SA_SIGINFO. If the store has to fail, what it has of
 *	the fault (REG_TRAPNO, REG_ERR, REG_CR2) becomes that of the fault in @info.
 *
 * To be called first, from the handlers of SIGSEGV and of SIGBUS (a replica that
 * is not bound is found out by a signal inside the call). errno and the signal
 * mask are as before when it returns.
 *
 * Return: 1 if it was done: return from the handler, the program goes on after
 * the store. 0 if the signal is the program's.
 */
int memcastTrap(int number, void *info, void *context);

#ifdef __cplusplus
}
#endif

#endif /* MEMCAST_TRAP_H */
