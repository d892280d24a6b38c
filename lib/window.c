// SPDX-License-Identifier: MIT
/*
 * The views of windows: from an address that cuMemMap() was given for a team to
 * the addresses of its replicas, without a system call.
 *
 * A tree as the processor's page tables are, with an entry per chunk that points
 * to the window's view. Readers take no lock: signal handlers look up too, of the
 * very thread that is changing the tree. For their sake nothing here calls
 * malloc() either, and neither nodes nor views are ever freed, only used again.
 * Whoever unmaps a window that others still use gets what he asked for, but no
 * access to what is not his.
 *
 * A fork() child finds nothing: library_ready() and library_open() say no.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "library.h"

#define CHUNK_SHIFT	21
#define LEVEL_SHIFT	9
#define SLOTS		(1UL << LEVEL_SHIFT)
#define LEVELS		4		/* 57 bits of address: all that there are */
#define LEAF_BYTES	(SLOTS << CHUNK_SHIFT)

_Static_assert(1ULL << CHUNK_SHIFT == MEMCAST_GRANULARITY, "a slot is a chunk");

struct window {
	struct memcast_view view;
	CUdeviceptr start;		/* of the mapping; the view has its size */
	_Atomic CUmemAccess_flags access;
	CUdevice member;		/* stands for the CPU */
	atomic_uint users;		/* the tree, and who makes it: not used again before */
	struct window *next;		/* in unused */
};

/* Nodes, and windows at the leaves */
struct node {
	void *_Atomic slot[SLOTS];
};

static struct node root;
static struct window *_Atomic unused;
static atomic_ulong windows;		/* no need to look where there are none */
static _Atomic CUdeviceptr lowest = -1ULL, highest;	/* of all that was mapped */

