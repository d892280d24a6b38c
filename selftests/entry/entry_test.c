// SPDX-License-Identifier: MIT
/*
 * cuGetProcAddress() in its three ABIs: versions of names, flags, and names without a function;
 * programs that have symbols of the same names.
 */
#include <dlfcn.h>
#include "memcast_test.h"
#include "reason.h"

FIXTURE(entry) { char unused; };
FIXTURE_SETUP(entry) { }
NOTHING_LEFT(entry)

/* The first ABI has no status; binaries import it by this name. */
typedef CUresult (*get_v1_t)(const char *, void **, int, cuuint64_t);
typedef CUresult (*get_v2_t)(const char *, void **, int, cuuint64_t,
			     CUdriverProcAddressQueryResult *);

#define SYMBOL(name)	dlsym(RTLD_DEFAULT, name)

/* Does cuGetProcAddress() find this exported symbol by that name and version? */
static bool leads_to(const char *name, int version, const char *symbol)
{
	CUdriverProcAddressQueryResult status = -1;
	void *function = NULL;

	return cuGetProcAddress(name, &function, version, 0, &status) == CUDA_SUCCESS &&
		status == CU_GET_PROC_ADDRESS_SUCCESS && function &&
		function == SYMBOL(symbol);
}

TEST_F(entry, versions_of_a_name)
{
	EXPECT_TRUE(leads_to("cuMulticastBindMem", 12010, "cuMulticastBindMem"));
	EXPECT_TRUE(leads_to("cuMulticastBindMem", 13000, "cuMulticastBindMem"));
	EXPECT_TRUE(leads_to("cuMulticastBindMem", 13010, "cuMulticastBindMem_v2"));
	EXPECT_TRUE(leads_to("cuMulticastBindAddr", 12010, "cuMulticastBindAddr"));
	EXPECT_TRUE(leads_to("cuMulticastBindAddr", 13010, "cuMulticastBindAddr_v2"));
	EXPECT_TRUE(leads_to("cuMemcpyHtoD", 12000, "cuMemcpyHtoD_v2"));
	EXPECT_TRUE(leads_to("cuCtxCreate", 11000, "cuCtxCreate_v2"));
	EXPECT_TRUE(leads_to("cuCtxCreate", 11040, "cuCtxCreate_v3"));
	EXPECT_TRUE(leads_to("cuCtxCreate", 13000, "cuCtxCreate_v4"));
	EXPECT_TRUE(leads_to("cuGetProcAddress", 11030, "cuGetProcAddress"));
	EXPECT_TRUE(leads_to("cuGetProcAddress", 12000, "cuGetProcAddress_v2"));
}

/* A name without a function is no failure: the status says whether name or version is unknown. */
TEST_F(entry, not_found)
{
	CUdriverProcAddressQueryResult status = -1;
	void *function = &status;

	EXPECT_OK(cuGetProcAddress("cuNoSuchFunction", &function, 12000, 0, &status));
	EXPECT_EQ((int)CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, (int)status);
	EXPECT_EQ(NULL, function);

	function = &status;
	EXPECT_OK(cuGetProcAddress("cuMulticastCreate", &function, 12000, 0, &status));
	EXPECT_EQ((int)CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, (int)status);
	EXPECT_EQ(NULL, function);

	function = &status;
	EXPECT_OK(cuGetProcAddress("cuMulticastCreate", &function, 12000, 0, NULL));
	EXPECT_EQ(NULL, function);
}

/* Each version of a name has an address of its own. */
TEST_F(entry, addresses_of_versions)
{
	EXPECT_NE(SYMBOL("cuCtxDestroy"), SYMBOL("cuCtxDestroy_v2"));
	EXPECT_TRUE(leads_to("cuCtxDestroy", 3020, "cuCtxDestroy"));
	EXPECT_TRUE(leads_to("cuCtxDestroy", 4000, "cuCtxDestroy_v2"));
	EXPECT_TRUE(leads_to("cuCtxCreate", 2000, "cuCtxCreate"));
	EXPECT_TRUE(leads_to("cuEventElapsedTime", 12070, "cuEventElapsedTime"));
	EXPECT_TRUE(leads_to("cuEventElapsedTime", 12080, "cuEventElapsedTime_v2"));
	EXPECT_TRUE(leads_to("cuInit", -1, "cuInit"));
}

/* With the per-thread flag, a name with a per-thread interface gives that one or none. */
TEST_F(entry, per_thread_flag)
{
	static const cuuint64_t both = CU_GET_PROC_ADDRESS_LEGACY_STREAM |
				       CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
	CUdriverProcAddressQueryResult status = -1;
	void *function;

	EXPECT_OK(cuGetProcAddress("cuStreamQuery", &function, 12000, both, &status));
	EXPECT_EQ(SYMBOL("cuStreamQuery_ptsz"), function);
	EXPECT_OK(cuGetProcAddress("cuStreamQuery", &function, 3000, both, &status));
	EXPECT_EQ(NULL, function);
	EXPECT_EQ((int)CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, (int)status);
	EXPECT_OK(cuGetProcAddress("cuGetProcAddress", &function, 12000, both, &status));
	EXPECT_EQ(SYMBOL("cuGetProcAddress_v2"), function);
}

