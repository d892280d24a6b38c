// SPDX-License-Identifier: MIT
/*
 * Runs a kernel that calls a function, for host-debug.sh to look at with gdb and for perf. The lines
 * of its source are those that nvcc -lineinfo writes.
 *
 *	host-debug MEMCAST-PTX.SO [KERNEL]
 *
 * It prints the address of the kernel's code.
 */
#define GROUP "debug"
#include <stdlib.h>

#include "ptx/run/run.h"
#include "translate.h"

#define THREADS 64

static const char text[] = HEAD
	".func (.param .b32 result) _Z5twicef(.param .b32 value) {\n"
	"\t.reg .f32 %f<3>;\n"
	"\t.loc 2 3 1\n"
	"\tld.param.f32 %f1, [value];\n"
	"\tadd.f32 %f2, %f1, %f1;\n"
	"\t.loc 2 4 1\n"
	"\tst.param.f32 [result], %f2;\n"
	"\tret;\n"
	"}\n"
	".visible .entry _Z5scalePff(.param .u64 _Z5scalePff_param_0, .param .f32 _Z5scalePff_param_1) {\n"
	"\t.reg .b64 %rd<9>;\n"
	"\t.reg .b32 %r<9>;\n"
	"\t.reg .f32 %f<9>;\n"
	"\t.loc 1 11 1\n"
	"\tld.param.u64 %rd1, [_Z5scalePff_param_0];\n"
	"\tld.param.f32 %f1, [_Z5scalePff_param_1];\n"
	"\tmov.u32 %r1, %tid.x;\n"
	"\t.loc 1 12 1\n"
	"\tmul.wide.u32 %rd2, %r1, 4;\n"
	"\tadd.s64 %rd3, %rd1, %rd2;\n"
	"\tcvt.rn.f32.u32 %f2, %r1;\n"
	"\tmul.f32 %f3, %f2, %f1;\n"
	"\t.loc 1 13 1\n"
	"\t{ .param .b32 in; .param .b32 out; st.param.f32 [in], %f3;\n"
	"\tcall (out), _Z5twicef, (in); ld.param.f32 %f4, [out]; }\n"
	"\t.loc 1 14 1\n"
	"\tst.global.f32 [%rd3], %f4;\n"
	"\tret;\n"
	"}\n"
	".visible .entry _Z5failsv() {\n"
	"\t.loc 1 20 1\n"
	"\ttrap;\n"
	"}\n"
	".file 1 \"/src/of/scale.cu\"\n"
	".file 2 \"/src/of/twice.cuh\"\n";

int main(int argc, char **argv)
{
	float out[THREADS] = {};
	struct {
		void *to;
		float by;
	} parameters = { out, 1.5f };
	const char *name = argc == 3 ? argv[2] : "_Z5scalePff";
	const struct ptx_kernel *kernel;
	struct ptx_code *code;
	struct ptx_log log;
	char reason[256] = "";
	int good = true, result;

	if (!open_object(argv[1]))
		return 2;
	if (load(text, sizeof(text) - 1, &code, &log) ||
	    object->kernel(code, name, &kernel, &log)) {
		puts(log.text);
		return 1;
	}
	printf("%lx\n", (unsigned long)(kernel->block ? (void *)kernel->block :
							 (void *)kernel->thread));
	fflush(stdout);
	result = run(code, name, THREADS, &parameters, reason, sizeof(reason));
	object->code_free(code);
	for (uint32_t i = 0; i < THREADS; i++)
		good &= out[i] == 3.0f * i;
	told("results", !result && good, reason);
	return failed;
}
