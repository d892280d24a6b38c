// SPDX-License-Identifier: MIT
/* x86-64: for which processors code is compiled. */
#include <cpuid.h>
#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/jit/code.h"

void target_initialise(void)
{
	LLVMInitializeX86TargetInfo();
	LLVMInitializeX86Target();
	LLVMInitializeX86TargetMC();
	LLVMInitializeX86AsmPrinter();
}

/* What a processor of each level has, by LLVM's names; f16c goes by the third one */
static const struct {
	const char *name, *features[10];
} levels[] = {
	{ "x86-64-v4", { "+avx512f", "+avx512bw", "+avx512cd", "+avx512dq", "+avx512vl", "+f16c",
			 "+fma", "+bmi2", "+lzcnt" } },
	{ "x86-64-v3", { "+avx2", "+bmi", "+bmi2", "+f16c", "+fma", "+lzcnt", "+movbe",
			 "+popcnt" } },
};

/* MEMCAST_PTX_TARGET=x86-64-v3: another machine, an emulated one, is to run the code. */
static bool is_for_emulated(void)
{
	const char *target = secure_getenv("MEMCAST_PTX_TARGET");

	return target && !strcmp(target, "x86-64-v3");
}

static bool has_level(const char *features, uint32_t level)
{
	for (uint32_t i = 0; levels[level].features[i]; i++)
		if (!strstr(features, levels[level].features[i]))
			return false;
	return true;
}

/*
 * Which processor code is for: a level, so that different ones share compiled code, or this one if
 * it is older
 */
void target_choose(char **processor, char **features)
{
	uint32_t level = is_for_emulated();

	*features = LLVMGetHostCPUFeatures();
	while (level < ARRAY_SIZE(levels) && !has_level(*features, level))
		level++;
	if (level == ARRAY_SIZE(levels)) {
		*processor = LLVMGetHostCPUName();
		return;
	}
	LLVMDisposeMessage(*features);
	*processor = LLVMCreateMessage(levels[level].name);
	*features = LLVMCreateMessage("");
}

const char *target_without_masks(void)
{
	uint32_t name[4] = {}, has[4] = {};

	__get_cpuid(1, &has[0], &has[1], &has[2], &has[3]);
	if (has[2] & 1U << 31)	/* a hypervisor, whose name is there */
		__cpuid(0x40000000, name[3], name[0], name[1], name[2]);
	return is_for_emulated() || !memcmp(name, "TCGTCGTCGTCG", 12) ? "x86-64" : NULL;
}

/* A level, which has no list of features, has f16c. */
bool target_has_halves(const char *features)
{
	return !*features || strstr(features, "+f16c");
}
