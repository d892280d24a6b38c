// SPDX-License-Identifier: MIT
/* Kernels that run from their PTX: launches, waiting, windows, faults. */
#include <dirent.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <memcast/view.h>
#include "log_lines.h"
#include "processor.h"
#include "ptx_fixture.h"
#include "raw.h"

TEST_F(ptx, adds_vectors)
{
	uint32_t count = 1000;
	CUdeviceptr a, b, c;
	int wrong = 0;
	float *at;

	load(kernels);
	a = self->memory;
	b = a + 4096;
	c = b + 4096;
	at = (float *)a;
	for (uint32_t i = 0; i < count; i++) {
		at[i] = i;
		at[1024 + i] = 0.5f * i;
	}
	ASSERT_OK(LAUNCH("add", 4, 256, &a, &b, &c, &count));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	for (uint32_t i = 0; i < count; i++)
		wrong += at[2048 + i] != 1.5f * i;
	EXPECT_EQ(0, wrong);
	EXPECT_EQ(0, (int)at[2048 + count]);
	/* at the end of what is mapped: vector code reads nothing for threads that do nothing */
	a = reserve(2 * CHUNK);
	ASSERT_OK(cuMemMap(a, CHUNK, 0, new_memory(0, CHUNK), 0));
	ASSERT_OK(allow(a, CHUNK, 0, READWRITE));
	a = b = a + CHUNK - 4 * count;
	ASSERT_OK(LAUNCH("add", 4, 256, &a, &b, &c, &count));
	ASSERT_OK(cuStreamSynchronize(self->stream));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* The program has an LLVM of its own (build.mk exports this); memcast-ptx.so calls another. */
static int own_llvm_calls;

void *LLVMContextCreate(void);
void *LLVMContextCreate(void)
{
	own_llvm_calls++;
	return NULL;
}

TEST_F(ptx, programs_with_an_llvm)
{
	/* LLVM has nothing to do for code that is in the cache */
	ASSERT_EQ(0, setenv("MEMCAST_PTX_CACHE", "0", 1));
	load(kernels);
	ASSERT_NE(NULL, dlsym(RTLD_DEFAULT, "LLVMContextCreate"));
	ASSERT_OK(LAUNCH("empty", 1, 1, NULL));
	EXPECT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(0, own_llvm_calls);
}
#endif

/* Kernels need a function in C with MEMCAST_PTX=0, and with no other value. */
TEST_F(ptx, values_of_the_variable)
{
	static const char *const values[] = { "1", "", "0" };
	CUresult results[ARRAY_SIZE(values)];

	for (unsigned int i = 0; i < ARRAY_SIZE(values); i++) {
		pid_t child = fork();
		int status = 0;

		if (!child) {
			setenv("MEMCAST_PTX", values[i], 1);
			cuda_start(0);
			ASSERT_OK(cuModuleLoadData(&self->module, kernels));
			_exit(launch(self->module, NULL, "empty", 1, 1, NULL) / 100);
		}
		ASSERT_EQ(child, waitpid(child, &status, 0));
		results[i] = WEXITSTATUS(status);
	}
	load(kernels);
	EXPECT_EQ(0, (int)results[0]);
	EXPECT_EQ(0, (int)results[1]);
	EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED / 100, (int)results[2]);
}

/* A program may have no file descriptor left just when it launches its first kernel. */
TEST_F(ptx, without_descriptors)
{
	pid_t child = fork();
	struct rlimit all, few;
	int status = -1;

	if (!child) {
		ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &all));
		few = (struct rlimit) { 3, all.rlim_max };
		cuda_start(0);
		ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &few));
		ASSERT_OK(cuModuleLoadData(&self->module, kernels));
		EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED,
			  launch(self->module, NULL, "empty", 1, 1, NULL));
		ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &all));
		_exit(launch(self->module, NULL, "empty", 1, 1, NULL) != CUDA_SUCCESS);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	load(kernels);
	EXPECT_EQ(0, status);
}

static CUmodule late;

static void launch_late(void)
{
	_exit(launch(late, NULL, "empty", 1, 1, NULL) != CUDA_SUCCESS);
}

