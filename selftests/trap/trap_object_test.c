// SPDX-License-Identifier: MIT
/*
 * memcast-trap.so: which programs load it, from which folder, and what stderr says if it is
 * missing.
 */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include "log_lines.h"
#include "role.h"

FIXTURE(object) { char unused; };
FIXTURE_SETUP(object) { }
NOTHING_LEFT(object)

static bool is_loaded(const char *name)
{
	static char maps[1 << 20];
	FILE *file = fopen("/proc/self/maps", "re");
	size_t length = file ? fread(maps, 1, sizeof(maps) - 1, file) : 0;

	if (file)
		fclose(file);
	maps[length] = '\0';
	return strstr(maps, name);
}

static bool object_is_loaded(void)
{
	return is_loaded("/memcast-trap.so") && is_loaded("/libZydis.so");
}

static bool nothing_is_loaded(void)
{
	return !is_loaded("/memcast-trap.so") && !is_loaded("/libZydis.so");
}

static bool map_and_allow(CUmemGenericAllocationHandle handle, CUdeviceptr *at)
{
	return !cuMemAddressReserve(at, CHUNK, 0, 0, 0) && !cuMemMap(*at, CHUNK, 0, handle, 0) &&
	       !allow(*at, CHUNK, 0, READWRITE);
}

static CUmemGenericAllocationHandle team_of_two(void)
{
	CUmulticastObjectProp prop = { .numDevices = 2, .size = CHUNK, .handleTypes = SHAREABLE };
	CUmemGenericAllocationHandle team = 0;

	return cuInit(0) || cuMulticastCreate(&team, &prop) || cuMulticastAddDevice(team, 0) ||
	       cuMulticastAddDevice(team, 1) ? 0 : team;
}

/* Maps a team with one device's memory, and stores to the team. */
static bool store_to_team(CUmemGenericAllocationHandle team, CUmemGenericAllocationHandle own)
{
	volatile int *replica;
	CUdeviceptr at, shown;

	if (cuMulticastBindMem(team, 0, own, 0, CHUNK, 0) || !map_and_allow(team, &at) ||
	    !map_and_allow(own, &shown))
		return false;
	replica = (int *)shown;
	*(volatile int *)at = 7;
	return *replica == 7;
}

static bool memory_of_own(CUmemGenericAllocationHandle *own)
{
	CUmemAllocationProp on = memory_on(0);

	return !cuMemCreate(own, CHUNK, &on, 0);
}

/* Neither memory nor a team loads the object; mapping the team does. */
static int first_team(void)
{
	CUmemGenericAllocationHandle own, team = team_of_two();
	CUdeviceptr at;

	return team && memory_of_own(&own) && map_and_allow(own, &at) && nothing_is_loaded() &&
	       store_to_team(team, own) && object_is_loaded();
}

/* The process imports the team instead of creating it. */
static int imported_team(void)
{
	CUmemGenericAllocationHandle own, team;
	long number;
	int link, fd;
	pid_t peer = (peer_fork)(&link);

	if (!peer) {
		team = team_of_two();
		if (!team || cuMemExportToShareableHandle(&fd, team, SHAREABLE, 0) ||
		    peer_send(link, 0, fd) || peer_receive(link, &number, NULL))
			_exit(1);
		_exit(0);
	}
	return !peer_receive(link, &number, &fd) && !cuInit(0) &&
	       !cuMemImportFromShareableHandle(&team, (void *)(intptr_t)fd, SHAREABLE) &&
	       memory_of_own(&own) && nothing_is_loaded() && store_to_team(team, own) &&
	       object_is_loaded() && !peer_send(link, 0, -1);
}

static int not_wanted(void)
{
	CUmemGenericAllocationHandle team = team_of_two();
	CUdeviceptr at;

	return team && map_and_allow(team, &at) && nothing_is_loaded();
}

/* The library was found by a relative path, which names another file after chdir(). */
static int moved_away(void)
{
	CUmemGenericAllocationHandle own, team = team_of_two();

	return team && !chdir("/") && memory_of_own(&own) && store_to_team(team, own) &&
	       object_is_loaded();
}

static int store_without(void)
{
	CUmemGenericAllocationHandle own, team = team_of_two();

	return team && memory_of_own(&own) && store_to_team(team, own);
}

static pid_t mapper;		/* a thread that is about to map a team */

static void *map_team(void *team)
{
	CUdeviceptr at;

	__atomic_store_n(&mapper, gettid(), __ATOMIC_SEQ_CST);
	return map_and_allow((CUmemGenericAllocationHandle)team, &at) ? team : NULL;
}