static void *memory(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

static struct node *node_below(void *_Atomic *slot, bool make)
{
	struct node *node = atomic_load_explicit(slot, memory_order_acquire);
	void *none = NULL;

	if (node || !make)
		return node;
	node = memory(sizeof(*node));
	if (node && !atomic_compare_exchange_strong(slot, &none, node)) {
		munmap(node, sizeof(*node));
		node = none;
	}
	return node;
}

/* Return: the slot of an address; NULL if there is no node, or no memory. */
static void *_Atomic *slot_of(CUdeviceptr address, bool make)
{
	unsigned int shift = CHUNK_SHIFT + LEVELS * LEVEL_SHIFT;
	struct node *node = &root;

	if (address >> shift)
		return NULL;
	for (;;) {
		void *_Atomic *slot;

		shift -= LEVEL_SHIFT;
		slot = &node->slot[address >> shift & (SLOTS - 1)];
		if (shift == CHUNK_SHIFT)
			return slot;
		node = node_below(slot, make);
		if (!node)
			return NULL;
	}
}

static struct window *window_find(CUdeviceptr address)
{
	void *_Atomic *slot = slot_of(address, false);

	return slot ? atomic_load_explicit(slot, memory_order_acquire) : NULL;
}

/*
 * Unused ones are a list that is taken and put back as a whole: with no lock and
 * no element that can be taken, put back and mistaken for the first one meanwhile.
 */
static void windows_give(struct window *first)
{
	struct window *last = first;

	while (last->next)
		last = last->next;
	last->next = atomic_load(&unused);
	while (!atomic_compare_exchange_weak(&unused, &last->next, first))
		;
}

static struct window *window_take(void)
{
	struct window *window = atomic_exchange(&unused, NULL);
	const unsigned int count = 64;

	if (!window) {
		window = memory(count * sizeof(*window));
		for (unsigned int i = 0; window && i < count - 1; i++)
			window[i].next = &window[i + 1];
	}
	if (window && window->next)
		windows_give(window->next);
	if (window)
		*window = (struct window) {};
	return window;
}

static void window_put(struct window *window)
{
	if (atomic_fetch_sub(&window->users, 1) == 1)
		windows_give(window);
}

static void window_end(struct window *window)
{
	view_unmap(&window->view);
	atomic_fetch_sub(&windows, 1);
	window_put(window);
}

static CUmemAccess_flags access_of(const struct memcast_address_info *info)
{
	/* The CPU may do what any device may. */
	if (info->out_writable)
		return CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	return info->out_readable ? CU_MEM_ACCESS_FLAGS_PROT_READ :
				    CU_MEM_ACCESS_FLAGS_PROT_NONE;
}

static CUresult mapping_info(CUdeviceptr address, struct memcast_address_info *info)
{
	*info = (struct memcast_address_info) { .address = address };
	return device_ioctl(MEMCAST_ADDRESS_INFO, info);
}

static CUresult window_info(CUdeviceptr address, struct memcast_address_info *info)
{
	CUresult result = mapping_info(address, info);

	if (result == CUDA_SUCCESS && (info->out_type != MEMCAST_TYPE_TEAM ||
				       info->out_flags & MEMCAST_ADDRESS_REPLICA))
		result = fail(CUDA_ERROR_INVALID_VALUE, "no team is mapped at %#llx", address);
	return result;
}

/* The window's handle may be released long since: ask for one, for as long. */
static CUresult window_map(struct window *window, const struct memcast_address_info *info)
{
	struct memcast_handle_retain retain = { .address = info->out_mapping };
	struct memcast_handle_release release = {};
	struct memcast_handle_info team = {};
	CUresult result;

	result = device_ioctl(MEMCAST_HANDLE_RETAIN, &retain);
	if (result != CUDA_SUCCESS)
		return result;
	team.handle = retain.out_handle;
	result = device_ioctl(MEMCAST_HANDLE_INFO, &team);
	if (result == CUDA_SUCCESS)
		result = view_map(&window->view, &team, info->out_offset,
				  info->out_mapping_bytes);
	release.handle = retain.out_handle;
	device_ioctl(MEMCAST_HANDLE_RELEASE, &release);
	window->start = info->out_mapping;
	window->member = team.out_member[0];
	return result;
}

/*
 * Give the replicas the access that the window has. Others may do so too, or change
 * the window's meanwhile: whoever changes something looks at all of it again.
 */
static CUresult window_follow(struct window *window)
{
	struct memcast_address_info info, replica;
	CUmemAccess_flags access;
	CUresult result;

	for (;;) {
		result = window_info(window->start, &info);
		if (result == CUDA_SUCCESS)
			result = mapping_info((uintptr_t)window->view.replica[0], &replica);
		if (result != CUDA_SUCCESS)
			return result;
		/* another team's by now: whoever mapped that found no view to retract */
		if (replica.out_object != info.out_object ||
		    replica.out_offset != info.out_offset ||
		    info.out_mapping_bytes != window->view.bytes)
			return fail(CUDA_ERROR_INVALID_VALUE,
				    "%#llx was mapped again meanwhile", window->start);
		access = access_of(&info);
		if (access_of(&replica) == access && window->access == access)
			return CUDA_SUCCESS;
		result = view_allow(&window->view, 0, window->view.replicas,
				    window->member, access);
		if (result != CUDA_SUCCESS)
			return result;
		window->access = access;
	}
}

/* Each slot but the first, if it still is as expected */
static void window_fill(struct window *window, void *from, void *to)
{
	CUdeviceptr at = window->start, end = at + window->view.bytes;

	while ((at += MEMCAST_GRANULARITY) < end) {
		void *expected = from;

		atomic_compare_exchange_strong(slot_of(at, false), &expected, to);
	}
}

/*
 * Return: the window that is in the tree now: this one, or one that came first.
 *
 * Whoever sets or clears the first slot has put it there or taken it out. Taken
 * out while the others were being filled: nobody else would clear those.
 */
static struct window *window_publish(struct window *window)
{
	CUdeviceptr end = window->start + window->view.bytes;
	void *_Atomic *slot;
	void *first = NULL;

	for (CUdeviceptr at = window->start; at < end; at += MEMCAST_GRANULARITY)
		if (!slot_of(at, true))
			return NULL;
	slot = slot_of(window->start, false);
	atomic_fetch_add(&window->users, 1);
	if (!atomic_compare_exchange_strong(slot, &first, window)) {
		atomic_fetch_sub(&window->users, 1);
		return first;
	}
	window_fill(window, NULL, window);
	if (atomic_load(slot) != window)
		window_fill(window, window, NULL);
	return window;
}

static void window_retract(struct window *window, CUdeviceptr start)
{
	void *found = window;

	if (!atomic_compare_exchange_strong(slot_of(start, false), &found, NULL))
		return;
	window_fill(window, window, NULL);
	window_end(window);
}

/* A window of ours, as nobody has one yet */
static CUresult window_new(const struct memcast_address_info *info, struct window **out)
{
	struct window *window = window_take();
	CUresult result;

	if (!window)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no room for a view: %m");
	window->users = 1;
	result = window_map(window, info);
	if (result != CUDA_SUCCESS) {
		windows_give(window);
		return result;
	}
	atomic_fetch_add(&windows, 1);
	*out = window;
	return CUDA_SUCCESS;
}

/* Made without access, as long as nobody who takes that away would find it. */
static CUresult window_make(CUdeviceptr address, struct window **out)
{
	struct window *made = NULL, *window;
	struct memcast_address_info info;
	CUresult result;

	result = window_info(address, &info);
	if (result != CUDA_SUCCESS)
		return result;
	window = window_find(info.out_mapping);
	if (!window) {
		result = window_new(&info, &made);
		if (result != CUDA_SUCCESS)
			return result;
		window = window_publish(made);
		if (window != made)
			window_end(made);
		if (!window)
			return fail(CUDA_ERROR_OUT_OF_MEMORY, "no room for a view: %m");
	}
	result = window_follow(window);
	if (result == CUDA_SUCCESS)
		*out = window;
	else
		window_retract(window, info.out_mapping);
	if (window == made)
		window_put(made);
	return result;
}

static CUresult window_get(CUdeviceptr address, const struct memcast_view **view,
			   size_t *offset, CUmemAccess_flags *access)
{
	struct window *window = window_find(address);
	CUresult result = CUDA_SUCCESS;

	if (!window)
		result = window_make(address, &window);
	else if (window->access == CU_MEM_ACCESS_FLAGS_PROT_NONE)
		result = window_follow(window);		/* perhaps it is being made */
	if (result != CUDA_SUCCESS)
		return result;
	*view = &window->view;
	*offset = address - window->start;
	if (*offset >= window->view.bytes)
		return fail(CUDA_ERROR_INVALID_VALUE, "%#llx is being unmapped", address);
	if (access)
		*access = window->access;
	return CUDA_SUCCESS;
}

/**
 * window_view() - the view of a window, for calls and for signal handlers
 * @address: in the window
 * @view: output
 * @offset: output, of @address in the view
 * @access: output unless NULL: what the CPU may do there. It may be out of date;
 *	what it can do is up to the kernel.
 *
 * errno is not kept.
 */
CUresult window_view(CUdeviceptr address, const struct memcast_view **view,
		     size_t *offset, CUmemAccess_flags *access)
{
	CUresult result = library_ready();

	return result == CUDA_SUCCESS ? window_get(address, view, offset, access) : result;
}

/*
 * Could a window be there? Most faults of a program's own are elsewhere, and must
 * not cost it system calls, nor a thread's first use of our thread-local memory:
 * that may be a malloc().
 */
bool window_near(CUdeviceptr address)
{
	return library_open() && address >= lowest && address < highest;
}

/* As window_view(), for faults: also of threads that run on while others exit(). */
bool window_trapped(CUdeviceptr address, const struct memcast_view **view,
		    size_t *offset, CUmemAccess_flags *access)
{
	return window_near(address) &&
	       window_get(address, view, offset, access) == CUDA_SUCCESS;
}

/* Return: the first slot from @at on, which becomes its address; NULL at @end. */
static void *_Atomic *slot_next(CUdeviceptr *at, CUdeviceptr end)
{
	while (*at < end) {
		void *_Atomic *slot = slot_of(*at, false);

		if (slot)
			return slot;
		*at += LEAF_BYTES - *at % LEAF_BYTES;
	}
	return NULL;
}

/* After the kernel has: nobody may find a view there, nor have access by it. */
void windows_unmapped(CUdeviceptr address, size_t bytes)
{
	CUdeviceptr at = address, end = address + bytes;
	void *_Atomic *slot;

	if (!atomic_load(&windows))
		return;
	for (; (slot = slot_next(&at, end)); at += MEMCAST_GRANULARITY) {
		struct window *window = atomic_load(slot);
		CUdeviceptr start = window ? window->start : 0;

		/* Else it has gone, and is another by now. */
		if (window && at - start < window->view.bytes)
			window_retract(window, start);
	}
}

/*
 * After the kernel has, before anybody can have access. Windows may still be known
 * that went with a munmap() of the program's own.
 */
void windows_mapped(CUdeviceptr address, size_t bytes)
{
	CUdeviceptr seen = lowest;

	windows_unmapped(address, bytes);
	while (address < seen && !atomic_compare_exchange_weak(&lowest, &seen, address))
		;
	seen = highest;
	while (address + bytes > seen &&
	       !atomic_compare_exchange_weak(&highest, &seen, address + bytes))
		;
}

/* After the kernel has: views follow. */
void windows_access_set(CUdeviceptr address, size_t bytes)
{
	CUdeviceptr at = address, end = address + bytes;
	void *_Atomic *slot;

	if (!atomic_load(&windows))
		return;
	for (; (slot = slot_next(&at, end)); at += MEMCAST_GRANULARITY) {
		struct window *window = atomic_load(slot);

		/* Without the right access there is none. */
		if (window && window->start == at && window_follow(window) != CUDA_SUCCESS)
			window_retract(window, at);
	}
}

static CUresult view_at(CUdeviceptr address, const struct memcast_view **view,
			size_t *offset)
{
	if (!offset)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	return window_view(address, view, offset, NULL);
}

const struct memcast_view *memcastViewAt(CUdeviceptr address, size_t *offset)
{
	const struct memcast_view *view = NULL;
	CUresult result = CALL(view_at(address, &view, offset), "address=%#llx, offset=%p",
			       address, (void *)offset);

	return result == CUDA_SUCCESS ? view : NULL;
}
