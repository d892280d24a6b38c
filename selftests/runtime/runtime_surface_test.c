// SPDX-License-Identifier: MIT
/* Every function of the runtime's table exists; one that is not supported answers so. */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include "runtime_fixture.h"

RUNTIME_FIXTURE(runtime_surface)

struct line {
	const char *symbol;
	const char *lacking;
};

#define COMPLETE(symbol)		{ #symbol, NULL },
#define PARTIAL(symbol, missing)	{ #symbol, NULL },
#define UNSUPPORTED(symbol, lacking)	{ #symbol, lacking },

static const struct line lines[] = {
#include "../lib/cudart/functions.def"
};

TEST_F(runtime_surface, every_symbol_loads)
{
	EXPECT_EQ(422, ARRAY_SIZE(lines));
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		EXPECT_NE(NULL, dlsym(RTLD_DEFAULT, lines[i].symbol))
			TH_LOG("%s", lines[i].symbol);
	}
}

TEST_F(runtime_surface, not_supported)
{
	unsigned int count = 0;
	CUcontext context;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		cudaError_t (*call)(void) = dlsym(RTLD_DEFAULT, lines[i].symbol);

		if (!lines[i].lacking)
			continue;
		ASSERT_NE(NULL, call);
		EXPECT_RT(cudaErrorNotSupported, call())
			TH_LOG("%s", lines[i].symbol);
		EXPECT_RT(cudaErrorNotSupported, cudaGetLastError());
		count++;
	}
	EXPECT_LT(0, count);
	/* none of the functions needs a context */
	ASSERT_OK(cuCtxGetCurrent(&context));
	EXPECT_EQ(NULL, context);
}

TEST_HARNESS_MAIN
