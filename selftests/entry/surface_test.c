// SPDX-License-Identifier: MIT
/* Every function of the table is there, under its symbol and under its name. */
#include <ctype.h>
#include <dlfcn.h>
#include "memcast_test.h"

struct line {
	char symbol[80];
	int version;
	bool unsupported;
};

#define COMPLETE(symbol, version)		{ #symbol, version, false },
#define PARTIAL(symbol, version, missing)	{ #symbol, version, false },
#define UNSUPPORTED(symbol, version, lacking)	{ #symbol, version, true },

static const struct line lines[] = {
#include "../lib/functions.def"
};

/*
 * The symbols of CUDA 13.0's stub, two of 13.1, one that cuda.h has inline, and those for EGL,
 * OpenGL, VDPAU and others that only NVIDIA's own library has.
 */
#define SYMBOLS	(637 + 2 + 1 + 37)

FIXTURE(surface) { char unused; };
FIXTURE_SETUP(surface) { }
NOTHING_LEFT(surface)

static void *symbol(const struct line *line)
{
	return dlsym(RTLD_DEFAULT, line->symbol);
}

TEST_F(surface, every_symbol_loads)
{
	unsigned int i;

	EXPECT_EQ(SYMBOLS, ARRAY_SIZE(lines));
	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		EXPECT_NE(NULL, symbol(&lines[i]))
			TH_LOG("%s", lines[i].symbol);
	}
}

static CUresult call(const struct line *line)
{
	return ((CUresult (*)(void))symbol(line))();
}

TEST_F(surface, not_supported)
{
	unsigned int i, count = 0;

	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		if (lines[i].unsupported)
			EXPECT_CU(CUDA_ERROR_NOT_INITIALIZED, call(&lines[i]))
				TH_LOG("%s", lines[i].symbol);
	}
	ASSERT_OK(cuInit(0));
	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		if (!lines[i].unsupported)
			continue;
		EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, call(&lines[i]))
			TH_LOG("%s", lines[i].symbol);
		count++;
	}
	EXPECT_LT(0, count);
}

static bool per_thread(const char *symbol)
{
	return strstr(symbol, "_ptds") || strstr(symbol, "_ptsz");
}

static void strip(char *name, const char *symbol)
{
	char *suffix;

	strcpy(name, symbol);
	suffix = strstr(name, "_pt");
	if (suffix)
		*suffix = '\0';
	suffix = name + strlen(name) - 3;
	if (!strncmp(suffix, "_v", 2) && isdigit(suffix[2]))
		*suffix = '\0';
}

/*
 * cuGetProcAddress() finds each symbol by its name and the version that brought it, except
 * cuGetProcAddress_v2_ptsz, which programs link with (recorded on hardware).
 */
TEST_F(surface, every_name_leads_there)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		CUdriverProcAddressQueryResult status = -1;
		void *function = NULL;
		char name[80];

		if (!strcmp(lines[i].symbol, "cuGetProcAddress_v2_ptsz"))
			continue;
		strip(name, lines[i].symbol);
		ASSERT_OK(cuGetProcAddress(name, &function, lines[i].version,
					   per_thread(lines[i].symbol) ?
					   CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM :
					   CU_GET_PROC_ADDRESS_DEFAULT, &status));
		EXPECT_EQ((int)CU_GET_PROC_ADDRESS_SUCCESS, (int)status);
		EXPECT_EQ(symbol(&lines[i]), function)
			TH_LOG("%s of %d is not %s", name, lines[i].version,
			       lines[i].symbol);
	}
}

#define FINDS(symbol, name, version, flags)				\
({									\
	void *function_ = NULL;						\
									\
	EXPECT_OK(cuGetProcAddress(name, &function_, version, flags, NULL)); \
	EXPECT_EQ(dlsym(RTLD_DEFAULT, symbol), function_);		\
})

TEST_F(surface, per_thread_flag)
{
	const int legacy = CU_GET_PROC_ADDRESS_LEGACY_STREAM;
	const int thread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
	void *function = &function;

	FINDS("cuMemcpyHtoD_v2", "cuMemcpyHtoD", 12000, 0);
	FINDS("cuMemcpyHtoD_v2", "cuMemcpyHtoD", 12000, legacy);
	FINDS("cuMemcpyHtoD_v2_ptds", "cuMemcpyHtoD", 12000, thread);
	FINDS("cuMemcpyHtoD_v2_ptds", "cuMemcpyHtoD", 12000, legacy | thread);
	/*
	 * A version older than the per-thread interface gives no function; a name without such
	 * an interface gives its only function.
	 */
	EXPECT_OK(cuGetProcAddress("cuMemcpyHtoD", &function, 6000, thread, NULL));
	EXPECT_EQ(NULL, function);
	FINDS("cuMemMap", "cuMemMap", 12000, thread);
}

TEST_HARNESS_MAIN
