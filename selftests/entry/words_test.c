// SPDX-License-Identifier: MIT
/* The words on stderr when a program ends by a fault, hangs, or goes on after a failed cuInit(). */
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <memcast/trap.h>
#include <memcast/view.h>
#include "log_lines.h"
#include "processor.h"
#include "role.h"

FIXTURE(words) { char unused; };
FIXTURE_SETUP(words) { }
NOTHING_LEFT(words)

/* Maps a memory and, right behind it, a team; the reservation's third chunk stays unmapped. */
static volatile int *two_mappings(CUmemAccess_flags flags)
{
	CUmulticastObjectProp prop = { .numDevices = 2, .size = CHUNK };
	CUmemAccessDesc desc = { { CU_MEM_LOCATION_TYPE_DEVICE, 0 }, flags };
	CUmemAllocationProp on = memory_on(0);
	CUmemGenericAllocationHandle own, team;
	CUdeviceptr at;

	if (cuInit(0) || cuMemAddressReserve(&at, 3 * CHUNK, 0, 0, 0) ||
	    cuMemCreate(&own, CHUNK, &on, 0) || cuMemMap(at, CHUNK, 0, own, 0) ||
	    cuMulticastCreate(&team, &prop) || cuMulticastAddDevice(team, 0) ||
	    cuMulticastAddDevice(team, 1) || cuMemMap(at + CHUNK, CHUNK, 0, team, 0) ||
	    cuMemSetAccess(at, 2 * CHUNK, &desc, 1))
		exit(2);
	return (int *)at;
}

static int load_without_access(void)
{
	return two_mappings(CU_MEM_ACCESS_FLAGS_PROT_NONE)[1];
}

static int store_read_only(void)
{
	return two_mappings(CU_MEM_ACCESS_FLAGS_PROT_READ)[1] = 1;
}

static int store_unbound(void)
{
	return two_mappings(CU_MEM_ACCESS_FLAGS_PROT_READWRITE)[CHUNK / sizeof(int)] = 1;
}

static int load_unmapped(void)
{
	return two_mappings(CU_MEM_ACCESS_FLAGS_PROT_READWRITE)[2 * CHUNK / sizeof(int)];
}

static int load_taken_away(void)
{
	volatile int *at = two_mappings(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);

	return cuMemUnmap(ADDRESS(at), CHUNK) || *at;
}

