/* SPDX-License-Identifier: MIT */
/* Of each architecture (../x86/target.c, ../arm64/target.c): for which processors code is compiled. */
#ifndef MEMCAST_PTX_TARGET_H
#define MEMCAST_PTX_TARGET_H

#include <stdbool.h>

/* Tells LLVM of the architecture. */
void target_initialise(void);

/*
 * Chooses LLVM's name of a processor and a list of its features, for LLVMDisposeMessage(). A few
 * kinds of processors stand for all, so that different ones share compiled code.
 */
void target_choose(char **processor, char **features);

/* Has the processor instructions that convert f16? */
bool target_has_halves(const char *features);

#endif /* MEMCAST_PTX_TARGET_H */
