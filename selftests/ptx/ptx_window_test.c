// SPDX-License-Identifier: MIT
/* Plain stores to windows, by kernels: without a signal for each, if a parameter is the window. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "memcast/trap.h"
#include "memcast/view.h"
#include "ptx_fixture.h"

#define EACH	64U		/* bytes that a thread stores */
#define THREADS	(4 * 96U)

/*
 * Thread i stores its number in several ways, 64 * i bytes behind a window's start, and the word at
 * other[i].
 */
#define STORES(name, wait)									\
	".visible .entry " name "(.param .u64 window, .param .u64 other) {\n" REGISTERS	\
	"ld.param.u64 %d1, [window]; ld.param.u64 %d2, [other];\n" NUMBER			\
	"mul.wide.u32 %d3, %r1, 64; add.u64 %d1, %d1, %d3;\n"					\
	"mul.wide.u32 %d3, %r1, 4; add.u64 %d2, %d2, %d3;\n"					\
	"cvt.u64.u32 %d4, %r1; and.b32 %r9, %r1, 1; setp.ne.u32 %p1, %r9, 0;\n"		\
	"st.global.u8 [%d1], %r1; st.u32 [%d1 + 4], %r1;\n" wait				\
	"st.global.v4.u32 [%d1 + 16], {%r1, 0, %r1, 1};\n"					\
	"st.volatile.global.v2.u64 [%d1 + 32], {%d4, %d4};\n"					\
	"st.release.sys.global.u64 [%d1 + 48], %d4; @%p1 st.global.u32 [%d1 + 56], %r1;\n"	\
	"{ .param .b64 at; .param .b32 value; add.u64 %d1, %d1, 60; st.param.b64 [at], %d1;\n"	\
	"st.param.b32 [value], %r1; call.uni put, (at, value); }\n"				\
	"st.global.u32 [%d2], %r1; ret; }\n"

static const char stores[] = HEAD
	".func put(.param .b64 at, .param .b32 value) { .reg .b64 %d; .reg .b32 %r;\n"
	"ld.param.b64 %d, [at]; ld.param.b32 %r, [value]; st.u32 [%d], %r; ret; }\n"
	STORES("stores", "") STORES("stores_and_meets", "bar.sync 0;\n")
	STORES("stores_and_waits", "bar.sync 1, 96;\n");

/* Return: the window of a team of two devices, each with a memory */
#define new_window()	new_window_(_metadata, self)
TEST_HELPER CUdeviceptr new_window_(struct __test_metadata *_metadata, FIXTURE_DATA(ptx) *self)
{
	CUmemGenericAllocationHandle team = complete_team(2, CHUNK);
	CUdeviceptr window;

	(void)self;
	for (int i = 0; i < 2; i++)
		ASSERT_OK(cuMulticastBindMem(team, 0, new_memory(i, CHUNK), 0, CHUNK, 0));
	window = ADDRESS(mapped(team, CHUNK, 0));
	ASSERT_OK(cuMemsetD32(window, 0, CHUNK / 4));
	return window;
}

/* What thread @i stores */
static void expected(uint32_t i, unsigned char *bytes)
{
	uint64_t wide = i;

	memset(bytes, 0, EACH);
	bytes[0] = i;
	memcpy(bytes + 4, &i, sizeof(i));
	memcpy(bytes + 16, (uint32_t []) { i, 0, i, 1 }, 16);
	for (int at = 32; at <= 48; at += 8)
		memcpy(bytes + at, &wide, sizeof(wide));
	if (i % 2)
		memcpy(bytes + 56, &i, sizeof(i));
	memcpy(bytes + 60, &i, sizeof(i));
}

/* A signal would end the program: the library's handler is taken away. */
static void refuse_signals(void)
{
	syscall(SYS_rt_sigaction, SIGSEGV, (unsigned long [4]) { (unsigned long)SIG_DFL }, NULL, 8);
}

#define store_by(kernel)	store_by_(_metadata, self, kernel)
TEST_HELPER void store_by_(struct __test_metadata *_metadata, FIXTURE_DATA(ptx) *self,
			   const char *kernel)
{
	CUdeviceptr window, behind;
	unsigned char wanted[EACH];
	const struct memcast_view *view;
	size_t offset;

	load(stores);
	window = new_window();
	behind = window + CHUNK / 2;
	refuse_signals();
	ASSERT_OK(LAUNCH(kernel, 4, 96, &behind, &self->memory));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	view = memcastViewAt(behind, &offset);
	ASSERT_NE(NULL, view);
	for (uint32_t i = 0; i < THREADS; i++) {
		expected(i, wanted);
		for (int j = 0; j < 2; j++)
			ASSERT_EQ(0, memcmp((char *)view->replica[j] + offset + i * EACH, wanted, EACH));
		ASSERT_EQ(i, ((uint32_t *)self->memory)[i]);
	}
	EXPECT_EQ(0, ((char *)view->replica[1])[offset + THREADS * EACH]);
}

