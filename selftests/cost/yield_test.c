// SPDX-License-Identifier: MIT
/*
 * However many objects a user has, none of his calls keeps a processor for long: a worker makes a
 * million mappings, bindings and attachments, and some of all other objects, and then the calls
 * that walk them, beside a watcher of a higher priority on the same processor. The watcher sleeps
 * most of the time, and records how long it waits for the processor after each wake-up.
 *
 * With MEMCAST_TEST_EXACT=1 the machine must be one whose clock counts instructions
 * (memcast-vm --icount --cpus 1): a million of them are a millisecond, and no other program ever
 * comes in between. Too long is 5 ms, and 7 ms for an exit, after which the kernel's RCU frees
 * objects, with a limit of its own of some 3 ms. selftests/cost/host-yield.sh runs it so. On other
 * machines a busy host can hold up the watcher as well, so that the test prints what it
 * measured and judges nothing: there it serves kernels that report lockups themselves.
 */
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include "importer.h"
#include "memcast_test.h"
#include "peers.h"
#include "raw.h"
#include "yield_watcher.h"

#define MANY		(1U << 20)		/* the most bindings that one call makes */
#define PAGES		(1U << 18)		/* the most pages that one range exports */
#define SOME		(1U << 16)

/* ---- the worker, in a process of its own ---- */

struct worker {
	int client, second;		/* clients; the second has the pages, handles and heaps */
	int importer;
	unsigned int mappings, pages, others;	/* how many the worker makes */
	uint32_t memory[2], page, team;
	uint64_t at, windows, pages_at;	/* reservations: of a memory, a team, a page */
	int fd, range;			/* dma-bufs: of a memory, of the pages */
	uint32_t attachment;		/* of the range */
};

#define DO_AS(client, NAME, name, ...)						\
({										\
	struct memcast_##name argument_ = { __VA_ARGS__ };			\
	ASSERT_EQ(0, RAW(client, NAME, argument_));				\
	argument_;								\
})
#define DO(NAME, name, ...)	DO_AS(w->client, NAME, name, __VA_ARGS__)

static uint64_t reservation(struct __test_metadata *_metadata, int client, size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, client, 0);

	ASSERT_NE(MAP_FAILED, at);
	return (uintptr_t)at;
}

static void make_objects(struct __test_metadata *_metadata, struct worker *w)
{
	const char *why;
	unsigned int i;

	w->client = open("/dev/memcast", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, w->client);
	w->second = open("/dev/memcast", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, w->second);
	w->importer = importer_open(&why);
	w->team = DO(TEAM_CREATE, team_create, .bytes = (w->mappings + 1) * CHUNK,
		     .devices = 2).out_handle;
	for (i = 0; i < 2; i++) {
		w->memory[i] = DO(MEMORY_CREATE, memory_create, .bytes = CHUNK,
				  .location = MEMCAST_LOCATION_DEVICE, .location_id = i,
				  .handle_types = MEMCAST_HANDLE_FD).out_handle;
		DO(TEAM_ADD, team_add, .team = w->team, .device = i);
	}
	w->page = DO_AS(w->second, MEMORY_CREATE, memory_create, .bytes = PAGE,
			.location = MEMCAST_LOCATION_HOST).out_handle;
	w->fd = DO(EXPORT, export, .handle = w->memory[0],
		   .handle_type = MEMCAST_HANDLE_FD).out_fd;
	w->at = reservation(_metadata, w->client, (w->mappings + 1) * CHUNK);
	w->windows = reservation(_metadata, w->client, w->others * CHUNK);
	w->pages_at = reservation(_metadata, w->second, (w->pages + 1) * PAGE);
}

/*
 * Each of these functions makes many short calls. Of chunks and of pages there is one mapping more
 * than one call walks; every second mapping of the team shows a replica.
 */
static void make_mappings(struct __test_metadata *_metadata, struct worker *w)
{
	for (unsigned long i = 0; i <= w->mappings; i++)
		DO(MAP, map, .handle = w->memory[0], .address = w->at + i * CHUNK,
		   .bytes = CHUNK);
	for (unsigned long i = 0; i <= w->pages; i++)
		DO_AS(w->second, MAP, map, .handle = w->page, .address = w->pages_at + i * PAGE,
		      .bytes = PAGE);
	for (unsigned long i = 0; i < w->others; i++)
		DO(MAP, map, .handle = w->team, .address = w->windows + i * CHUNK,
		   .bytes = CHUNK, .flags = i % 2 ? MEMCAST_MAP_REPLICA : 0);
}

static void make_attachments(struct __test_metadata *_metadata, struct worker *w)
{
	unsigned int most = importer_is_debugged() ? IMPORTER_DEBUG_MAPPINGS : w->mappings;
	uint32_t id = 0;

	for (unsigned int i = 0; w->importer >= 0 && i < most; i++) {
		if (i % MEMCAST_IMPORTER_SLOTS == 0)
			ASSERT_EQ(0, importer_attach(w->importer, w->fd, &id));
		ASSERT_EQ(0, importer_map(w->importer, id, i % MEMCAST_IMPORTER_SLOTS,
					  MEMCAST_IMPORTER_BOTH, NULL));
	}
}