/* Nobody reads stderr: the thread that writes to it waits, and no other thread does. */
static int map_beside(void)
{
	CUmemGenericAllocationHandle team = team_of_two(), other = team_of_two();
	char byte = 0;
	pthread_t thread;
	CUdeviceptr at;
	void *mapped;
	int ends[2];

	if (!team || !other || pipe(ends) || fcntl(ends[1], F_SETFL, O_NONBLOCK))
		return false;
	while (write(ends[1], &byte, 1) == 1)
		;
	if (fcntl(ends[1], F_SETFL, 0) || dup2(ends[1], STDERR_FILENO) < 0 ||
	    pthread_create(&thread, NULL, map_team, (void *)team))
		return false;
	while (!__atomic_load_n(&mapper, __ATOMIC_SEQ_CST))
		sched_yield();
	if (!sleeps(getpid(), mapper) || !map_and_allow(other, &at))
		return false;
	signal(SIGPIPE, SIG_IGN);
	close(ends[0]);
	return !pthread_join(thread, &mapped) && mapped == (void *)team;
}

/* With no file descriptor left the object is not loaded; the next team tries again. */
static int tried_again(void)
{
	CUmemGenericAllocationHandle own, team = team_of_two(), other = team_of_two();
	int next = dup(STDERR_FILENO);
	struct rlimit limit, none;
	CUdeviceptr at;

	if (!team || !other || !memory_of_own(&own) || next < 0 || close(next) ||
	    getrlimit(RLIMIT_NOFILE, &limit))
		return false;
	none = (struct rlimit) { .rlim_cur = next, .rlim_max = limit.rlim_max };
	if (setrlimit(RLIMIT_NOFILE, &none) || !map_and_allow(other, &at) ||
	    setrlimit(RLIMIT_NOFILE, &limit) || !nothing_is_loaded())
		return false;
	return store_to_team(team, own);
}

/* ---- a plain store in a program that has loaded the library late */

static volatile bool counting;
static unsigned int allocations;

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size)
{
	allocations += counting;
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	allocations += counting;
	return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	allocations += counting;
	return __libc_realloc(old, size);
}

int vsnprintf(char *text, size_t size, const char *format, va_list arguments)
{
	typeof(&vsnprintf) next = (typeof(&vsnprintf))dlsym(RTLD_NEXT, "vsnprintf");

	allocations += counting;
	return next(text, size, format, arguments);
}

static sigjmp_buf out;

static void jump(int number)
{
	siglongjmp(out, number);
}

/* Stores to a window and behind it, where nothing is mapped. */
static void *store_here(void *at)
{
	volatile int *window = at;

	counting = true;
	*window = 7;
	if (!sigsetjmp(out, 1))
		window[CHUNK / sizeof(int)] = 8;
	counting = false;
	return at;
}

#define NAME(name)		NAME_OF(name)
#define NAME_OF(name)		#name
#define LATE(function)		((typeof(&function))dlsym(library, NAME(function)))

/*
 * The library in the folder LATE, which is not the one that the program is linked with: its
 * thread-local memory is made when a thread first uses it. This thread has not, nor has the team a
 * view yet; the signal could have interrupted malloc().
 */
static int nothing_allocated(void)
{
	CUmulticastObjectProp prop = { .numDevices = 2, .size = CHUNK };
	void *library = dlopen(getenv("LATE"), RTLD_NOW | RTLD_LOCAL);
	CUmemAccessDesc access = { memory_on(0).location, READWRITE };
	CUmemAllocationProp on = memory_on(0);
	CUmemGenericAllocationHandle team, own;
	pthread_t thread;
	CUdeviceptr at;

	signal(SIGSEGV, jump);
	if (!library || LATE(cuInit) == cuInit || LATE(cuInit)(0) ||
	    LATE(cuMulticastCreate)(&team, &prop) || LATE(cuMulticastAddDevice)(team, 0) ||
	    LATE(cuMulticastAddDevice)(team, 1) || LATE(cuMemCreate)(&own, CHUNK, &on, 0) ||
	    LATE(cuMulticastBindMem)(team, 0, own, 0, CHUNK, 0) ||
	    LATE(cuMemAddressReserve)(&at, 3 * CHUNK, 0, 0, 0) ||
	    LATE(cuMemMap)(at, CHUNK, 0, team, 0) ||
	    LATE(cuMemMap)(at + 2 * CHUNK, CHUNK, 0, team, 0) ||
	    LATE(cuMemSetAccess)(at, CHUNK, &access, 1) ||
	    pthread_create(&thread, NULL, store_here, (void *)at) || pthread_join(thread, NULL))
		return false;
	fprintf(stderr, "%u calls that allocate or print\n", allocations);
	return !allocations && *(volatile int *)at == 7;
}