TEST_F(ptx, stores_take_no_signal)
{
	store_by("stores");
}

TEST_F(ptx, stores_of_a_kernel_with_barriers)
{
	store_by("stores_and_meets");
}

TEST_F(ptx, stores_of_threads_with_stacks)
{
	store_by("stores_and_waits");
}

/* The window is first mapped, then unmapped, then another one is mapped. */
TEST_F(ptx, stores_find_the_window_of_each_launch)
{
	CUdeviceptr window[2];
	size_t offset;

	load(store);
	for (int i = 0; i < 2; i++)
		window[i] = new_window();
	refuse_signals();
	for (int i = 0; i < 2; i++) {
		ASSERT_OK(LAUNCH("store", 1, 1, &window[i]));
		ASSERT_OK(cuStreamSynchronize(self->stream));
		EXPECT_EQ(7, *(int *)memcastViewAt(window[i], &offset)->replica[1]);
	}
	ASSERT_OK(LAUNCH("store", 1, 1, &self->memory));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(7, *(int *)self->memory);
}

/* Where the user wants plain stores to be faults, those of kernels are. */
#define store_refused(variable, value)	store_refused_(_metadata, self, variable, value)
TEST_HELPER void store_refused_(struct __test_metadata *_metadata, FIXTURE_DATA(ptx) *self,
				const char *variable, const char *value)
{
	CUdeviceptr window;

	ASSERT_EQ(0, setenv(variable, value, 1));
	load(store);
	window = new_window();
	ASSERT_OK(LAUNCH("store", 1, 1, &window));
	EXPECT_CU(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(self->stream));
}

TEST_F(ptx, stores_are_faults_without_the_trap)
{
	store_refused("MEMCAST_TRAP", "0");
}

TEST_F(ptx, stores_are_faults_in_strict_mode)
{
	store_refused("MEMCAST_STRICT", "1");
}

/* stderr goes to a file. Return: what stderr was */
static int say_to_file(void)
{
	int before = dup(STDERR_FILENO);

	dup2(memfd_create("stderr", MFD_CLOEXEC), STDERR_FILENO);
	return before;
}

static void read_said(int before, char *said, size_t size)
{
	ssize_t length = pread(STDERR_FILENO, said, size - 1, 0);

	said[length < 0 ? 0 : length] = '\0';
	dup2(before, STDERR_FILENO);
	close(before);
}

/*
 * A member without memory is left out and named once, however the kernel comes by the address: "stores"
 * is given it.
 */
TEST_F(ptx, stores_leave_out_a_member_without_memory)
{
	CUmemGenericAllocationHandle team, memory[2];
	const struct memcast_view *view;
	CUdeviceptr window;
	char said[4096];
	size_t offset;
	int before;

	load(stores);
	team = complete_team(2, CHUNK);
	for (int i = 0; i < 2; i++)
		memory[i] = new_memory(i, CHUNK);
	ASSERT_OK(cuMulticastBindMem(team, 0, memory[0], 0, CHUNK, 0));
	window = ADDRESS(mapped(team, CHUNK, 0));
	view = memcastViewAt(window, &offset);
	ASSERT_NE(NULL, view);
	before = say_to_file();
	EXPECT_OK(LAUNCH("stores", 1, 96, &window, &self->memory));
	EXPECT_OK(cuStreamSynchronize(self->stream));
	read_said(before, said, sizeof(said));
	EXPECT_SAYS(said, "does not reach every replica: device 1 has no memory at byte ");
	EXPECT_EQ(95, *(uint32_t *)(view->replica[0] + 95 * EACH + 4));
	/* then all have memory: no signal */
	ASSERT_OK(cuMulticastBindMem(team, 0, memory[1], 0, CHUNK, 0));
	refuse_signals();
	ASSERT_OK(LAUNCH("stores", 1, 96, &window, &self->memory));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(95, *(uint32_t *)(view->replica[1] + 95 * EACH + 4));
}

