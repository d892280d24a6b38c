// SPDX-License-Identifier: MIT
/*
 * The memory of events of several processes: a page of each process, which other processes map. It
 * outlasts the host, so that no call that looks at an event ends in SIGBUS.
 */
#include <stdlib.h>
#include <string.h>

#include "base/ioctl.h"
#include "shared.h"

#define PAGE_BYTES	MEMCAST_GRANULARITY
#define EVENTS		(PAGE_BYTES / sizeof(struct shared_event))

struct page {
	struct page *next;
	uint8_t key[MEMCAST_IPC_KEY_SIZE];
	struct shared_event *events;
	unsigned int users;
};

/* The content of a CUipcEventHandle */
struct handle {
	char kind[8];
	uint8_t key[MEMCAST_IPC_KEY_SIZE];
	uint32_t event;
	uint32_t generation;
	uint64_t zero[4];
};

_Static_assert(sizeof(struct handle) == sizeof(CUipcEventHandle),
	       "it has the size that the interface gives it");

static const char kind[8] = "mc-event";

static pthread_mutex_t pages_lock = PTHREAD_MUTEX_INITIALIZER;	/* protects the next three */
static struct page own_page, *pages;
static uint32_t heap;

static CUresult heap_of_pages(void)
{
	struct memcast_heap_create arg = {
		.location = MEMCAST_LOCATION_HOST, .flags = MEMCAST_HEAP_LASTING,
	};
	CUresult result;

	if (heap)
		return CUDA_SUCCESS;
	result = device_ioctl(MEMCAST_HEAP_CREATE, &arg);
	heap = arg.out_heap;
	return result;
}

static CUresult make_own_page(void)
{
	struct memcast_block_alloc block = { .bytes = PAGE_BYTES };
	struct memcast_ipc_export export = {};
	CUresult result = heap_of_pages();

	if (result != CUDA_SUCCESS || own_page.events)
		return result;
	block.heap = heap;
	result = device_ioctl(MEMCAST_BLOCK_ALLOC, &block);
	if (result != CUDA_SUCCESS)
		return result;
	export.address = block.out_address;
	result = device_ioctl(MEMCAST_IPC_EXPORT, &export);
	if (result != CUDA_SUCCESS) {
		struct memcast_block_free arg = {
			.address = block.out_address, .flags = MEMCAST_BLOCK_HOST,
		};

		device_ioctl(MEMCAST_BLOCK_FREE, &arg);
		return result;
	}
	memcpy(own_page.key, export.out_key, sizeof(own_page.key));
	own_page.events = (struct shared_event *)(uintptr_t)block.out_address;
	return CUDA_SUCCESS;
}

static CUresult map_page(const uint8_t *key, struct page *page)
{
	struct memcast_block_map block = {};
	struct memcast_ipc_open arg = {};
	CUresult result = heap_of_pages();

	if (result != CUDA_SUCCESS)
		return result;
	memcpy(arg.key, key, sizeof(arg.key));
	result = device_ioctl(MEMCAST_IPC_OPEN, &arg);
	/* the kernel's result for an exporter with this process's number */
	if (result == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (result != CUDA_SUCCESS)
		return result;
	block.heap = heap;
	block.handle = arg.out_handle;
	block.offset = arg.out_offset;
	block.bytes = arg.out_bytes;
	if (arg.out_bytes == PAGE_BYTES)
		result = device_ioctl(MEMCAST_BLOCK_MAP, &block);
	else
		result = fail(CUDA_ERROR_MAP_FAILED, "not a page of events");
	handle_release(arg.out_handle);
	memcpy(page->key, key, sizeof(page->key));
	page->events = (struct shared_event *)(uintptr_t)block.out_address;
	return result;
}

/* Finds the page of a key, with the lock held, and adds a user to it. */
static CUresult find_page(const uint8_t *key, struct page **found)
{
	struct page *page;
	CUresult result;

	for (page = pages; page; page = page->next)
		if (!memcmp(page->key, key, sizeof(page->key)))
			break;
	if (!page) {
		page = calloc(1, sizeof(*page));
		if (!page)
			return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for an event");
		result = map_page(key, page);
		if (result != CUDA_SUCCESS) {
			free(page);
			return result;
		}
		page->next = pages;
		pages = page;
	}
	page->users++;
	*found = page;
	return CUDA_SUCCESS;
}

static void put_page(struct page *page)
{
	struct memcast_block_free arg = { .address = (uintptr_t)page->events };
	struct page **at = &pages;

	if (page == &own_page || --page->users)
		return;
	while (*at != page)
		at = &(*at)->next;
	*at = page->next;
	arg.flags = MEMCAST_BLOCK_HOST;
	device_ioctl(MEMCAST_BLOCK_FREE, &arg);
	free(page);
}

static struct shared *shared_new(struct page *page, struct shared_event *event,
				 uint32_t generation)
{
	struct shared *shared = calloc(1, sizeof(*shared));

	if (!shared)
		return NULL;
	shared->references = 1;
	shared->page = page;
	shared->event = event;
	shared->generation = generation;
	shared->own = page == &own_page;
	return shared;
}

/*
 * Return: a place of the page that no event has. A place whose old event other processes still
 * have open is the last choice: they may have been killed, and if not, they find their event
 * replaced.
 */
static struct shared_event *free_place(void)
{
	struct shared_event *any = NULL;

	for (unsigned int i = 0; i < EVENTS; i++) {
		struct shared_event *event = &own_page.events[i];

		if (event->generation & 1)
			continue;
		if (!event->openers)
			return event;
		any = event;
	}
	return any;
}

static CUresult create_locked(struct shared **shared)
{
	CUresult result = make_own_page();
	struct shared_event *event;

	if (result != CUDA_SUCCESS)
		return result;
	event = free_place();
	if (!event)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "%llu events are for other processes",
			    EVENTS);
	*shared = shared_new(&own_page, event, event->generation + 1);
	if (!*shared)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for an event");
	event->openers = 0;
	event->recorded = 0;
	memset(event->records, 0, sizeof(event->records));
	memset(event->makers, 0, sizeof(event->makers));
	event->generation++;
	return CUDA_SUCCESS;
}

