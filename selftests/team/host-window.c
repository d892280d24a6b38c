// SPDX-License-Identifier: MIT
/*
 * lib/memory/view/window.c without the module: calls on windows while another thread acts before
 * each access to shared data, and with threads at the speed of this machine. A view is a number
 * here: it has to be unmapped exactly once, and not be found then. host-window.sh runs this.
 */
#include <pthread.h>

#include "host-window.h"
#include "../lib/memory/view/window_tree.c"
#include "../lib/memory/view/window.c"
#include "kselftest_harness.h"
#include "../selftests/base/processor.h"

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 86400	/* run-selftests and run.sh notice a stuck test */

#define CHUNK		(2UL << 20)
#define PLACE		(1UL << 40)	/* address of the windows */
#define CHUNKS		512UL
#define VIEWS		(1UL << 41)	/* address of view 0's first replica; other views follow */
#define VIEW_BYTES	(1UL << 20)
#define MOST_VIEWS	(1U << 16)

enum { NEVER, MAPPED, UNMAPPED };

/* The state that the kernel would have */
static _Atomic unsigned char view_state[MOST_VIEWS];
static unsigned int view_team[MOST_VIEWS];
static atomic_uint views, wrong;
static atomic_ulong first;		/* first chunk that the window shows */
static atomic_ulong mapped;		/* how many chunks; 0: no window */
static atomic_uint team = 1;

static CUresult refuse(void)
{
	return CUDA_ERROR_INVALID_VALUE;
}

static unsigned int number_of(const void *replica)
{
	return ((uintptr_t)replica - VIEWS) / VIEW_BYTES;
}

static bool at_window(CUdeviceptr address)
{
	return address - PLACE - first * CHUNK < mapped * CHUNK;
}

static CUresult address_info(struct memcast_address_info *info)
{
	info->out_any = MEMCAST_ACCESS_READWRITE;
	if (info->address >= VIEWS) {
		info->out_object = view_team[number_of((void *)info->address)];
		return view_state[number_of((void *)info->address)] == MAPPED ?
			CUDA_SUCCESS : refuse();
	}
	if (!at_window(info->address))
		return refuse();
	info->out_type = MEMCAST_TYPE_TEAM;
	info->out_object = team;
	info->out_mapping = PLACE + first * CHUNK;
	info->out_mapping_bytes = mapped * CHUNK;
	return CUDA_SUCCESS;
}

static CUresult handle_retain(struct memcast_handle_retain *retain)
{
	retain->out_handle = team;
	return at_window(retain->address) ? CUDA_SUCCESS : refuse();
}

CUresult device_ioctl_fd(int fd, unsigned long request, struct memcast_header *header,
			 size_t size)
{
	(void)fd;
	(void)size;
	another_may_come();
	if (request == MEMCAST_ADDRESS_INFO)
		return address_info((struct memcast_address_info *)header);
	if (request == MEMCAST_HANDLE_RETAIN)
		return handle_retain((struct memcast_handle_retain *)header);
	return CUDA_SUCCESS;
}

CUresult view_map(const char *call, struct memcast_view *view,
		  const struct memcast_handle_info *of, size_t offset, size_t bytes,
		  uint32_t *accessor, unsigned int count)
{
	unsigned int number = atomic_fetch_add(&views, 1);

	(void)call;
	(void)offset;
	(void)accessor;
	(void)count;
	another_may_come();
	if (number >= MOST_VIEWS)
		return CUDA_ERROR_OUT_OF_MEMORY;
	view_team[number] = of->handle;
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

	another_may_come();
	if (at / VIEW_BYTES >= MOST_VIEWS ||
	    atomic_exchange(&view_state[at / VIEW_BYTES], UNMAPPED) != MAPPED)
		wrong++;
}

static pthread_barrier_t barrier;
static volatile bool stop;

/* Looks a window up, once in each round. */
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

/*
 * Waits until a thread has made a view, and a while that differs by round, so that the unmap comes
 * at all moments.
 */
static void pause_until_one_makes_it(unsigned long round)
{
	unsigned int seen = views;

	for (unsigned int i = 0; i < 5000 && views == seen; i++)
		processor_relax();
	for (unsigned int i = 0; i < round % 512; i++)
		processor_relax();
}

/* Return: how many addresses still have a view */
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
		windows_changed(PLACE, CHUNKS * CHUNK);
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

