// SPDX-License-Identifier: MIT
/*
 * 64 importers of one dma-buf at once: they attach, map, write, unmap and detach in
 * any order, while a thread maps the dma-buf and begins CPU access, and while the owner
 * releases the memory. Each importer writes a page of its own; at the end, the page still
 * holds what the importer wrote last.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "importer.h"
#include "memcast_test.h"
#include "peers.h"

#define IMPORTERS	64
#define BYTES		(2 * CHUNK)
#define OWN		(PAGE < 16384 ? PAGE : 16384)
/*
 * Importers' pages span the border of two chunks, with an unwritten page after each. Of pages of
 * 64 KiB, two importers have one, else all would not fit two chunks.
 */
#define PLACE(number)	(CHUNK - IMPORTERS * OWN + (number) * 2 * OWN)

static sem_t may_map;
/* With DMA_API_DEBUG, all importers attach, but only a few map at a time. */
static bool limited;

FIXTURE(race)
{
	char unused;
};

FIXTURE_SETUP(race)
{
	limited = importer_is_debugged();
	ASSERT_EQ(0, sem_init(&may_map, 0, limited ? IMPORTER_DEBUG_MAPPINGS : IMPORTERS));
}
NOTHING_LEFT(race)

struct racer {
	pthread_t thread;
	pthread_barrier_t *start;
	unsigned int number, rounds, seed;
	int device, fd;
	uint64_t last;			/* the last word that it wrote, or 0 */
	int error, line;
};

/* A racer whose call fails records the error and the line, and stops. */
#define TRY(racer, call)						\
	do {								\
		int result_ = (call);					\
									\
		if (result_ < 0) {					\
			(racer)->error = result_;			\
			(racer)->line = __LINE__;			\
			return;						\
		}							\
	} while (0)

static void write_page(struct racer *racer, uint32_t id, uint32_t slot)
{
	uint64_t words[512], seen[512];

	for (int i = 0; i < 512; i++)
		words[i] = ((uint64_t)racer->number << 32 | rand_r(&racer->seed)) + 1;
	TRY(racer, importer_write(racer->device, id, slot, PLACE(racer->number), words,
				  sizeof(words)));
	racer->last = words[511];
	TRY(racer, importer_read(racer->device, id, slot, PLACE(racer->number), seen,
				 sizeof(seen)));
	if (memcmp(words, seen, sizeof(words)))
		TRY(racer, -EILSEQ);
}

/* Maps an attachment a few times; half of the time, leaves one mapping for the detach to end. */
static void map_and_unmap(struct racer *racer, uint32_t id)
{
	uint32_t slots = 1 + rand_r(&racer->seed) % MEMCAST_IMPORTER_SLOTS;
	bool leave = rand_r(&racer->seed) % 2;

	if (limited) {
		slots = 1;
		leave = false;
	}
	for (uint32_t slot = 0; slot < slots; slot++) {
		TRY(racer, importer_map(racer->device, id, slot, MEMCAST_IMPORTER_BOTH, NULL));
		write_page(racer, id, slot);
		if (racer->error)
			return;
	}
	if (rand_r(&racer->seed) % 4 == 0) {
		TRY(racer, importer_map(racer->device, id, MEMCAST_IMPORTER_VMAP,
					MEMCAST_IMPORTER_BOTH, NULL));
		write_page(racer, id, MEMCAST_IMPORTER_VMAP);
		if (racer->error)
			return;
	}
	for (uint32_t slot = leave; slot < slots; slot++)
		TRY(racer, importer_unmap(racer->device, id, slot));
}

static void one_round(struct racer *racer)
{
	uint32_t id;

	TRY(racer, importer_attach(racer->device, racer->fd, &id));
	sem_wait(&may_map);
	map_and_unmap(racer, id);
	sem_post(&may_map);
	if (racer->error)
		return;
	/* after the last round, even racers leave their attachment to the close of their device */
	if (racer->rounds || racer->number % 2)
		TRY(racer, importer_detach(racer->device, id));
}

static void *attach_and_detach(void *data)
{
	struct racer *racer = data;

	pthread_barrier_wait(racer->start);
	while (racer->rounds-- && !racer->error)
		one_round(racer);
	return NULL;
}

/* vgem attaches and maps at an import, and unmaps and detaches when the handle is closed. */
static void import_once(struct racer *racer)
{
	uint32_t handle = vgem_import(racer->device, racer->fd), fence;

	if (!handle)
		TRY(racer, -errno);
	/* vgem refuses the fence if another racer's is on the buffer */
	fence = vgem_fence(racer->device, handle, rand_r(&racer->seed) % 2);
	if (fence)
		vgem_signal(racer->device, fence);
	/* after the last round, even racers leave their handle to the close of their device */
	if (racer->rounds || racer->number % 2 || limited)
		vgem_close(racer->device, handle);
}