/* The key by which an event names this process as the maker of a record */
const uint8_t *shared_self(void)
{
	return own_page.key;
}

CUresult shared_create(struct shared **shared)
{
	CUresult result;

	pthread_mutex_lock(&pages_lock);
	result = create_locked(shared);
	pthread_mutex_unlock(&pages_lock);
	return result;
}

CUresult shared_handle(const struct shared *shared, CUipcEventHandle *handle)
{
	struct handle filled = {};

	if (!shared || !shared->own)
		return fail(CUDA_ERROR_INVALID_HANDLE,
			    "not an event that was created here with INTERPROCESS");
	memcpy(filled.kind, kind, sizeof(kind));
	memcpy(filled.key, own_page.key, sizeof(filled.key));
	filled.event = shared->event - own_page.events;
	filled.generation = shared->event->generation;
	memcpy(handle, &filled, sizeof(filled));
	return CUDA_SUCCESS;
}

/*
 * Opens an event. If its creator destroys it at this moment, the event either counts this
 * opener, or the opener finds it destroyed.
 */
static CUresult open_locked(struct shared **shared, const struct handle *handle)
{
	struct shared_event *event;
	struct page *page = NULL;
	CUresult result = make_own_page();

	if (result == CUDA_SUCCESS)
		result = find_page(handle->key, &page);
	if (result != CUDA_SUCCESS)
		return result;
	event = &page->events[handle->event];
	event->openers++;
	*shared = event->generation == handle->generation ?
		shared_new(page, event, handle->generation) : NULL;
	if (*shared)
		return CUDA_SUCCESS;
	result = event->generation == handle->generation ?
		fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for an event") :
		fail(CUDA_ERROR_INVALID_HANDLE, "the event was destroyed");
	event->openers--;
	put_page(page);
	return result;
}

CUresult shared_open(struct shared **shared, const CUipcEventHandle *given)
{
	struct handle handle;
	CUresult result;

	memcpy(&handle, given, sizeof(handle));
	if (memcmp(handle.kind, kind, sizeof(kind)) || handle.event >= EVENTS)
		return fail(CUDA_ERROR_MAP_FAILED, "not what cuIpcGetEventHandle() gave");
	pthread_mutex_lock(&pages_lock);
	if (own_page.events && !memcmp(handle.key, own_page.key, sizeof(handle.key)))
		result = fail(CUDA_ERROR_INVALID_CONTEXT, "the event is this process's own");
	else
		result = open_locked(shared, &handle);
	pthread_mutex_unlock(&pages_lock);
	/* the creator has ended, or belongs to another user */
	return result == CUDA_ERROR_INVALID_VALUE ? CUDA_ERROR_MAP_FAILED : result;
}

void shared_put(struct shared *shared)
{
	if (!shared || --shared->references)
		return;
	pthread_mutex_lock(&pages_lock);
	if (!shared_replaced(shared))
		shared_maker_end(shared);
	if (shared->own)
		shared->event->generation++;
	else if (!shared_replaced(shared))
		shared->event->openers--;
	put_page(shared->page);
	pthread_mutex_unlock(&pages_lock);
	free(shared);
}

/*
 * Is the process of a page alive? Its block ends with it. To open the own block is refused with
 * another error, and so is to open that of a process that has another user by now.
 */
bool shared_alive(const uint8_t *key)
{
	struct memcast_ipc_open arg = { .flags = MEMCAST_IPC_ALIVE };
	CUresult result;

	memcpy(arg.key, key, sizeof(arg.key));
	result = device_ioctl(MEMCAST_IPC_OPEN, &arg);
	/* an older module knows no such flag */
	if (result == CUDA_ERROR_INVALID_VALUE) {
		arg.flags = 0;
		result = device_ioctl(MEMCAST_IPC_OPEN, &arg);
	}
	if (result == CUDA_SUCCESS)
		handle_release(arg.out_handle);
	return result != CUDA_ERROR_INVALID_VALUE;
}
