// SPDX-License-Identifier: MIT
/*
 * lib/window.c without the module: threads look for a window that another unmaps at
 * that moment, some thousand times, at the speed of this machine. A view is a number
 * here: each is to be unmapped once, and none to be found then. host-window.sh runs
 * this.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>

#include "../lib/library.h"
#include "kselftest_harness.h"

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 60

#define CHUNK		(2UL << 20)
#define PLACE		(1UL << 40)	/* of the windows */
#define CHUNKS		512UL
#define VIEWS		(1UL << 41)	/* a view's first replica is here, and its number on */
#define VIEW_BYTES	(1UL << 20)
#define MOST_VIEWS	(1U << 16)

enum { NEVER, MAPPED, UNMAPPED };

/* What the kernel knows */
static _Atomic unsigned char view_state[MOST_VIEWS];
static atomic_uint views, wrong;
static atomic_ulong mapped;		/* the window's chunks; 0: none */

unsigned int inject_count;

static CUresult refuse(void)
{
	return CUDA_ERROR_INVALID_VALUE;
}

CUresult fail(CUresult result, const char *format, ...)
{
	(void)format;
	return result;
}

void log_failure(const char *call, CUresult result, const char *arguments, ...)
{
	(void)call;
	(void)result;
	(void)arguments;
}

CUresult inject_result(const char *symbol)
{
	(void)symbol;
	return CUDA_SUCCESS;
}

int library_fd(void)
{
	return 0;
}

bool library_open(void)
{
	return true;
}

CUresult library_ready(void)
{
	return CUDA_SUCCESS;
}

static unsigned int number_of(const void *replica)
{
	return ((uintptr_t)replica - VIEWS) / VIEW_BYTES;
}

static CUresult address_info(struct memcast_address_info *info)
{
	unsigned long chunks = mapped;

	info->out_writable = info->out_readable = 1;
	if (info->address >= VIEWS)
		return view_state[number_of((void *)info->address)] == MAPPED ?
			CUDA_SUCCESS : refuse();
	if (info->address - PLACE >= chunks * CHUNK)
		return refuse();
	info->out_type = MEMCAST_TYPE_TEAM;
	info->out_mapping = PLACE;
	info->out_mapping_bytes = chunks * CHUNK;
	return CUDA_SUCCESS;
}

CUresult device_ioctl_fd(int fd, unsigned long request, struct memcast_header *header,
			 size_t size)
{
	(void)fd;
	(void)size;
	if (request == MEMCAST_ADDRESS_INFO)
		return address_info((struct memcast_address_info *)header);
	return CUDA_SUCCESS;
}

CUresult view_map(struct memcast_view *view, struct memcast_handle_info *team, size_t offset,
		  size_t bytes)
{
	unsigned int number = atomic_fetch_add(&views, 1);

	(void)team;
	(void)offset;
	if (number >= MOST_VIEWS)
		return CUDA_ERROR_OUT_OF_MEMORY;
	view_state[number] = MAPPED;
	view->bytes = bytes;
	view->replicas = 1;
	view->replica[0] = (void *)(VIEWS + number * VIEW_BYTES);
	return CUDA_SUCCESS;
}

CUresult view_allow(const struct memcast_view *view, unsigned int first, unsigned int count,
		    CUdevice device, CUmemAccess_flags access)
{
	(void)first;
	(void)count;
	(void)device;
	(void)access;
	return view_state[number_of(view->replica[0])] == MAPPED ? CUDA_SUCCESS : refuse();
}

void view_unmap(const struct memcast_view *view)
{
	uintptr_t at = (uintptr_t)view->replica[0] - VIEWS;

	if (at / VIEW_BYTES >= MOST_VIEWS ||
	    atomic_exchange(&view_state[at / VIEW_BYTES], UNMAPPED) != MAPPED)
		wrong++;
}

static pthread_barrier_t barrier;
static volatile bool stop;

/* Once in a round */
static void *look_there(void *unused)
{
	size_t offset;

	for (unsigned long round = 1;; round++) {
		pthread_barrier_wait(&barrier);
		if (stop)
			return unused;
		memcastViewAt(PLACE + round * 7 % CHUNKS * CHUNK, &offset);
		pthread_barrier_wait(&barrier);
	}
}

#define LOOKING	2
#define ROUNDS	12000U

/* And some time more, so that what follows comes at all moments. */
static void pause_until_one_makes_it(unsigned long round)
{
	unsigned int seen = views;

	for (unsigned int i = 0; i < 5000 && views == seen; i++)
		__builtin_ia32_pause();
	for (unsigned int i = 0; i < round % 512; i++)
		__builtin_ia32_pause();
}

/* Return: how many addresses have a view still. */
static unsigned int found(void)
{
	unsigned int count = 0;
	size_t offset;

	for (size_t i = 0; i < CHUNKS; i++)
		count += memcastViewAt(PLACE + i * CHUNK, &offset) != NULL;
	return count;
}

TEST(nothing_is_left_behind)
{
	pthread_t thread[LOOKING];
	unsigned int left = 0, stale = 0;

	pthread_barrier_init(&barrier, NULL, LOOKING + 1);
	for (int i = 0; i < LOOKING; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, look_there, NULL));
	for (unsigned long round = 1; round < ROUNDS && !wrong && !stale; round++) {
		windows_mapped(PLACE, CHUNKS * CHUNK);
		mapped = CHUNKS;
		pthread_barrier_wait(&barrier);
		pause_until_one_makes_it(round);
		mapped = 0;
		windows_unmapped(PLACE, CHUNKS * CHUNK);
		pthread_barrier_wait(&barrier);
		stale = found();
	}
	EXPECT_EQ(0, wrong);
	EXPECT_EQ(0, stale);
	for (unsigned int i = 0; i < views && i < MOST_VIEWS; i++)
		left += view_state[i] == MAPPED;
	EXPECT_EQ(0, left);
	TH_LOG("%u views", views);
	stop = true;
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < LOOKING; i++)
		pthread_join(thread[i], NULL);
}

TEST_HARNESS_MAIN