static const struct role roles[] = {
	{ "first_team", first_team },
	{ "imported_team", imported_team },
	{ "not_wanted", not_wanted },
	{ "moved_away", moved_away },
	{ "store_without", store_without },
	{ "map_beside", map_beside },
	{ "tried_again", tried_again },
	{ "nothing_allocated", nothing_allocated },
	{ }
};

TEST_F(object, loaded_by_the_first_team)
{
	char said[4096];

	EXPECT_EQ(0, run_role("first_team", "UNRELATED=1", said))
		TH_LOG("%s", said);
	EXPECT_EQ(0, run_role("imported_team", "UNRELATED=1", said))
		TH_LOG("%s", said);
}

TEST_F(object, not_where_nobody_wants_it)
{
	char said[4096];

	EXPECT_EQ(0, run_role("not_wanted", "MEMCAST_TRAP=0", said));
	EXPECT_STREQ("", said);
}

#define folder_of_library(folder)	folder_of_library_(_metadata, folder)
static void folder_of_library_(struct __test_metadata *_metadata, char *folder)
{
	Dl_info info;

	ASSERT_NE(0, dladdr((void *)cuInit, &info));
	ASSERT_NE(NULL, realpath(info.dli_fname, folder));
	*strrchr(folder, '/') = '\0';
}

TEST_F(object, found_beside_the_library)
{
	char folder[PATH_MAX], here[PATH_MAX], said[4096];

	folder_of_library(folder);
	ASSERT_NE(NULL, getcwd(here, sizeof(here)));
	ASSERT_EQ(0, setenv("LD_LIBRARY_PATH", ".", 1));
	ASSERT_EQ(0, chdir(folder));
	EXPECT_EQ(0, run_role("moved_away", "UNRELATED=1", said))
		TH_LOG("%s", said);
	ASSERT_EQ(0, chdir(here));
}

static bool copy_file(const char *from, const char *to)
{
	char command[3 * PATH_MAX];

	snprintf(command, sizeof(command), "cp -L '%s' '%s'", from, to);
	return !system(command);
}

/*
 * A copy of libcuda.so.1 without memcast-trap.so: stores stay faults, and stderr says what to do.
 */
TEST_F(object, missing)
{
	char folder[PATH_MAX], from[PATH_MAX + 20], to[64], said[4096];
	char place[] = "/tmp/memcast-alone-XXXXXX";

	folder_of_library(folder);
	ASSERT_NE(NULL, mkdtemp(place));
	snprintf(from, sizeof(from), "%s/libcuda.so.1", folder);
	snprintf(to, sizeof(to), "%s/libcuda.so.1", place);
	ASSERT_TRUE(copy_file(from, to));
	ASSERT_EQ(0, setenv("LD_LIBRARY_PATH", place, 1));

	EXPECT_EQ(128, run_role("store_without", "UNRELATED=1", said));
	EXPECT_SAYS(said, "memcast: plain stores to a team's address stay faults: ");
	EXPECT_SAYS(said, place);
	EXPECT_SAYS(said, " belongs into the folder of libcuda.so.1");
	EXPECT_SAYS(said, "this store to a team's address cannot reach every replica: "
		    "the instruction at 0x");
	EXPECT_SAYS(said, "memcast-trap.so was not loaded when the team was mapped\n");
	EXPECT_EQ(0, run_role("not_wanted", "MEMCAST_TRAP=0", said));
	EXPECT_STREQ("", said);
	EXPECT_EQ(0, run_role("map_beside", "UNRELATED=1", said));
	unlink(to);
	rmdir(place);
}

TEST_F(object, tried_again)
{
	char said[4096];

	EXPECT_EQ(0, run_role("tried_again", "UNRELATED=1", said))
		TH_LOG("%s", said);
	EXPECT_SAYS(said, "The next team that is mapped tries again.");
}

TEST_F(object, nothing_allocated_in_a_signal)
{
	char folder[PATH_MAX], from[PATH_MAX + 20], setting[80], said[4096];
	char place[] = "/tmp/memcast-late-XXXXXX", library[64], object[64];

	folder_of_library(folder);
	ASSERT_NE(NULL, mkdtemp(place));
	snprintf(library, sizeof(library), "%s/libcuda.so.1", place);
	snprintf(object, sizeof(object), "%s/memcast-trap.so", place);
	snprintf(from, sizeof(from), "%s/libcuda.so.1", folder);
	ASSERT_TRUE(copy_file(from, library));
	snprintf(from, sizeof(from), "%s/memcast-trap.so", folder);
	ASSERT_TRUE(copy_file(from, object));
	snprintf(setting, sizeof(setting), "LATE=%s", library);
	EXPECT_EQ(0, run_role("nothing_allocated", setting, said))
		TH_LOG("%s", said);
	unlink(library);
	unlink(object);
	rmdir(place);
}

TEST_HARNESS_MAIN