/* A function that exit() calls after the destructors of LLVM: a kernel is compiled there. */
TEST_F(ptx, launches_at_exit)
{
	pid_t child = fork();
	int status = -1;

	if (!child) {
		ASSERT_EQ(0, setenv("MEMCAST_PTX_CACHE", "0", 1));
		ASSERT_EQ(0, atexit(launch_late));
		load(kernels);
		ASSERT_OK(cuModuleLoadData(&late, kernels));
		exit(1);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	load(kernels);
	EXPECT_EQ(0, status);
}

/* Kernels reach device memory, from the stream's thread and its helpers; the program does not. */
TEST_F(ptx, with_host_access_forbidden)
{
	static float in[2048], out[1024];
	uint32_t count = 1024;
	CUdeviceptr a, b, c;
	int wrong = 0, value;

	if (!KEYS_KNOWN)
		SKIP(return, "it takes protection keys, and these processors have none");
	ASSERT_EQ(0, setenv("MEMCAST_HOST_ACCESS", "forbid", 1));
	load(kernels);
	a = self->memory;
	b = a + 4096;
	c = b + 4096;
	for (uint32_t i = 0; i < count; i++) {
		in[i] = i;
		in[1024 + i] = 0.5f * i;
	}
	ASSERT_OK(cuMemcpyHtoD(a, in, sizeof(in)));
	for (int round = 0; round < 20; round++) {
		ASSERT_OK(cuMemsetD32(c, 0, count));
		ASSERT_OK(LAUNCH("add", 64, 16, &a, &b, &c, &count));
		ASSERT_OK(cuStreamSynchronize(self->stream));
		ASSERT_OK(cuMemcpyDtoH(out, c, sizeof(out)));
		for (uint32_t i = 0; i < count; i++)
			wrong += out[i] != 1.5f * i;
	}
	EXPECT_EQ(0, wrong);
	EXPECT_EQ(SIGSEGV, try_load((void *)c, NULL));
	ASSERT_OK(LAUNCH("read", 1, 1, &self->memory));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	ASSERT_OK(cuMemcpyDtoH(&value, self->memory, 4));
	EXPECT_EQ(-8, value);
}

/* Threads that leave a kernel by a jump out of a signal's handler can run another device's. */
TEST_F(ptx, faults_with_host_access_forbidden)
{
	CUdeviceptr bad = 0x7000000000, to;
	uint32_t count = 1024, word = 1;

	if (!KEYS_KNOWN)
		SKIP(return, "it takes protection keys, and these processors have none");
	ASSERT_EQ(0, setenv("MEMCAST_HOST_ACCESS", "forbid", 1));
	load(kernels);
	ASSERT_OK(LAUNCH("add", 64, 16, &bad, &bad, &bad, &count));
	EXPECT_CU(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(self->stream));
	load_(_metadata, self, kernels, 1);
	to = self->memory;
	for (int round = 0; round < 20; round++) {
		ASSERT_OK(LAUNCH("add", 64, 16, &to, &to, &to, &count));
		ASSERT_OK(cuStreamSynchronize(self->stream));
	}
	ASSERT_OK(cuMemcpyDtoH(&word, to, 4));
	EXPECT_EQ(0, word);
}

/* Values of variables are written where cuModuleGetGlobal() says; addresses are those of memory. */
TEST_F(ptx, variables_and_their_addresses)
{
	CUdeviceptr words, place;
	uint32_t *to;
	size_t bytes;

	load(kernels);
	to = (uint32_t *)self->memory;
	ASSERT_OK(cuModuleGetGlobal(&words, &bytes, self->module, "words"));
	EXPECT_EQ(16, (int)bytes);
	ASSERT_OK(cuModuleGetGlobal(&place, NULL, self->module, "place"));
	EXPECT_EQ(words, *(CUdeviceptr *)place);
	((uint32_t *)words)[2] = 1234;
	ASSERT_OK(LAUNCH("read", 1, 1, &self->memory));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(-8, (int)to[0]);
	EXPECT_EQ(1234, (int)to[1]);
}

TEST_F(ptx, barriers_in_streams_and_graphs)
{
	CUdeviceptr to;
	CUgraphExec instance;
	CUgraph graph;
	uint32_t *from;

	load(kernels);
	to = self->memory + (64 << 10);
	from = (uint32_t *)self->memory;
	for (uint32_t i = 0; i < 8 * 1024; i++)
		from[i] = i;
	ASSERT_OK(cuStreamBeginCapture(self->stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	ASSERT_OK(LAUNCH("sum", 8, 1024, &to, &self->memory));
	ASSERT_OK(cuStreamEndCapture(self->stream, &graph));
	ASSERT_OK(cuGraphInstantiate(&instance, graph, 0));
	for (int round = 0; round < 3; round++) {
		ASSERT_OK(cuMemsetD32Async(to, 0, 8, self->stream));
		ASSERT_OK(cuGraphLaunch(instance, self->stream));
		ASSERT_OK(cuStreamSynchronize(self->stream));
		for (uint32_t i = 0; i < 8; i++)
			EXPECT_EQ(1023 * 512 + i * 1024 * 1024, ((uint32_t *)to)[i]);
	}
	ASSERT_OK(cuGraphExecDestroy(instance));
	ASSERT_OK(cuGraphDestroy(graph));
}

/* A block waits for another one, and a stream's blocks for another stream's. */
TEST_F(ptx, blocks_and_streams_go_on_side_by_side)
{
	CUstream stream[32];
	uint32_t all = 40, *met;

	load(kernels);
	met = (uint32_t *)self->memory;
	ASSERT_OK(LAUNCH("meet", 40, 64, &self->memory, &all));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(40 * 64, (int)met[1]);
	met[0] = met[1] = 0;
	all = 32;
	for (int i = 0; i < 32; i++) {
		ASSERT_OK(cuStreamCreate(&stream[i], CU_STREAM_NON_BLOCKING));
		ASSERT_OK(launch(self->module, stream[i], "meet", 1, 1024,
				 (void *[]) { &self->memory, &all }));
	}
	for (int i = 0; i < 32; i++)
		ASSERT_OK(cuStreamSynchronize(stream[i]));
	EXPECT_EQ(32 * 1024, (int)met[1]);
}

/* Other threads see all of a strong store of 16 bytes, or nothing, also of emulated processors. */
TEST_F(ptx, vectors_are_one_access)
{
	static const char text[] = HEAD
		/* block 0 stores n pairs of equal numbers, which block 1 loads; places: to + 64 */
		".visible .entry pairs(.param .u64 to, .param .u32 n) {\n" REGISTERS
		"ld.param.u64 %d1, [to]; ld.param.u32 %r1, [n]; cvt.u64.u32 %d2, %r1;\n"
		"mov.u32 %r2, %ctaid.x; setp.ne.u32 %p1, %r2, 0; mov.u64 %d3, 0; mov.u32 %r3, 0;\n"
		"@%p1 bra LOADS;\n"
		"WAIT: ld.acquire.gpu.global.u32 %r4, [%d1 + 64]; setp.eq.u32 %p2, %r4, 0;\n"
		"@%p2 bra WAIT;\n"
		"STORE: add.u64 %d3, %d3, 1; st.relaxed.gpu.global.v2.u64 [%d1], {%d3, %d3};\n"
		"setp.lt.u64 %p3, %d3, %d2; @%p3 bra STORE; ret;\n"
		"LOADS: st.release.gpu.global.u32 [%d1 + 64], 1;\n"
		"LOAD: ld.relaxed.gpu.global.v2.u64 {%d4, %d5}, [%d1];\n"
		"setp.ne.u64 %p4, %d4, %d5; @%p4 add.u32 %r3, %r3, 1;\n"
		"setp.lt.u64 %p5, %d4, %d2; @%p5 bra LOAD;\n"
		"st.global.u32 [%d1 + 128], %r3; ret; }\n";
	uint32_t count = 300000, different = 1;

	load(text);
	ASSERT_OK(LAUNCH("pairs", 2, 1, &self->memory, &count));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	ASSERT_OK(cuMemcpyDtoH(&different, self->memory + 128, 4));
	EXPECT_EQ(0, different);
}

TEST_F(ptx, cooperative_launches)
{
	CUfunction function;
	uint32_t *to;

	load(kernels);
	to = (uint32_t *)self->memory;
	ASSERT_OK(cuModuleGetFunction(&function, self->module, "together"));
	ASSERT_OK(cuLaunchCooperativeKernel(function, 100, 1, 1, 32, 1, 1, 0, self->stream,
					    (void *[]) { &self->memory }));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(100, (int)to[0]);
	EXPECT_EQ(100 * 32, (int)to[1]);
}

/*
 * One rank of an all-reduce over a team of @ranks devices. @link: to the other one. Return: how many
 * words are wrong
 */
#define reduce_as(team, rank, ranks, link)	reduce_as_(_metadata, self, team, rank, ranks, link)
TEST_HELPER int reduce_as_(struct __test_metadata *_metadata, FIXTURE_DATA(ptx) *self,
			   CUmemGenericAllocationHandle team, uint32_t rank, uint32_t ranks,
			   int link)
{
	CUmemGenericAllocationHandle memory = new_memory(rank, CHUNK);
	CUdeviceptr own, window;
	int wrong = 0;
	float *values;
	char bound = 1;

	own = ADDRESS(mapped(memory, CHUNK, rank));
	ASSERT_OK(cuMemsetD32(own, 0, CHUNK / 4));
	values = (float *)(own + 4096);
	for (uint32_t i = 0; i < 256; i++)
		values[i] = (rank + 1) * (i + 1);
	ASSERT_OK(cuMulticastBindMem(team, 0, memory, 0, CHUNK, 0));
	ASSERT_EQ(1, write(link, &bound, 1));
	ASSERT_EQ(1, read(link, &bound, 1));
	window = ADDRESS(mapped(team, CHUNK, rank));
	ASSERT_OK(LAUNCH("all_reduce", 1, 256, &window, &own, &ranks, &rank));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	for (uint32_t i = 0; i < 256; i++)
		wrong += values[i] != ranks * (ranks + 1) / 2 * (i + 1);
	return wrong;
}

/* Two processes, a device and a rank each */
TEST_F(ptx, all_reduce_of_two_processes)
{
	CUmemGenericAllocationHandle team;
	int ends[2], status, fd;
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	pid = fork();
	if (!pid) {
		fd = receive_fd(ends[1]);
		load_(_metadata, self, kernels, 1);
		team = imported(fd);
		ASSERT_OK(cuMulticastAddDevice(team, 1));
		_exit(reduce_as(team, 1, 2, ends[1]) ? 1 : 0);
	}
	load(kernels);
	team = new_team(2, CHUNK);
	ASSERT_OK(cuMulticastAddDevice(team, 0));
	send_fd(ends[0], exported(team));
	EXPECT_EQ(0, reduce_as(team, 0, 2, ends[0]));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

TEST_F(ptx, faults_say_where)
{
	CUdeviceptr bad = 0x7000000000, more;

	load(store);
	ASSERT_OK(LAUNCH("store", 1, 1, &bad));
	EXPECT_CU(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(self->stream));
	EXPECT_CU(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemAlloc(&more, 4096));
	EXPECT_LOG("kernel store, block (0, 0, 0)", "store at 0x7000000000");
}

TEST_F(ptx, faults_of_unmapped_memory_say_why)
{
	CUmemGenericAllocationHandle handle;
	CUdeviceptr address;

	load(store);
	handle = new_memory(0, CHUNK);
	address = ADDRESS(mapped(handle, CHUNK, 0));
	ASSERT_OK(cuMemUnmap(address, CHUNK));
	ASSERT_OK(LAUNCH("store", 1, 1, &address));
	EXPECT_CU(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(self->stream));
	EXPECT_LOG("kernel store", "cuMemUnmap() took");
}

TEST_F(ptx, multimem_needs_a_window)
{
	uint32_t ranks = 1, rank = 0;

	load(kernels);
	ASSERT_OK(LAUNCH("all_reduce", 1, 32, &self->memory, &self->memory, &ranks, &rank));
	EXPECT_CU(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(self->stream));
	EXPECT_LOG("kernel all_reduce", "no multicast object is mapped there");
}

/* Return: how many multimem operations the module has counted for the team of @bytes */
static long long counted(size_t bytes)
{
	int list = client_list(raw_library_fd(), client_key(getpid(), raw_library_fd()));
	long long operations = -1;
	size_t size;
	char line[4096], *at;
	FILE *file = list < 0 ? NULL : fdopen(list, "r");

	while (file && fgets(line, sizeof(line), file)) {
		at = strstr(line, " multimem ");
		if (at && sscanf(line, "memcast-handle: team %*u bytes %zu", &size) == 1 &&
		    size == bytes)
			operations = atoll(at + strlen(" multimem "));
	}
	if (file)
		fclose(file);
	return operations;
}

/* Each thread's operations count, for the team of the window that it makes them at. */
TEST_F(ptx, multimem_is_counted)
{
	CUmemGenericAllocationHandle team;
	CUdeviceptr window[2];

	load(counting);
	for (int i = 0; i < 2; i++) {
		team = complete_team(2, (i + 1) * CHUNK);
		for (int j = 0; j < 2; j++)
			ASSERT_OK(cuMulticastBindMem(team, 0, new_memory(j, CHUNK), 0, CHUNK, 0));
		window[i] = ADDRESS(mapped(team, (i + 1) * CHUNK, 0));
		EXPECT_EQ(0, counted((i + 1) * CHUNK));
	}
	ASSERT_OK(LAUNCH("count", 2, 64, &window[0], &window[1]));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(2 * 64 * 6, counted(CHUNK));
	EXPECT_EQ(2 * 64 * 3, counted(2 * CHUNK));
	ASSERT_OK(LAUNCH("count_and_wait", 2, 64, &window[0], &window[1]));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(2 * 2 * 64 * 6, counted(CHUNK));
	EXPECT_EQ(2 * 2 * 64 * 3, counted(2 * CHUNK));
	/* they were all made */
	EXPECT_EQ(2 * 2 * 64 * 3, *(uint32_t *)memcastViewAt(window[1], &(size_t){ 0 })->replica[1]);
}

/* What the device may not access, although this process has it. Each ends the context. */
TEST_F(ptx, checks_find_ends_of_allocations)
{
	CUdeviceptr block, last;

	ASSERT_EQ(0, setenv("MEMCAST_PTX_CHECK", "1", 1));
	load(store);
	ASSERT_OK(cuMemAlloc(&block, 1000));
	last = block + 996;
	ASSERT_OK(LAUNCH("store", 1, 1, &last));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	last += 1;
	ASSERT_OK(LAUNCH("store", 1, 1, &last));
	EXPECT_CU(CUDA_ERROR_MISALIGNED_ADDRESS, cuStreamSynchronize(self->stream));
}

TEST_F(ptx, checks_say_what_lies_before)
{
	CUdeviceptr block, behind;

	ASSERT_EQ(0, setenv("MEMCAST_PTX_CHECK", "1", 1));
	load(store);
	ASSERT_OK(cuMemAlloc(&block, 1000));
	behind = block + 1000;
	ASSERT_OK(LAUNCH("store", 1, 1, &behind));
	EXPECT_CU(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(self->stream));
	EXPECT_LOG("kernel store, block (0, 0, 0), thread (0, 0, 0), line ",
		   "a store of 4 bytes at ",
		   "1 byte behind the end of an allocation of 1000 bytes at ");
}

TEST_F(ptx, checks_find_windows)
{
	CUmemGenericAllocationHandle team;
	CUdeviceptr window;

	ASSERT_EQ(0, setenv("MEMCAST_PTX_CHECK", "1", 1));
	load(store);
	team = complete_team(2, CHUNK);
	ASSERT_OK(cuMulticastBindMem(team, 0, new_memory(0, CHUNK), 0, CHUNK, 0));
	window = ADDRESS(mapped(team, CHUNK, 0));
	ASSERT_OK(LAUNCH("store", 1, 1, &window));
	EXPECT_CU(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(self->stream));
	EXPECT_LOG("this is the window of a multicast object");
}

TEST_F(ptx, checks_find_memory_of_other_devices)
{
	CUcontext first, other;
	CUdeviceptr block;

	ASSERT_EQ(0, setenv("MEMCAST_PTX_CHECK", "1", 1));
	load(store);
	ASSERT_OK(cuCtxGetCurrent(&first));
	ASSERT_OK(cuDevicePrimaryCtxRetain(&other, 1));
	ASSERT_OK(cuCtxPushCurrent(other));
	ASSERT_OK(cuMemAlloc(&block, 1000));
	ASSERT_OK(cuCtxPopCurrent(NULL));
	ASSERT_OK(cuCtxEnablePeerAccess(other, 0));
	ASSERT_OK(LAUNCH("store", 1, 1, &block));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	ASSERT_OK(cuCtxDisablePeerAccess(other));
	ASSERT_OK(LAUNCH("store", 1, 1, &block));
	EXPECT_CU(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(self->stream));
	EXPECT_LOG("memory of device 1, and no call of cuCtxEnablePeerAccess()");
}

/* Memory of all kinds that a device can access */
TEST_F(ptx, checks_pass_what_may_be_accessed)
{
	CUdeviceptr managed, pool, view;
	uint32_t *host, *registered = aligned_alloc(4096, 4096);
	CUmemGenericAllocationHandle handle;

	ASSERT_EQ(0, setenv("MEMCAST_PTX_CHECK", "1", 1));
	load(store);
	handle = new_memory(0, CHUNK);
	view = ADDRESS(mapped(handle, CHUNK, 0));
	ASSERT_OK(cuMemAllocManaged(&managed, 4, CU_MEM_ATTACH_GLOBAL));
	ASSERT_OK(cuMemAllocAsync(&pool, 4, self->stream));
	ASSERT_OK(cuMemHostAlloc((void **)&host, 4, 0));
	ASSERT_OK(cuMemHostRegister(registered, 4096, 0));
	for (int i = 0; i < 5; i++) {
		CUdeviceptr to = ((CUdeviceptr []) { managed, pool, ADDRESS(host),
						     ADDRESS(registered), view })[i];

		ASSERT_OK(LAUNCH("store", 1, 1, &to));
		EXPECT_OK(cuStreamSynchronize(self->stream));
	}
	ASSERT_OK(cuMemHostUnregister(registered));
	ASSERT_OK(cuMemFreeAsync(pool, self->stream));
	ASSERT_OK(cuStreamSynchronize(self->stream));
}

/* Standard output, or error, goes to a file from here on. Return: what it was */
static int divert(int fd, FILE *file)
{
	int kept = dup(fd);

	fflush(stdout);
	dup2(fileno(file), fd);
	return kept;
}

static void restore(int fd, int kept)
{
	fflush(stdout);
	dup2(kept, fd);
	close(kept);
}

/* Return: the number in line @number of a file of printed lines */
static int printed_number(FILE *file, long line)
{
	char text[PRINTED_LINE + 1] = "";

	fseek(file, line * PRINTED_LINE, SEEK_SET);
	return fread(text, 1, PRINTED_LINE, file) == PRINTED_LINE ? atoi(text) : -1;
}

static long size_of(FILE *file)
{
	fseek(file, 0, SEEK_END);
	return ftell(file);
}

/* It comes out at a synchronization, and of too much the oldest lines are gone. */
TEST_F(ptx, prints_when_the_program_waits)
{
	uint32_t few = 3, many = 700;
	size_t limit = 512 << 10;
	long early, late, kept_lines = limit / PRINTED_LINE;
	FILE *file = tmpfile();
	CUresult result;
	int kept;

	load(printing);
	ASSERT_OK(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, limit));
	kept = divert(1, file);
	result = LAUNCH("print", 1, 1, &few);
	while (result == CUDA_SUCCESS && cuStreamQuery(self->stream) == CUDA_ERROR_NOT_READY)
		;
	early = size_of(file);
	if (result == CUDA_SUCCESS)
		result = cuStreamSynchronize(self->stream);
	late = size_of(file);
	if (result == CUDA_SUCCESS)
		result = LAUNCH("print", 1, 1, &many);
	if (result == CUDA_SUCCESS)
		result = cuCtxSynchronize();
	restore(1, kept);
	ASSERT_OK(result);
	EXPECT_EQ(0, early);
	EXPECT_EQ(few * PRINTED_LINE, late);
	EXPECT_EQ((few + kept_lines) * PRINTED_LINE, size_of(file));
	EXPECT_EQ(2, printed_number(file, 2));
	EXPECT_EQ((int)many - kept_lines, printed_number(file, few));
	EXPECT_EQ((int)many - 1, printed_number(file, few + kept_lines - 1));
	fclose(file);
}

struct measured {
	FILE *file;
	long bytes;
};

static void measure(CUstream stream, CUresult result, void *data)
{
	struct measured *measured = data;

	(void)stream, (void)result;
	measured->bytes = size_of(measured->file);
}

/* Launches the kernel that prints a line, and polls until it has ended. */
static CUresult print_a_line(CUmodule module, CUstream stream)
{
	uint32_t one = 1;
	CUresult result = launch(module, stream, "print", 1, 1, (void *[]) { &one });

	while (result == CUDA_SUCCESS && cuStreamQuery(stream) == CUDA_ERROR_NOT_READY)
		usleep(1000);
	return result;
}

/* And before a callback, at a copy, as a module is loaded, and as the context ends. */
TEST_F(ptx, prints_when_other_calls_say_so)
{
	struct measured seen = { .file = tmpfile() };
	CUresult result[4];
	uint32_t word, one = 1;
	CUmodule module;
	long bytes[4];
	int kept;

	load(printing);
	kept = divert(1, seen.file);
	LAUNCH("print", 1, 1, &one);
	result[0] = cuStreamAddCallback(self->stream, measure, &seen, 0);
	while (cuStreamQuery(self->stream) == CUDA_ERROR_NOT_READY)
		usleep(1000);
	bytes[0] = seen.bytes;
	print_a_line(self->module, self->stream);
	result[1] = cuMemcpyDtoH(&word, self->memory, 4);
	bytes[1] = size_of(seen.file);
	print_a_line(self->module, self->stream);
	result[2] = cuModuleLoadData(&module, printing);
	bytes[2] = size_of(seen.file);
	/* queued only */
	LAUNCH("print", 1, 1, &one);
	result[3] = cuDevicePrimaryCtxReset(0);
	bytes[3] = size_of(seen.file);
	restore(1, kept);
	for (int i = 0; i < 4; i++) {
		EXPECT_OK(result[i]) TH_LOG("%d", i);
		EXPECT_EQ((i + 1) * PRINTED_LINE, bytes[i]) TH_LOG("%d", i);
	}
	fclose(seen.file);
}

/* A kernel that waits for a word which nobody writes does not keep its context. */
TEST_F(ptx, waits_as_its_context_ends)
{
	uint32_t all = 100;

	load(kernels);
	ASSERT_OK(LAUNCH("meet", 2, 32, &self->memory, &all));
	ASSERT_OK(cuDevicePrimaryCtxReset(0));
}

/* What kernels do not free ends with their context. */
TEST_F(ptx, heaps_end_with_their_context)
{
	static const char text[] = HEAD ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
		".visible .entry k(.param .u64 to) { .reg .b64 %d<2>; ld.param.u64 %d1, [to];\n"
		"{ .param .b64 n; .param .b64 r; st.param.b64 [n], 5000000; call (r), malloc, (n);\n"
		"ld.param.b64 %d0, [r]; } st.global.u64 [%d1], %d0; ret; }\n";

	for (int i = 0; i < 4; i++) {
		load(text);
		ASSERT_OK(LAUNCH("k", 1, 1, &self->memory));
		ASSERT_OK(cuStreamSynchronize(self->stream));
		EXPECT_NE(0, *(uint64_t *)self->memory);
		/* the limit is 8 MiB */
		ASSERT_OK(LAUNCH("k", 1, 1, &self->memory));
		ASSERT_OK(cuStreamSynchronize(self->stream));
		EXPECT_EQ(0, *(uint64_t *)self->memory);
		ASSERT_OK(cuDevicePrimaryCtxReset(0));
	}
}

TEST_F(ptx, assertions)
{
	char said[256] = "";
	FILE *file = tmpfile();
	CUresult result;
	uint32_t none = 0;
	int kept;

	load(printing);
	kept = divert(2, file);
	result = LAUNCH("print", 3, 1, &none);
	if (result == CUDA_SUCCESS)
		result = cuStreamSynchronize(self->stream);
	restore(2, kept);
	EXPECT_CU(CUDA_ERROR_ASSERT, result);
	EXPECT_CU(CUDA_ERROR_ASSERT, cuCtxSynchronize());
	rewind(file);
	ASSERT_NE(NULL, fgets(said, sizeof(said), file));
	EXPECT_SAYS(said, "x:12: x: block: [");
	EXPECT_SAYS(said, ",0,0], thread: [0,0,0] Assertion `x` failed.\n");
	EXPECT_LOG("kernel print, block (", "thread (0, 0, 0)", "assertion `x` failed, x:12");
	fclose(file);
}

TEST_F(ptx, traps)
{
	load(kernels);
	ASSERT_OK(LAUNCH("trap_at_3", 1, 32, NULL));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(self->stream));
	EXPECT_LOG("kernel trap_at_3, block (0, 0, 0)", "trap");
}

/* A failure ends the kernels of its device that wait, with and without barriers, in any context. */
TEST_F(ptx, traps_end_kernels_that_wait)
{
	static const char text[] = HEAD
		".visible .entry fail() { trap; }\n"
		".visible .entry poll(.param .u64 at) {\n" REGISTERS "ld.param.u64 %d1, [at];\n"
		"red.global.add.u32 [%d1], 1;\n"
		"NEXT: ld.volatile.global.u32 %r1, [%d1 + 4]; setp.eq.u32 %p1, %r1, 0;\n"
		"@%p1 bra NEXT; ret; }\n"
		".visible .entry join(.param .u64 at) {\n" REGISTERS "ld.param.u64 %d1, [at];\n"
		"red.global.add.u32 [%d1], 1;\n"
		"NEXT: ld.volatile.global.u32 %r1, [%d1 + 4]; bar.sync 0; setp.eq.u32 %p1, %r1, 0;\n"
		"@%p1 bra NEXT; ret; }\n";
	CUstream fails, other;
	CUcontext context;
	CUmodule module;
	CUevent event;

	load(text);
	ASSERT_OK(cuStreamCreate(&fails, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuEventCreate(&event, 0));
	ASSERT_OK(LAUNCH("join", 2, 32, &self->memory));
	ASSERT_OK(cuEventRecord(event, self->stream));
	ASSERT_OK(cuCtxCreate(&context, NULL, 0, 0));
	ASSERT_OK(cuModuleLoadData(&module, text));
	ASSERT_OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(launch(module, other, "poll", 2, 32, (void *[]) { &self->memory }));
	while (*(volatile uint32_t *)self->memory < 4 * 32)
		usleep(1000);
	ASSERT_OK(launch(self->module, fails, "fail", 1, 1, NULL));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(fails));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(other));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(self->stream));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuEventSynchronize(event));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
	EXPECT_LOG("kernel fail, block (0, 0, 0)", "kernel poll was ended: its context has failed");
}

