// SPDX-License-Identifier: MIT
/*
 * The heap of kernels' malloc(): an arena that is never given back, so that a pointer to memory that
 * was freed can be told. What is known of its blocks is elsewhere, as a kernel may store beyond its
 * own. Free blocks of each size, a power of two, are in a list. Each context has an account, which
 * its limit is for; what it has not freed, a later context in its place gives back.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "inside.h"

#define HEAP_BYTES	(1UL << 36)	/* addresses; a launch's limit is what counts */
#define CLASSES		40
#define UNIT		32UL
#define BEFORE		16U		/* bytes in front of what malloc() gives */

struct account {
	struct account *next;
	const void *of;			/* the context's place */
	uint64_t life;
	uint64_t live;			/* bytes */
};

struct chunk {
	struct account *account;	/* NULL: it is free */
	union {
		uint64_t bytes;		/* that were asked for */
		uint32_t next;		/* that is free, by its number; 0: none */
	};
	uint32_t start;			/* in units */
	uint32_t size_class;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;	/* protects all below */
static char *heap;
static size_t used;
static struct account *accounts;
static struct chunk *chunks;		/* by their start; the first one is nobody's */
static uint32_t count, room, first_free[CLASSES];

/* What counts of a block */
static uint64_t charge(uint64_t bytes)
{
	return ((bytes + 15) & ~15UL) + BEFORE;
}

static uint32_t class_of(uint64_t bytes)
{
	uint32_t size_class = 5;

	while ((1UL << size_class) < bytes + BEFORE)
		size_class++;
	return size_class;
}

/* With the lock held */
static void give_back(struct chunk *chunk)
{
	chunk->account->live -= charge(chunk->bytes);
	chunk->account = NULL;
	chunk->next = first_free[chunk->size_class];
	first_free[chunk->size_class] = chunk - chunks;
}

/* With the lock held. NULL: there is no memory, or the context has ended. */
static struct account *account_of(const struct ptx_launch *launch)
{
	struct account *account = accounts;

	while (account && account->of != launch->heap)
		account = account->next;
	if (!account) {
		account = calloc(1, sizeof(*account));
		if (!account)
			return NULL;
		account->of = launch->heap;
		account->next = accounts;
		accounts = account;
	}
	if (account->life < launch->heap_life) {
		for (uint32_t i = 0; i < count; i++)
			if (chunks[i].account == account)
				give_back(&chunks[i]);
		account->life = launch->heap_life;
	}
	return account->life == launch->heap_life ? account : NULL;
}

/* With the lock held. Return: the number of a new chunk; 0: there is no memory */
static uint32_t chunk_new(uint32_t size_class)
{
	if (count == room) {
		struct chunk *more = realloc(chunks, (2 * room + 1024) * sizeof(*more));

		if (!more)
			return 0;
		chunks = more;
		room = 2 * room + 1024;
	}
	if (!count) {
		chunks[count++] = (struct chunk) {};
		used = UNIT;
	}
	if (!heap) {
		heap = mmap(NULL, HEAP_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (heap == MAP_FAILED)
			heap = NULL;
	}
	if (!heap || used + (1UL << size_class) > HEAP_BYTES)
		return 0;
	chunks[count] = (struct chunk) { .start = used / UNIT, .size_class = size_class };
	used += 1UL << size_class;
	return count++;
}

struct request {
	const struct ptx_launch *launch;
	uint64_t bytes;
	char *memory;			/* output; NULL: there is none */
};

/* On a stack of the process: its allocator may need more than a kernel's has */
static void take(void *data)
{
	struct request *request = data;
	const struct ptx_launch *launch = request->launch;
	uint32_t size_class = class_of(request->bytes), number = 0;
	struct account *account;

	pthread_mutex_lock(&lock);
	account = account_of(launch);
	if (account && account->live + charge(request->bytes) <= launch->heap_limit) {
		number = first_free[size_class];
		if (number)
			first_free[size_class] = chunks[number].next;
		else
			number = chunk_new(size_class);
	}
	if (number) {
		account->live += charge(request->bytes);
		chunks[number].account = account;
		chunks[number].bytes = request->bytes;
		request->memory = heap + chunks[number].start * UNIT + BEFORE;
	}
	pthread_mutex_unlock(&lock);
}

void *ptx_run_malloc(struct ptx_thread *thread, uint64_t bytes)
{
	const struct ptx_launch *launch = thread->block->runner->grid->launch;
	struct request request = { launch, bytes, NULL };

	if (bytes <= launch->heap_limit && bytes <= HEAP_BYTES - BEFORE)
		ptx_run_host(thread, take, &request);
	return request.memory;
}

/* Is an address in the heap, or where it may grow? */
bool heap_has(uint64_t address)
{
	uint64_t start = (uintptr_t)__atomic_load_n(&heap, __ATOMIC_RELAXED);

	return start && address - start < HEAP_BYTES;
}

/* With the lock held, of an address that the heap has: chunks lie one behind the other. */
static struct chunk *chunk_at(uint64_t address)
{
	uint32_t low = 0, high = count, middle;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (chunks[middle].start * UNIT <= address - (uintptr_t)heap)
			low = middle;
		else
			high = middle;
	}
	return &chunks[low];
}

/* Finds the block, live or free, with an address of the heap. */
void heap_block(uint64_t address, uint64_t *start, uint64_t *bytes, bool *freed)
{
	const struct chunk *chunk;

	pthread_mutex_lock(&lock);
	chunk = chunk_at(address);
	*start = (uintptr_t)heap + chunk->start * UNIT + BEFORE;
	*bytes = chunk->bytes;
	*freed = chunk != chunks && !chunk->account;
	pthread_mutex_unlock(&lock);
}

/* Memory that is not of the heap is let be, as on hardware. */
void ptx_run_free(struct ptx_thread *thread, void *memory)
{
	struct chunk *chunk;
	bool twice = false;

	if (!heap_has((uintptr_t)memory))
		return;
	pthread_mutex_lock(&lock);
	chunk = chunk_at((uintptr_t)memory);
	if (chunk != chunks && (char *)memory == heap + chunk->start * UNIT + BEFORE) {
		twice = !chunk->account;
		if (!twice)
			give_back(chunk);
	}
	pthread_mutex_unlock(&lock);
	if (twice)
		run_fail(fiber_of(thread), RESULT_LAUNCH_FAILED, "free() of memory that was freed");
}