/* Do the kernel's part of mapping and unmapping, then the library's. */
static void map(unsigned long chunk, unsigned long chunks)
{
	team++;
	first = chunk;
	mapped = chunks;
	windows_mapped(PLACE + chunk * CHUNK, chunks * CHUNK);
}

static void unmap(void)
{
	unsigned long chunk = first, chunks = mapped;

	mapped = 0;
	windows_changed(PLACE + chunk * CHUNK, chunks * CHUNK);
}

/*
 * The windows that another thread maps while a call is under way: it unmaps the present window,
 * maps one of these, looks it up then or later, and goes on using the view that it found.
 */
static const struct {
	unsigned long first, chunks;
} others[] = { { 0, 3 }, { 1, 1 }, { 2, 1 }, { 0, 1 }, { 1, 4 } };

static struct {
	bool under_way, looked;
	unsigned int other;
	unsigned long moment, maps_at, looks_at;
	const struct memcast_view *view;
	const void *replica;
} meanwhile;

static void look(void)
{
	unsigned long last = first + mapped - 1;
	size_t offset;

	meanwhile.looked = true;
	meanwhile.view = memcastViewAt(PLACE + last * CHUNK, &offset);
	wrong += !meanwhile.view || offset != (last - first) * CHUNK;
	meanwhile.replica = meanwhile.view ? meanwhile.view->replica[0] : NULL;
}

static void another_may_come(void)
{
	if (!meanwhile.under_way)
		return;
	meanwhile.under_way = false;
	if (meanwhile.moment == meanwhile.maps_at) {
		if (mapped)
			unmap();
		map(others[meanwhile.other].first, others[meanwhile.other].chunks);
	}
	if (meanwhile.moment == meanwhile.looks_at)
		look();
	meanwhile.under_way = meanwhile.moment++ < meanwhile.looks_at;
}

static void call_unmapped(void)
{
	windows_changed(PLACE, 3 * CHUNK);
}

static void call_view_at(void)
{
	size_t offset;

	memcastViewAt(PLACE + CHUNK, &offset);
}

static void call_access_set(void)
{
	windows_changed(PLACE, 3 * CHUNK);
}

FIXTURE(moment)
{
};

/* The call; whether the library knows the window before, and whether the kernel has it mapped */
FIXTURE_VARIANT(moment)
{
	void (*call)(void);
	bool known, there;
};

FIXTURE_VARIANT_ADD(moment, unmap)
{
	call_unmapped, true, false,
};

FIXTURE_VARIANT_ADD(moment, look_up)
{
	call_view_at, true, true,
};

FIXTURE_VARIANT_ADD(moment, make)
{
	call_view_at, false, true,
};

FIXTURE_VARIANT_ADD(moment, access_set)
{
	call_access_set, true, true,
};

FIXTURE_SETUP(moment) { }

FIXTURE_TEARDOWN(moment)
{
}

/* Return: did the call last long enough for both the map and the look-up? */
static bool try_moments(const FIXTURE_VARIANT(moment) *variant)
{
	size_t offset;

	map(0, 3);
	if (variant->known)
		memcastViewAt(PLACE, &offset);
	if (!variant->there)
		mapped = 0;
	meanwhile.moment = 0;
	meanwhile.looked = false;
	meanwhile.under_way = true;
	variant->call();
	meanwhile.under_way = false;
	if (meanwhile.looked) {
		wrong += view_state[number_of(meanwhile.replica)] != MAPPED;
		wrong += view_team[number_of(meanwhile.replica)] != team;
		for (unsigned long i = first; i < first + mapped; i++)
			wrong += memcastViewAt(PLACE + i * CHUNK, &offset) != meanwhile.view;
	}
	if (mapped)
		unmap();
	for (unsigned int i = 0; i < views; i++)
		wrong += view_state[i] != UNMAPPED;
	views = 0;
	return meanwhile.looked;
}

TEST_F(moment, any_two)
{
	unsigned long at, later, count = 0;

	for (unsigned int other = 0; other < ARRAY_SIZE(others); other++) {
		meanwhile.other = other;
		for (at = 0, later = 1; later; at++) {
			for (later = 0;; later++, count++) {
				meanwhile.maps_at = at;
				meanwhile.looks_at = at + later;
				if (!try_moments(variant))
					break;
				ASSERT_EQ(0, wrong)
					TH_LOG("other %u maps at %lu, looks at %lu", other, at,
					       at + later);
			}
		}
	}
	EXPECT_LT(0, count);
	TH_LOG("%lu pairs of moments", count);
}

TEST_HARNESS_MAIN