/* What memcast does not have is said at the launch, which changes nothing. */
TEST_F(ptx, unsupported_instructions)
{
	load(unsupported);
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, LAUNCH("multiply", 1, 128, NULL));
	EXPECT_LOG("kernel multiply", "line 7", "wgmma.fence", "is not supported");
	EXPECT_OK(cuCtxSynchronize());
}

TEST_F(ptx, arrays_as_long_as_their_values)
{
	static const char text[] = HEAD
		".visible .global .u16 a[] = { 1, 2, 3 };\n"
		".visible .global .u32 b[][3] = { { 1, 2, 3 }, { 4, 5 } };\n"
		".visible .entry k(.param .u64 to) {\n.reg .b32 %r<4>; .reg .b64 %d<2>;\n"
		"ld.param.u64 %d1, [to]; ld.global.u16 %r1, [a+4]; ld.global.u32 %r2, [b+16];\n"
		"st.global.v2.u32 [%d1], {%r1, %r2}; ret; }\n";
	uint32_t *to;
	CUdeviceptr at;
	CUmodule module;
	size_t bytes;

	load(kernels);
	to = (uint32_t *)self->memory;
	ASSERT_OK(cuModuleLoadData(&module, text));
	ASSERT_OK(cuModuleGetGlobal(&at, &bytes, module, "a"));
	EXPECT_EQ(6, bytes);
	ASSERT_OK(cuModuleGetGlobal(&at, &bytes, module, "b"));
	EXPECT_EQ(24, bytes);
	ASSERT_OK(launch(module, self->stream, "k", 1, 1, (void *[]) { &self->memory }));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(3, to[0]);
	EXPECT_EQ(5, to[1]);
	ASSERT_OK(cuModuleUnload(module));
}