static void make_handles_and_heaps(struct __test_metadata *_metadata, struct worker *w)
{
	char *own = mmap(NULL, w->others, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);

	for (unsigned int i = 0; i < w->others; i++) {
		DO_AS(w->second, IMPORT, import, .handle_type = MEMCAST_HANDLE_FD, .fd = w->fd);
		DO_AS(w->second, HEAP_CREATE, heap_create, .location = MEMCAST_LOCATION_DEVICE);
		DO_AS(w->second, BLOCK_REGISTER, block_register, .address = (uintptr_t)own + i,
		      .bytes = 1);
	}
}

/* Computes without a system call, for comparison. */
static void compute(struct __test_metadata *_metadata, struct worker *w)
{
	for (volatile unsigned int i = 0; i < 100 * w->others; i++)
		ASSERT_LE(0, w->client);
}

/* Each of the following functions makes one or two calls that walk all objects of a kind. */
static void set_access(struct __test_metadata *_metadata, struct worker *w)
{
	struct memcast_access_entry entry = {
		.location = MEMCAST_LOCATION_DEVICE, .access = MEMCAST_ACCESS_READWRITE,
	};

	DO(SET_ACCESS, set_access, .address = w->at, .bytes = w->mappings * CHUNK,
	   .entries = (uintptr_t)&entry, .count = 1);
}

static void check_a_copy(struct __test_metadata *_metadata, struct worker *w)
{
	DO(COPY, copy, .to = w->at, .from = w->at, .bytes = w->mappings * CHUNK,
	   .flags = MEMCAST_COPY_CHECK);
}

static void bind_addresses(struct __test_metadata *_metadata, struct worker *w)
{
	DO(BIND_ADDRESS, bind_address, .team = w->team, .address = w->at,
	   .bytes = w->mappings * CHUNK);
}

/* Binds one mapping more than a call takes. */
static void bind_too_many(struct __test_metadata *_metadata, struct worker *w)
{
	struct memcast_bind_address bind = {
		.team = w->team, .address = w->at, .bytes = (w->mappings + 1) * CHUNK,
	};

	if (w->mappings == MANY)
		ASSERT_EQ(ENOMEM, RAW(w->client, BIND_ADDRESS, bind));
}

/* The windows and the first member's replicas show the first chunk. */
static void bind_a_second_member(struct __test_metadata *_metadata, struct worker *w)
{
	DO(BIND_MEMORY, bind_memory, .team = w->team, .device = 1, .memory = w->memory[1],
	   .bytes = CHUNK);
}

static void unbind_the_first(struct __test_metadata *_metadata, struct worker *w)
{
	DO(UNBIND, unbind, .team = w->team, .device = 0, .bytes = w->mappings * CHUNK);
}

static void unbind_the_second(struct __test_metadata *_metadata, struct worker *w)
{
	DO(UNBIND, unbind, .team = w->team, .device = 1, .bytes = CHUNK);
}

static void export_the_range(struct __test_metadata *_metadata, struct worker *w)
{
	/* A device gets the range, which is the same page over and over. */
	unsigned long pages = importer_is_debugged() ? IMPORTER_DEBUG_MAPPINGS : w->pages;

	w->range = DO_AS(w->second, EXPORT_RANGE, export_range, .address = w->pages_at,
			 .bytes = pages * PAGE).out_fd;
}

static void export_too_much(struct __test_metadata *_metadata, struct worker *w)
{
	struct memcast_export_range range = {
		.address = w->pages_at, .bytes = (w->pages + 1) * PAGE,
	};

	if (w->pages == PAGES)
		ASSERT_EQ(ENOMEM, RAW(w->second, EXPORT_RANGE, range));
}

static void map_it_for_a_device(struct __test_metadata *_metadata, struct worker *w)
{
	if (w->importer < 0)
		return;
	ASSERT_EQ(0, importer_attach(w->importer, w->range, &w->attachment));
	ASSERT_EQ(0, importer_map(w->importer, w->attachment, 0, MEMCAST_IMPORTER_BOTH, NULL));
}

static void map_it_for_the_kernel(struct __test_metadata *_metadata, struct worker *w)
{
	if (w->importer >= 0)
		ASSERT_EQ(0, importer_map(w->importer, w->attachment, MEMCAST_IMPORTER_VMAP,
					  MEMCAST_IMPORTER_BOTH, NULL));
}

static void detach_it(struct __test_metadata *_metadata, struct worker *w)
{
	if (w->importer >= 0)
		ASSERT_EQ(0, importer_detach(w->importer, w->attachment));
	ASSERT_EQ(0, close(w->range));
}