/* Stores 1, says so, and stores 2 when it is told to. */
#define WAITS(name, store)									\
	".visible .entry " name "(.param .u64 window, .param .u64 word) {\n" REGISTERS	\
	"ld.param.u64 %d1, [window]; ld.param.u64 %d2, [word]; mov.u32 %r1, 1;\n"		\
	store ".u32 [%d1], %r1; st.release.sys.global.u32 [%d2], %r1;\n"			\
	"wait: ld.acquire.sys.global.u32 %r2, [%d2]; setp.ne.u32 %p1, %r2, 2; @%p1 bra wait;\n" \
	store ".u32 [%d1], %r2; ret; }\n"

static const char waits[] = HEAD
	WAITS("waits", "st.global") WAITS("multimem_waits", "multimem.st.relaxed.sys.global")
	".visible .entry stores_there(.param .u64 at) {\n" REGISTERS
	"ld.param.u64 %d1, [at]; ld.global.u64 %d1, [%d1]; st.global.u32 [%d1], 7; ret; }\n";

/* Runs a kernel that waits, to the point where it does. */
#define begin(kernel, window)	begin_(_metadata, self, kernel, window)
TEST_HELPER void begin_(struct __test_metadata *_metadata, FIXTURE_DATA(ptx) *self,
			const char *kernel, CUdeviceptr window)
{
	ASSERT_OK(LAUNCH(kernel, 1, 1, &window, &self->memory));
	while (__atomic_load_n((uint32_t *)self->memory, __ATOMIC_ACQUIRE) != 1)
		usleep(1000);
	ASSERT_OK(cuMemUnmap(window, CHUNK));
}

/* A kernel goes on at another team, which the program has mapped at the same address. */
TEST_F(ptx, multimem_finds_another_window_at_an_address)
{
	CUmemGenericAllocationHandle team;
	CUdeviceptr window;
	size_t offset;

	load(waits);
	window = new_window();
	team = complete_team(2, CHUNK);
	for (int i = 0; i < 2; i++)
		ASSERT_OK(cuMulticastBindMem(team, 0, new_memory(i, CHUNK), 0, CHUNK, 0));
	begin("multimem_waits", window);
	ASSERT_OK(cuMemMap(window, CHUNK, 0, team, 0));
	ASSERT_OK(allow(window, CHUNK, 0, READWRITE));
	__atomic_store_n((uint32_t *)self->memory, 2, __ATOMIC_RELEASE);
	ASSERT_OK(cuStreamSynchronize(self->stream));
	for (int i = 0; i < 2; i++)
		EXPECT_EQ(2, *(uint32_t *)memcastViewAt(window, &offset)->replica[i]);
}

/* A window has been unmapped, and the library uses what it had of it for another one. */
#define store_to_unmapped(kernel)	store_to_unmapped_(_metadata, self, kernel)
TEST_HELPER void store_to_unmapped_(struct __test_metadata *_metadata, FIXTURE_DATA(ptx) *self,
				    const char *kernel)
{
	const struct memcast_view *view;
	CUdeviceptr window, other;
	size_t offset;

	load(waits);
	window = new_window();
	begin(kernel, window);
	other = new_window();
	view = memcastViewAt(other, &offset);
	ASSERT_NE(NULL, view);
	__atomic_store_n((uint32_t *)self->memory, 2, __ATOMIC_RELEASE);
	EXPECT_CU(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(self->stream));
	for (int i = 0; i < 2; i++)
		EXPECT_EQ(0, *(uint32_t *)view->replica[i]);
}

TEST_F(ptx, stores_to_an_unmapped_window)
{
	store_to_unmapped("waits");
}

TEST_F(ptx, multimem_at_an_unmapped_window)
{
	store_to_unmapped("multimem_waits");
}

static void ask_library(int number, siginfo_t *info, void *context)
{
	if (!memcastTrap(number, info, context))
		_exit(2);
}

/* Its frame, and the store, would be on the small stack of a kernel's thread. */
TEST_F(ptx, a_handler_without_the_alternate_stack_ends_the_launch)
{
	struct sigaction action = { .sa_sigaction = ask_library, .sa_flags = SA_SIGINFO };
	char said[4096];
	int before;

	load(waits);
	*(CUdeviceptr *)self->memory = new_window();
	ASSERT_EQ(0, sigaction(SIGSEGV, &action, NULL));
	before = say_to_file();
	EXPECT_OK(LAUNCH("stores_there", 1, 1, &self->memory));
	EXPECT_CU(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(self->stream));
	read_said(before, said, sizeof(said));
	EXPECT_SAYS(said, "has to be installed with SA_ONSTACK: memcast/trap.h");
}

TEST_HARNESS_MAIN