/* A block of one thread stands for the block that a text requires, if there can be such a block. */
TEST_F(ptx, blocks_that_a_text_requires)
{
	static const char body[] =
		"{ .reg .b64 %d<2>; .reg .b32 %r<2>; ld.param.u64 %d0, [to]; mov.u32 %r0, 1;\n"
		"red.global.add.u32 [%d0], %r0; ret; }\n";
	static const char *const refused[] = { "many", "flat", "long" };
	char text[2048];
	CUmodule module;

	load(kernels);
	snprintf(text, sizeof(text), "%s.visible .entry pair(.param .u64 to) .reqntid 2, 32 %s"
		 ".visible .entry many(.param .u64 to) .reqntid 64, 64 %s"
		 ".visible .entry flat(.param .u64 to) .reqntid 64, 0 %s"
		 ".visible .entry long(.param .u64 to) .reqntid 4294967295, 4294967295, 8 %s",
		 HEAD, body, body, body, body);
	ASSERT_OK(cuModuleLoadData(&module, text));
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
			  launch(module, self->stream, refused[i], 1, 1,
				 (void *[]) { &self->memory }));
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
		  launch(module, self->stream, "pair", 1, 64, (void *[]) { &self->memory }));
	ASSERT_OK(launch(module, self->stream, "pair", 1, 1, (void *[]) { &self->memory }));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(64, *(uint32_t *)self->memory);
	ASSERT_OK(cuModuleUnload(module));
}