static void *import_and_close(void *data)
{
	struct racer *racer = data;

	pthread_barrier_wait(racer->start);
	while (racer->rounds-- && !racer->error) {
		sem_wait(&may_map);
		import_once(racer);
		sem_post(&may_map);
	}
	return NULL;
}

struct onlooker {
	int fd;
	atomic_bool stop;
	unsigned int rounds, bad;
};

/* The CPU's side: maps the dma-buf, checks pages that no importer writes, and unmaps. */
static void *look_on(void *data)
{
	struct onlooker *onlooker = data;

	do {
		volatile uint64_t *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
					     MAP_SHARED, onlooker->fd, 0);

		dma_buf_sync(onlooker->fd, DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW);
		if (at == MAP_FAILED || at[(PLACE(3) + OWN) / 8] || at[BYTES / 8 - 1])
			onlooker->bad++;
		dma_buf_sync(onlooker->fd, DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW);
		munmap((void *)at, BYTES);
		onlooker->rounds++;
	} while (!atomic_load(&onlooker->stop));
	return NULL;
}

/* Half of the racers share @fd; each of the others gets an fd of its own. */
static void start(struct __test_metadata *_metadata, struct racer *racers,
		  pthread_barrier_t *barrier, void *(*body)(void *), unsigned int rounds,
		  CUmemGenericAllocationHandle own, int fd)
{
	ASSERT_EQ(0, pthread_barrier_init(barrier, NULL, IMPORTERS + 1));
	for (unsigned int i = 0; i < IMPORTERS; i++) {
		racers[i].start = barrier;
		racers[i].number = i;
		racers[i].seed = i + 1;
		racers[i].rounds = rounds;
		racers[i].fd = i % 2 ? exported(own) : fd;
		ASSERT_EQ(0, pthread_create(&racers[i].thread, NULL, body, &racers[i]));
	}
}

static void all_against_one(struct __test_metadata *_metadata, struct racer *racers,
			    void *(*body)(void *), unsigned int rounds)
{
	CUmemGenericAllocationHandle own;
	struct onlooker onlooker = { };
	pthread_barrier_t barrier;
	pthread_t other;
	char *at;
	int fd;

	cuda_start(0);
	own = new_memory(0, BYTES);
	fd = exported(own);
	onlooker.fd = fd;
	start(_metadata, racers, &barrier, body, rounds, own, fd);
	ASSERT_EQ(0, pthread_create(&other, NULL, look_on, &onlooker));
	pthread_barrier_wait(&barrier);
	/* from here on, only fds, attachments and mappings keep the memory */
	ASSERT_OK(cuMemRelease(own));

	for (unsigned int i = 0; i < IMPORTERS; i++) {
		ASSERT_EQ(0, pthread_join(racers[i].thread, NULL));
		EXPECT_EQ(0, racers[i].error) TH_LOG("importer %u, line %d", i, racers[i].line);
	}
	atomic_store(&onlooker.stop, true);
	ASSERT_EQ(0, pthread_join(other, NULL));
	EXPECT_EQ(0, onlooker.bad);
	EXPECT_LT(0, onlooker.rounds);

	at = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, (void *)at);
	for (unsigned int i = 0; i < IMPORTERS; i++)
		EXPECT_EQ(racers[i].last, *(uint64_t *)(at + PLACE(i) + 4088));
	TH_LOG("%u rounds of %u importers, %u of mmap()%s", rounds, IMPORTERS, onlooker.rounds,
	       limited ? "; 7 map at a time, for DMA_API_DEBUG" : "");
}

TEST_F(race, importers)
{
	struct racer racers[IMPORTERS] = { };
	const char *why;

	for (unsigned int i = 0; i < IMPORTERS; i++) {
		racers[i].device = importer_open(&why);
		if (racers[i].device < 0)
			SKIP(return, "%s", why);
	}
	all_against_one(_metadata, racers, attach_and_detach, loops(100));
}

TEST_F(race, vgem)
{
	struct racer racers[IMPORTERS] = { };

	for (unsigned int i = 0; i < IMPORTERS; i++) {
		racers[i].device = vgem_open();
		if (racers[i].device < 0)
			SKIP(return, "needs the driver vgem, and root");
	}
	all_against_one(_metadata, racers, import_and_close, loops(50));
}

TEST_HARNESS_MAIN
