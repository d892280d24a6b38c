/* SPDX-License-Identifier: MIT */
/*
 * window.c gives each window its view and keeps the view's access as the window's;
 * window_tree.c finds windows by address. Neither takes locks or calls malloc(), and view.c does not
 * either: signal handlers look up windows too, also in the very thread that is changing the tree.
 */
#ifndef LIBRARY_WINDOW_H
#define LIBRARY_WINDOW_H

#include <stdatomic.h>

#include "base/base.h"

/* Values of "shown" at which no address is within a view */
#define WINDOW_UNFINISHED	(1ULL << 63)	/* not all replicas have access yet */
#define WINDOW_GONE		(WINDOW_UNFINISHED + 1)	/* from the tree, if not from all slots */

struct window {
	/*
	 * "start", as kernels see it: they keep a window that they have used, look here before each
	 * use, and find it unmapped, or another one (struct ptx_window)
	 */
	_Atomic CUdeviceptr shown;
	struct memcast_view view;
	CUdeviceptr start;		/* of the window's mapping, which has the view's size */
	_Atomic CUmemAccess_flags access;
	CUdevice member;		/* device whose access to the view is the CPU's */
	atomic_uint users;		/* the tree, and each holder; 0: may be used again */
	struct window *next;		/* in the list of unused windows */
};

static inline bool window_gone(const struct window *window)
{
	return atomic_load(&window->shown) == WINDOW_GONE;
}

struct window *window_alloc(void);
void window_put(struct window *window);

struct window *window_find(CUdeviceptr address);
struct window *window_hold(CUdeviceptr address);
struct window *window_next(CUdeviceptr *address, CUdeviceptr end);

struct window *window_publish(struct window *window);
void window_fill(struct window *window);
bool window_remove(struct window *window);

#endif /* LIBRARY_WINDOW_H */