/* Return: how many functions have been compiled into the folder */
static int compiled(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int count = 0;

	while (dir && (entry = readdir(dir)))
		count += !!strstr(entry->d_name, ".o");
	if (dir)
		closedir(dir);
	return count;
}

TEST_HELPER void forget_compiled(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(folder);
}

/* cuFuncLoad() compiles one kernel, CUDA_MODULE_LOADING=EAGER all; what cannot be is no error. */
TEST_F(ptx, compiled_when_loaded)
{
	static const char text[] = ".version 8.0\n.target sm_90a\n.address_size 64\n"
		".visible .entry one() { ret; }\n.visible .entry two() { ret; }\n"
		".visible .entry out() { wgmma.fence.sync.aligned; ret; }\n";
	char folder[] = "/tmp/ptx-test.XXXXXX";
	CUfunction function;
	CUmodule module;

	ASSERT_NE(NULL, mkdtemp(folder));
	ASSERT_EQ(0, setenv("MEMCAST_PTX_CACHE", folder, 1));
	load(kernels);
	EXPECT_EQ(1, compiled(folder));		/* what load() has launched */
	ASSERT_OK(cuModuleLoadData(&module, text));
	ASSERT_OK(cuModuleGetFunction(&function, module, "out"));
	ASSERT_OK(cuFuncLoad(function));
	ASSERT_OK(cuModuleGetFunction(&function, module, "two"));
	EXPECT_EQ(1, compiled(folder));
	ASSERT_OK(cuFuncLoad(function));
	EXPECT_EQ(2, compiled(folder));
	ASSERT_OK(cuModuleUnload(module));

	ASSERT_EQ(0, setenv("CUDA_MODULE_LOADING", "EAGER", 1));
	ASSERT_OK(cuModuleLoadData(&module, text));
	EXPECT_EQ(3, compiled(folder));
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, launch(module, self->stream, "out", 1, 1, NULL));
	ASSERT_OK(cuModuleUnload(module));
	forget_compiled(folder);
}

TEST_HARNESS_MAIN
