// SPDX-License-Identifier: MIT
/* arm64: for which processors code is compiled. */
#include <asm/hwcap.h>
#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <sys/auxv.h>

#include "ptx/jit/code.h"

void target_initialise(void)
{
	LLVMInitializeAArch64TargetInfo();
	LLVMInitializeAArch64Target();
	LLVMInitializeAArch64TargetMC();
	LLVMInitializeAArch64AsmPrinter();
}

/*
 * The architecture as all have it, with atomic instructions instead of loops of exclusive loads and
 * stores where the processor has them: so different ones share compiled code. Vectors have 128 bits.
 */
void target_choose(char **processor, char **features)
{
	*processor = LLVMCreateMessage("generic");
	*features = LLVMCreateMessage(getauxval(AT_HWCAP) & HWCAP_ATOMICS ? "+neon,+lse" : "+neon");
}

/* All have fcvt of half precision. */
bool target_has_halves(const char *features)
{
	(void)features;
	return true;
}

/* There are none without scalable vectors. */
const char *target_without_masks(void)
{
	return NULL;
}