static void bracket_an_access(struct __test_metadata *_metadata, struct worker *w)
{
	ASSERT_EQ(0, dma_buf_sync(w->fd, DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW));
	ASSERT_EQ(0, dma_buf_sync(w->fd, DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW));
}

/* The kernel prints the whole file before the first byte can be read. */
static void read_fdinfo(struct __test_metadata *_metadata, struct worker *w)
{
	char path[64], text[PAGE_MOST];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", w->second);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_LT(0, read(fd, text, sizeof(text)));
	close(fd);
}

struct act {
	const char *name;
	void (*run)(struct __test_metadata *_metadata, struct worker *w);
};

static const struct act first_acts[] = {
	{ "make objects", make_objects },
	{ "make mappings", make_mappings },
	{ "make attachments", make_attachments },
	{ "make handles and heaps", make_handles_and_heaps },
};

/* All can be repeated in this order; computing comes first. */
static const struct act acts[] = {
	{ "compute", compute },
	{ "set access", set_access },
	{ "check a copy", check_a_copy },
	{ "bind too many", bind_too_many },
	{ "bind addresses", bind_addresses },
	{ "bind a second member", bind_a_second_member },
	{ "unbind the first", unbind_the_first },
	{ "bind again, before the second", bind_addresses },
	{ "unbind the second", unbind_the_second },
	{ "export too much", export_too_much },
	{ "export a range", export_the_range },
	{ "map it for a device", map_it_for_a_device },
	{ "map it for the kernel", map_it_for_the_kernel },
	{ "detach it", detach_it },
	{ "bracket an access", bracket_an_access },
	{ "read fdinfo", read_fdinfo },
	{ "unbind", unbind_the_first },
};

static const struct act last_act = { "bind", bind_addresses };

static void work(struct __test_metadata *_metadata, int link)
{
	struct worker worker = {
		.mappings = loops(MANY), .pages = loops(PAGES), .others = loops(SOME),
	};

	run_on_cpu(0);
	for (;;) {
		const struct act *act = (const struct act *)receive_number(link);

		act->run(_metadata, &worker);
		send_number(link, 0);
	}
}

/* ---- the test ---- */

/* Milliseconds, where a million instructions are one */
#define LIMIT		5.0
#define LIMIT_OF_EXIT	7.0

FIXTURE(yield)
{
	struct watcher watcher;
};

FIXTURE_SETUP(yield)
{
	if (geteuid())
		SKIP(return, "only root may be of a higher priority");
	start_watching(_metadata, &self->watcher);
	if (!self->watcher.exact)
		run_on_cpu(1);
}

FIXTURE_TEARDOWN(yield)
{
	self->watcher.stop = true;
	pthread_join(self->watcher.thread, NULL);
}

/* @act: NULL to kill the worker. Return: the watcher's longest wait meanwhile, in milliseconds */
static double watched(struct __test_metadata *_metadata, FIXTURE_DATA(yield) *self, pid_t pid,
		      int link, const struct act *act)
{
	self->watcher.longest = 0;
	if (act) {
		send_number(link, (long)act);
		receive_number(link);
	} else {
		ASSERT_EQ(0, kill(pid, SIGKILL));
		reap_child(pid);
		peer_close(link);
	}
	return self->watcher.longest / 1e6;
}

static pid_t start_worker(struct __test_metadata *_metadata, FIXTURE_DATA(yield) *self, int *link)
{
	pid_t pid = peer_fork(link);
	unsigned int i;

	if (!pid)
		work(_metadata, *link);
	for (i = 0; i < ARRAY_SIZE(first_acts); i++)
		watched(_metadata, self, pid, *link, &first_acts[i]);
	return pid;
}

TEST_F(yield, calls_and_exit)
{
	double longest[ARRAY_SIZE(acts) + 1];
	unsigned int i;
	pid_t pid;
	int link;

	pid = start_worker(_metadata, self, &link);
	for (i = 0; i < ARRAY_SIZE(acts); i++)
		longest[i] = watched(_metadata, self, pid, link, &acts[i]);
	/* the worker is killed with everything in place */
	watched(_metadata, self, pid, link, &last_act);
	longest[i] = watched(_metadata, self, pid, link, NULL);

	TH_LOG("the longest stretch that does not yield:");
	for (i = 0; i <= ARRAY_SIZE(acts); i++)
		TH_LOG("%8.2f ms  %s", longest[i],
		       i < ARRAY_SIZE(acts) ? acts[i].name : "kill, with all in place");
	if (!self->watcher.exact)
		SKIP(return, "this clock does not count instructions, so nothing is judged");
	for (i = 0; i < ARRAY_SIZE(acts); i++)
		EXPECT_GE(LIMIT, longest[i]);
	EXPECT_GE(LIMIT_OF_EXIT, longest[i]);
}

TEST_HARNESS_MAIN
