// SPDX-License-Identifier: MIT
/*
 * A program that hangs, in one of six ways that people meet; host-hangs.sh runs it.
 *
 *	host-hangs rank|flag|barrier|word|kernel|spin
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda.h>

/* Line numbers count from .version. */
static const char text[] =
	".version 8.0\n.target sm_90\n.address_size 64\n"
	/* waits until as many have come as the second parameter says; line 10 looks */
	".visible .entry meet(.param .u64 at, .param .u32 all) {\n"
	".reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d;\n"
	"ld.param.u64 %d, [at]; ld.param.u32 %r1, [all]; mov.u32 %r2, %tid.x;\n"
	"setp.ne.u32 %p, %r2, 0; @%p bra DONE;\n"
	"red.global.sys.add.u32 [%d], 1;\n"
	"AGAIN:\n"
	"ld.acquire.sys.global.u32 %r3, [%d]; setp.ne.u32 %p, %r3, %r1; @%p bra AGAIN;\n"
	"DONE:\n"
	"bar.sync 0;\n"			/* line 12 */
	"ret; }\n"
	/* half of the block comes to a barrier for all, the other half waits for it */
	".visible .entry half() {\n"
	".reg .pred %p; .reg .b32 %r<4>; .shared .align 4 .b32 flag;\n"
	"mov.u32 %r1, flag; st.shared.u32 [%r1], 0; bar.sync 0; mov.u32 %r2, %tid.x;\n"
	"setp.ge.u32 %p, %r2, 32; @%p bra OTHER;\n"
	"bar.sync 1;\n"			/* line 18 */
	"st.volatile.shared.u32 [%r1], 1;\n"
	"ret;\n"
	"OTHER:\n"
	"ld.volatile.shared.u32 %r3, [%r1]; setp.eq.u32 %p, %r3, 0; @%p bra OTHER;\n"
	"bar.sync 1;\n"
	"ret; }\n";

/* What a barrier of the program's own does when a rank has gone */
void __attribute__((noinline)) wait_for_others(const volatile int *here);

void __attribute__((noinline)) wait_for_others(const volatile int *here)
{
	while (!*here)
		;
}

#define CHECK(call)	check(call, #call)
static void check(CUresult result, const char *call)
{
	if (!result)
		return;
	fprintf(stderr, "%s: %d\n", call, result);
	exit(1);
}

int main(int argc, char **argv)
{
	const char *how = argc == 2 ? argv[1] : "";
	CUdeviceptr memory;
	CUfunction meet, half;
	CUcontext context;
	CUmodule module;
	CUstream stream;
	unsigned int all = 2;
	void *parameters[] = { &memory, &all };

	CHECK(cuInit(0));
	CHECK(cuDevicePrimaryCtxRetain(&context, 0));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuModuleLoadData(&module, text));
	CHECK(cuModuleGetFunction(&meet, module, "meet"));
	CHECK(cuModuleGetFunction(&half, module, "half"));
	CHECK(cuMemAlloc(&memory, 4096));
	CHECK(cuMemsetD32(memory, 0, 1024));
	CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	if (!strcmp(how, "flag"))		/* what should have counted was written over */
		CHECK(cuMemsetD32(memory, 41, 1));
	if (!strcmp(how, "rank") || !strcmp(how, "flag") || !strcmp(how, "kernel"))
		CHECK(cuLaunchKernel(meet, 1, 1, 1, 64, 1, 1, 0, stream, parameters, NULL));
	if (!strcmp(how, "kernel"))		/* it would have ended the first one's wait */
		CHECK(cuLaunchKernel(meet, 1, 1, 1, 64, 1, 1, 0, stream, parameters, NULL));
	if (!strcmp(how, "barrier"))
		CHECK(cuLaunchKernel(half, 1, 1, 1, 64, 1, 1, 0, stream, NULL, NULL));
	if (!strcmp(how, "word"))
		CHECK(cuStreamWaitValue32(stream, memory + 8, 5, CU_STREAM_WAIT_VALUE_GEQ));
	if (!strcmp(how, "spin")) {
		int here = 0;

		wait_for_others(&here);
	}
	CHECK(cuStreamSynchronize(stream));
	fprintf(stderr, "it did not hang\n");
	return 1;
}
