// SPDX-License-Identifier: MIT
/*
 * The tree of windows has the form of the processor's page tables: an entry per chunk, which
 * points to the window that has the chunk. Readers take no lock, and neither nodes nor windows
 * are ever freed, only used again.
 *
 * A window is out of the tree when it shows WINDOW_GONE; its slots are cleared after that, and
 * until then they count as empty. A thread that fills slots looks for that afterwards and clears
 * them itself, so a window that a slot points to is not used again yet.
 */
#include <string.h>
#include <sys/mman.h>

#include "window.h"

#define CHUNK_SHIFT	21
#define LEVEL_SHIFT	9
#define SLOTS		(1UL << LEVEL_SHIFT)
#define LEVELS		4		/* 57 bits of address, all that x86-64 has */
#define LEAF_BYTES	(SLOTS << CHUNK_SHIFT)

_Static_assert(1ULL << CHUNK_SHIFT == MEMCAST_GRANULARITY, "a slot is a chunk");

/* A node's slots point to nodes, a leaf's to windows. */
struct node {
	void *_Atomic slot[SLOTS];
};

static struct node root;
static struct window *_Atomic unused;

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

/* Return: the slot of an address; NULL if there is no node, or with @make no memory. */
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

/*
 * Unused windows are a list that is taken and put back as a whole: so it needs no lock, and no
 * window can be taken, put back and mistaken for the first one meanwhile.
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

/* Return: a window with one user, the caller; NULL: no memory. */
struct window *window_alloc(void)
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
	if (window) {
		/* the caller fills in the view's other fields */
		atomic_store(&window->shown, WINDOW_UNFINISHED);
		window->view.replicas = 0;
		memset(&window->start, 0, sizeof(*window) - offsetof(struct window, start));
		atomic_store(&window->users, 1);
	}
	return window;
}

void window_put(struct window *window)
{
	if (atomic_fetch_sub(&window->users, 1) == 1) {
		window->next = NULL;
		windows_give(window);
	}
}

/*
 * Return: the window at an address, or NULL. The caller does not hold it: it may be gone a
 * moment later.
 */
struct window *window_find(CUdeviceptr address)
{
	void *_Atomic *slot = slot_of(address, false);
	struct window *window;

	window = slot ? atomic_load_explicit(slot, memory_order_acquire) : NULL;
	return window && !window_gone(window) ? window : NULL;
}

/*
 * Return: a slot's window, held, or NULL. It may be gone, but is not used again before
 * window_put().
 */
static struct window *slot_hold(void *_Atomic *slot)
{
	struct window *window;

	while ((window = atomic_load(slot))) {
		unsigned int users = atomic_load(&window->users);

		/* 0: the window has left the slot since it was loaded */
		while (users && !atomic_compare_exchange_weak(&window->users, &users, users + 1))
			;
		if (users && atomic_load(slot) == window)
			return window;
		if (users)
			window_put(window);
	}
	return NULL;
}

/* Return: a slot's window, held, if it is not gone; else NULL. */
static struct window *slot_hold_present(void *_Atomic *slot)
{
	struct window *window = slot_hold(slot);

	if (!window || !window_gone(window))
		return window;
	window_put(window);
	return NULL;
}

/* As window_find(), but the window is held until the caller's window_put(). */
struct window *window_hold(CUdeviceptr address)
{
	void *_Atomic *slot = slot_of(address, false);

	return slot ? slot_hold_present(slot) : NULL;
}

/*
 * Return: the next window from *@address on, held; *@address becomes the address of the slot
 * that has it. NULL: no window before @end.
 */
struct window *window_next(CUdeviceptr *address, CUdeviceptr end)
{
	while (*address < end) {
		void *_Atomic *slot = slot_of(*address, false);
		struct window *window = slot ? slot_hold_present(slot) : NULL;

		if (window)
			return window;
		*address += slot ? MEMCAST_GRANULARITY : LEAF_BYTES - *address % LEAF_BYTES;
	}
	return NULL;
}

/* Puts @to into each slot of a window that has @from. */
static void slots_change(struct window *window, void *from, void *to)
{
	CUdeviceptr end = window->start + window->view.bytes;

	for (CUdeviceptr at = window->start; at < end; at += MEMCAST_GRANULARITY) {
		void *expected = from;

		atomic_compare_exchange_strong(slot_of(at, false), &expected, to);
	}
}

/* Enters a published, held window into those of its slots that still had other windows. */
void window_fill(struct window *window)
{
	slots_change(window, NULL, window);
	if (window_gone(window))
		slots_change(window, window, NULL);
}

/*
 * Return: a slot's window, held, if it is not gone; NULL: the slot is empty, perhaps cleared
 * just now.
 */
static struct window *slot_clear(void *_Atomic *slot)
{
	struct window *window = slot_hold(slot);
	void *expected = window;

	if (!window || !window_gone(window))
		return window;
	atomic_compare_exchange_strong(slot, &expected, NULL);
	window_put(window);
	return NULL;
}

/*
 * Enters a window into the tree. Return: the window that the tree has at its first chunk: this
 * one, or one that was entered earlier and is now held. NULL: no memory.
 */
struct window *window_publish(struct window *window)
{
	CUdeviceptr end = window->start + window->view.bytes;
	void *_Atomic *slot;
	void *none = NULL;

	for (CUdeviceptr at = window->start; at < end; at += MEMCAST_GRANULARITY)
		if (!slot_of(at, true))
			return NULL;
	slot = slot_of(window->start, false);
	atomic_fetch_add(&window->users, 1);
	while (!atomic_compare_exchange_strong(slot, &none, window)) {
		struct window *first = slot_clear(slot);

		if (first) {
			atomic_fetch_sub(&window->users, 1);
			return first;
		}
		none = NULL;
	}
	window_fill(window);
	return window;
}

/* Removes a held window. Return: was it in the tree? Then the caller puts the tree's reference. */
bool window_remove(struct window *window)
{
	if (atomic_exchange(&window->shown, WINDOW_GONE) == WINDOW_GONE)
		return false;
	slots_change(window, window, NULL);
	return true;
}