static int load_in_a_child(void)
{
	volatile int *at = two_mappings(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	pid_t child = fork();
	int status = 0;

	if (!child)
		return *at;
	waitpid(child, &status, 0);
	signal(SIGSEGV, SIG_DFL);
	return WIFSIGNALED(status) ? raise(WTERMSIG(status)) : 1;
}

/* A window on a team whose second device has the only memory */
static int load_unbound_by_us(void)
{
	volatile int *at = two_mappings(CU_MEM_ACCESS_FLAGS_PROT_READWRITE) + CHUNK / sizeof(int);
	CUmemAllocationProp on = memory_on(1);
	CUmemGenericAllocationHandle own, team;

	if (cuMemRetainAllocationHandle(&team, (void *)at) || cuMemCreate(&own, CHUNK, &on, 0) ||
	    cuMulticastBindMem(team, 0, own, 0, CHUNK, 0) || *at ||
	    cuMulticastUnbind(team, 1, 0, CHUNK))
		return 1;
	return *at;
}

/* Loads from the replica of a process that has bound memory of its own, and ended. */
static int load_of_the_dead(void)
{
	CUmulticastObjectProp prop = { .numDevices = 2, .size = CHUNK, .handleTypes = SHAREABLE };
	CUmemGenericAllocationHandle team, own;
	CUmemAllocationProp on = memory_on(1);
	struct memcast_view view;
	int link, fd, done;
	long number;
	pid_t peer = (peer_fork)(&link);

	if (!peer) {
		prctl(PR_SET_NAME, "the dead rank");
		if (peer_receive(link, &number, &fd) || cuInit(0) ||
		    cuMemImportFromShareableHandle(&team, (void *)(intptr_t)fd, SHAREABLE) ||
		    cuMulticastAddDevice(team, 1) || cuMemCreate(&own, CHUNK, &on, 0) ||
		    cuMulticastBindMem(team, 0, own, 0, CHUNK, 0))
			_exit(1);
		_exit(0);
	}
	done = cuInit(0) || cuMulticastCreate(&team, &prop) || cuMulticastAddDevice(team, 0) ||
	       cuMemExportToShareableHandle(&fd, team, SHAREABLE, 0) || peer_send(link, 0, fd);
	if (done || waitpid(peer, NULL, 0) != peer || memcastViewCreate(&view, team, 0, CHUNK))
		return 1;
	return *(volatile int *)view.replica[1];
}

static int view_behind_the_end(void)
{
	volatile int *at = two_mappings(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	size_t offset;

	return memcastViewAt(ADDRESS(at) + 2 * CHUNK + 16, &offset) == NULL;
}

static int view_of_nothing(void)
{
	volatile int *at = two_mappings(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	size_t offset;

	return memcastViewAt(ADDRESS(at) + 16, &offset) == NULL;
}

/* A window on a team of which one device alone has memory, or NULL */
static volatile int *bound_by(int device)
{
	volatile int *at = two_mappings(CU_MEM_ACCESS_FLAGS_PROT_READWRITE) + CHUNK / sizeof(int);
	CUmemGenericAllocationHandle own, team;
	CUmemAllocationProp on = memory_on(device);
	CUcontext context;

	return cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
	       cuMemRetainAllocationHandle(&team, (void *)at) ||
	       cuMemCreate(&own, CHUNK, &on, 0) ||
	       cuMulticastBindMem(team, 0, own, 0, CHUNK, 0) ? NULL : at;
}

static volatile int *one_bound(void)
{
	return bound_by(0);
}

static int copies_with_one_bound(void)
{
	volatile int *at = one_bound();
	int word = 7;

	return at && !cuMemsetD32(ADDRESS(at), 5, 4) && !cuMemsetD8(ADDRESS(at), 5, 4) &&
	       !cuMemcpyHtoD(ADDRESS(at), &word, sizeof(word)) &&
	       !cuMemcpyDtoH(&word, ADDRESS(at), sizeof(word)) && word == 7;
}

static int copy_with_one_bound(void)
{
	volatile int *at = one_bound();
	int word = 7;

	return at && !cuMemcpyHtoD(ADDRESS(at), &word, sizeof(word));
}

/* A message must not end a program whose stderr nobody reads. */
static int copy_with_broken_stderr(void)
{
	int ends[2];

	signal(SIGPIPE, SIG_DFL);
	return !pipe(ends) && dup2(ends[1], STDERR_FILENO) >= 0 && !close(ends[0]) &&
	       copy_with_one_bound();
}

static int read_with_one_bound(void)
{
	volatile int *at = bound_by(1);
	int word = 7;

	return at && !cuMemcpyDtoH(&word, ADDRESS(at), sizeof(word)) && !word;
}

static int stores_with_one_bound(void)
{
	volatile int *at = one_bound();

	if (!at)
		return 0;
	at[0] = 7;
	at[1] = 8;
	memset((void *)at, 1, 4096);
	return at[0] == 0x01010101;
}

static void ask_library(int number, siginfo_t *info, void *context)
{
	_exit(memcastTrap(number, info, context) ? 3 : 2);
}

/* The program's own handler asks the library first. */
static int store_with_a_handler(void)
{
	struct sigaction action = { .sa_sigaction = ask_library, .sa_flags = SA_SIGINFO };
	volatile int *at = one_bound();

	if (at && !sigaction(SIGSEGV, &action, NULL))
		at[0] = 7;
	return 0;
}

static int store_nowhere(void)
{
	return cuInit(0) || (*(volatile int *)NULL = 1);
}

static int call_without_init(void)
{
	cuInit(0);
	return cuDeviceGetCount(NULL) == CUDA_ERROR_NOT_INITIALIZED;
}

/* Device 1 joins as the last one, once the log says that it is missing. */
static void *join_when_missed(void *data)
{
	CUmemGenericAllocationHandle team = *(CUmemGenericAllocationHandle *)data;
	static char lines[4096];
	size_t size;

	do {
		size = sizeof(lines);
		usleep(1000);
	} while (cuLogsDumpToMemory(NULL, lines, &size, 0) || !strstr(lines, " missing: "));
	cuMulticastAddDevice(team, 1);
	return NULL;
}

static int wait_for_a_member(void)
{
	CUmulticastObjectProp prop = { .numDevices = 2, .size = CHUNK };
	CUmemAllocationProp on = memory_on(0);
	CUmemGenericAllocationHandle own, team;
	pthread_t thread;

	return !cuInit(0) && !cuMulticastCreate(&team, &prop) && !cuMulticastAddDevice(team, 0) &&
	       !cuMemCreate(&own, CHUNK, &on, 0) &&
	       !pthread_create(&thread, NULL, join_when_missed, &team) &&
	       !cuMulticastBindMem(team, 0, own, 0, CHUNK, 0) && !pthread_join(thread, NULL);
}

static void *join_both_when_missed(void *data)
{
	join_when_missed(data);
	cuMulticastAddDevice(*(CUmemGenericAllocationHandle *)data, 0);
	return NULL;
}

/* The process binds before its devices join; another thread adds them once the log says so. */
static int wait_for_oneself(void)
{
	CUmulticastObjectProp prop = { .numDevices = 2, .size = CHUNK };
	CUmemAllocationProp on = memory_on(0);
	CUmemGenericAllocationHandle own, team;
	pthread_t thread;

	return !cuInit(0) && !cuMulticastCreate(&team, &prop) &&
	       !cuMemCreate(&own, CHUNK, &on, 0) &&
	       !pthread_create(&thread, NULL, join_both_when_missed, &team) &&
	       !cuMulticastBindMem(team, 0, own, 0, CHUNK, 0) && !pthread_join(thread, NULL);
}

static const struct role roles[] = {
	{ "load_without_access", load_without_access },
	{ "store_read_only", store_read_only },
	{ "store_unbound", store_unbound },
	{ "load_unmapped", load_unmapped },
	{ "load_taken_away", load_taken_away },
	{ "load_in_a_child", load_in_a_child },
	{ "load_unbound_by_us", load_unbound_by_us },
	{ "load_of_the_dead", load_of_the_dead },
	{ "call_without_init", call_without_init },
	{ "wait_for_a_member", wait_for_a_member },
	{ "wait_for_oneself", wait_for_oneself },
	{ "copies_with_one_bound", copies_with_one_bound },
	{ "copy_with_one_bound", copy_with_one_bound },
	{ "copy_with_broken_stderr", copy_with_broken_stderr },
	{ "read_with_one_bound", read_with_one_bound },
	{ "stores_with_one_bound", stores_with_one_bound },
	{ "store_with_a_handler", store_with_a_handler },
	{ "store_nowhere", store_nowhere },
	{ "view_behind_the_end", view_behind_the_end },
	{ "view_of_nothing", view_of_nothing },
	{ }
};

/* A fault that ends the program says why, if memcast reserved the address. */
TEST_F(words, last_words)
{
	static const struct {
		const char *role, *words;
	} ends[] = {
		{ "load_without_access", "]: a load ends the program: " SAID_INSTRUCTION },
		{ "load_without_access", ": cuMemSetAccess() has let nobody read memory " },
		{ "store_read_only", ": cuMemSetAccess() has let nobody write memory " },
		{ "store_unbound", ": no device has memory at byte 0 of team " },
		{ "store_unbound", " yet: cuMulticastBindMem() binds some\n" },
		{ "load_unmapped", ": nothing is mapped there; cuMemMap() does that\n" },
		{ "load_taken_away",
		  ": nothing is mapped there any more: cuMemUnmap() took memory " },
		{ "load_unbound_by_us",
		  " any more: device 1's was the last, this process unbound it\n" },
		{ "load_of_the_dead", ": device 1 has no memory at byte 0 of team " },
		{ "load_of_the_dead", " any more: its last owner, " },
		{ "load_of_the_dead", " (the dead rank), has ended\n" },
		{ "load_in_a_child",
		  ": a child of fork() has none of its parent's device memory: " },
	};
	char said[4096];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		EXPECT_EQ(128, run_role(ends[i].role, "MEMCAST_STRICT=0", said));
		EXPECT_NE(NULL, strstr(said, ends[i].words))
			TH_LOG("%s: %s", ends[i].role, said);
	}
	EXPECT_EQ(128, run_role("store_nowhere", "MEMCAST_STRICT=0", said));
	EXPECT_STREQ("", said);
	EXPECT_EQ(128, run_role("load_unmapped", "MEMCAST_TRAP=0", said));
	EXPECT_STREQ("", said);

	/* with MEMCAST_STRICT, the same fault is reported only once */
	EXPECT_EQ(128, run_role("store_unbound", "MEMCAST_STRICT=1", said));
	EXPECT_EQ(1, count_lines(said))
		TH_LOG("%s", said);
	EXPECT_EQ(128, run_role("load_without_access", "MEMCAST_STRICT=1", said));
	EXPECT_EQ(1, count_lines(said))
		TH_LOG("%s", said);
}

/* Writes the numbers of the devices from @first on, as a line of the log has them. */
static void name_devices(char *words, size_t size, unsigned int first)
{
	unsigned int device, most = 12;
	int length = 0;

	for (device = first; device_bytes(device, "pool_bytes") >= 0; device++)
		if (device - first < most)
			length += snprintf(words + length, size - length, "%s%u",
					   device > first ? ", " : "", device);
	if (device - first > most)
		snprintf(words + length, size - length, ", and %u more", device - first - most);
}

/* A call that waits for a team's members says so once on stderr, wherever else the log goes. */
TEST_F(words, missing_member)
{
	static const char *const settings[] = { "UNRELATED=1", "CUDA_LOG_FILE=stderr" };
	char said[4096], words[128], missing[200];

	name_devices(words, sizeof(words), 1);
	snprintf(missing, sizeof(missing), " missing: 1 of the devices %s (cuMulticastAddDevice)\n",
		 words);
	for (unsigned int i = 0; i < ARRAY_SIZE(settings); i++) {
		EXPECT_EQ(0, run_role("wait_for_a_member", settings[i], said));
		EXPECT_EQ(1, count_lines(said));
		EXPECT_SAYS(said, "]: cuMulticastBindMem has waited ");
		EXPECT_SAYS(said, ": 1 of 2 devices have joined: 0 (this process);");
		EXPECT_SAYS(said, missing);
	}
	EXPECT_EQ(0, run_role("wait_for_oneself", "UNRELATED=1", said));
	EXPECT_SAYS(said, ": 0 of 2 devices have joined; missing: 2 of the devices 0, 1");
	EXPECT_SAYS(said, "; this process has added none (cuMulticastAddDevice)\n");
}

/* Copies and stores to a window that miss a member succeed, and each kind is reported once. */
TEST_F(words, missed_member)
{
	static const char *const settings[] = { "UNRELATED=1", "CUDA_LOG_FILE=stderr" };
	char said[4096];

	for (unsigned int i = 0; i < ARRAY_SIZE(settings); i++) {
		EXPECT_EQ(0, run_role("copies_with_one_bound", settings[i], said));
		EXPECT_EQ(1, count_lines(said))
			TH_LOG("%s", said);
		EXPECT_SAYS(said, "]: a copy or fill does not reach every replica: "
			    "device 1 has no memory at byte 0 of team ");
		EXPECT_SAYS(said, " yet: cuMulticastBindMem() binds some (said once)\n");
	}
	EXPECT_EQ(0, run_role("copy_with_one_bound", "UNRELATED=1", said));
	EXPECT_SAYS(said, "]: a copy or fill does not reach every replica: device 1 ");
	EXPECT_EQ(0, run_role("copy_with_one_bound", "CUDA_VISIBLE_DEVICES=1,0", said));
	EXPECT_SAYS(said, "]: a copy or fill does not reach every replica: device 0 ");
	EXPECT_SAYS(said, " (devices numbered as without CUDA_VISIBLE_DEVICES) (said once)\n");

	EXPECT_EQ(0, run_role("copy_with_broken_stderr", "UNRELATED=1", said));

	/* a copy that reads has all that it asks for */
	EXPECT_EQ(0, run_role("read_with_one_bound", "UNRELATED=1", said));
	EXPECT_STREQ("", said);

	EXPECT_EQ(3, run_role("store_with_a_handler", "MEMCAST_STRICT=0", said));
	EXPECT_EQ(2, run_role("store_with_a_handler", "MEMCAST_TRAP=0", said));
	EXPECT_STREQ("", said);
	/* the other line says that plain stores are slow */
	EXPECT_EQ(0, run_role("stores_with_one_bound", "MEMCAST_STRICT=0", said));
	EXPECT_EQ(2, count_lines(said))
		TH_LOG("%s", said);
	EXPECT_SAYS(said, "]: a plain store to a team's address, 0x");
	EXPECT_SAYS(said, ", does not reach every replica: "
		    "device 1 has no memory at byte 0 of team ");
	EXPECT_SAYS(said, " yet: cuMulticastBindMem() binds some (said once)\n");
}

/* A failed memcastViewAt() says how far the address is behind the end of a team's mapping. */
TEST_F(words, behind_the_end)
{
	char said[4096];

	EXPECT_EQ(0, run_role("view_behind_the_end", "CUDA_LOG_FILE=stderr", said));
	EXPECT_SAYS(said, ", 16 bytes behind the end of team ");
	EXPECT_SAYS(said, "'s mapping of 2097152 bytes\n");
	EXPECT_EQ(0, run_role("view_of_nothing", "CUDA_LOG_FILE=stderr", said));
	EXPECT_SAYS(said, ": no team is mapped at ");
	EXPECT_EQ(NULL, strstr(said, "behind the end"))
		TH_LOG("%s", said);
}

/* A call after a failed cuInit() says why cuInit() failed. */
TEST_F(words, failed_init)
{
	char said[4096];

	EXPECT_EQ(0, run_role("call_without_init", "MEMCAST_INJECT=cuInit:802", said));
	EXPECT_STREQ("", said);
	ASSERT_EQ(0, setenv("MEMCAST_INJECT", "cuInit:802", 1));
	EXPECT_EQ(0, run_role("call_without_init", "CUDA_LOG_FILE=stderr", said));
	EXPECT_SAYS(said, "cuDeviceGetCount(count=(nil)): CUDA_ERROR_NOT_INITIALIZED: "
		    "cuInit() has failed: CUDA_ERROR_SYSTEM_NOT_READY: "
		    "injected by MEMCAST_INJECT; mend that and call it again\n");
}

TEST_HARNESS_MAIN