TEST_F(entry, arguments)
{
	void *function;

	EXPECT_REASON(cuGetProcAddress(NULL, &function, 12000, 0, NULL), "NULL pointer");
	EXPECT_REASON(cuGetProcAddress("cuInit", NULL, 12000, 0, NULL), "NULL pointer");
	EXPECT_REASON(cuGetProcAddress("cuInit", &function, 12000, 1U << 30, NULL), "flags #");
	EXPECT_OK(cuGetProcAddress("cuInit", &function, 12000,
				   CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, NULL));
	EXPECT_OK(cuGetProcAddress("cuInit", &function, 12000,
				   CU_GET_PROC_ADDRESS_LEGACY_STREAM, NULL));
}

TEST_F(entry, first_abi)
{
	get_v1_t get = (get_v1_t)SYMBOL("cuGetProcAddress");
	void *function = NULL;

	ASSERT_NE(NULL, get);
	EXPECT_OK(get("cuMemMap", &function, 11030, 0));
	EXPECT_EQ(SYMBOL("cuMemMap"), function);
	EXPECT_CU(CUDA_ERROR_NOT_FOUND, get("cuNoSuchFunction", &function, 11030, 0));
	EXPECT_REASON(get("cuMemMap", NULL, 11030, 0), "NULL pointer");
}

/* A program built for the per-thread default stream imports cuGetProcAddress_v2_ptsz. */
TEST_F(entry, per_thread_abi)
{
	get_v2_t get = (get_v2_t)SYMBOL("cuGetProcAddress_v2_ptsz");
	CUdriverProcAddressQueryResult status = -1;
	void *function = NULL;

	ASSERT_NE(NULL, get);
	EXPECT_OK(get("cuMemMap", &function, 12000, 0, &status));
	EXPECT_EQ(SYMBOL("cuMemMap"), function);
	EXPECT_EQ((int)CU_GET_PROC_ADDRESS_SUCCESS, (int)status);
}

/*
 * Symbols of this program with the names of the driver's functions, which come before the library's:
 * functions that count calls and go on to the driver's, as profilers and preloaded libraries have
 * them, and pointers to the driver's functions, as loaders have them.
 */

static unsigned int calls;

/* It has to find the library's function, not itself. */
CUresult cuMemGetInfo(size_t *available, size_t *total)
{
	get_v2_t get = (get_v2_t)dlsym(RTLD_NEXT, "cuGetProcAddress_v2");
	void *next = NULL;

	calls++;
	if (get("cuMemGetInfo", &next, 12000, 0, NULL) != CUDA_SUCCESS || !next ||
	    next == (void *)cuMemGetInfo)
		return CUDA_ERROR_NOT_FOUND;
	return ((CUresult (*)(size_t *, size_t *))next)(available, total);
}

TEST_F(entry, profiler_finds_the_library)
{
	size_t available, total;

	cuda_start(0);
	EXPECT_OK(cuMemGetInfo(&available, &total));
	EXPECT_EQ(1, calls);
}

/* A call that the library makes of its own is not the program's. */
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	(void)to;
	(void)from;
	(void)bytes;
	(void)stream;
	calls++;
	return CUDA_ERROR_UNKNOWN;
}

TEST_F(entry, library_calls_itself)
{
	CUresult (*per_thread)(CUdeviceptr, CUdeviceptr, size_t, CUstream) =
		dlsym(RTLD_NEXT, "cuMemcpyAsync_ptsz");
	CUdeviceptr memory;

	ASSERT_NE(NULL, per_thread);
	cuda_start(0);
	ASSERT_OK(cuMemAlloc(&memory, CHUNK));
	EXPECT_OK(per_thread(memory, memory + CHUNK / 2, CHUNK / 2, NULL));
	EXPECT_OK(cuCtxSynchronize());
	EXPECT_EQ(0, calls);
	EXPECT_OK(cuMemFree(memory));
}

/* A loader's variable, which has the function's name */
extern CUresult (*query_loaded)(CUstream) __asm__("cuStreamQuery");
CUresult (*query_loaded)(CUstream);

TEST_F(entry, pointer_of_the_same_name)
{
	CUresult (*per_thread)(CUstream) = dlsym(RTLD_NEXT, "cuStreamQuery_ptsz");
	get_v2_t get = (get_v2_t)dlsym(RTLD_NEXT, "cuGetProcAddress_v2");
	void *found = NULL;

	ASSERT_NE(NULL, get);
	ASSERT_NE(NULL, per_thread);
	EXPECT_OK(get("cuStreamQuery", &found, 12000, 0, NULL));
	EXPECT_NE((void *)&query_loaded, found);
	query_loaded = (CUresult (*)(CUstream))found;
	cuda_start(0);
	EXPECT_OK(per_thread(NULL));
	EXPECT_OK(query_loaded(NULL));
}

TEST_HARNESS_MAIN
