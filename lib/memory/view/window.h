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

struct window {
	struct memcast_view view;
	CUdeviceptr start;		/* of the window's mapping, which has the view's size */
	_Atomic CUmemAccess_flags access;
	CUdevice member;		/* device whose access to the view is the CPU's */
	atomic_uint users;		/* the tree, and each holder; 0: may be used again */
	atomic_bool gone;		/* from the tree, even if slots still have it */
	struct window *next;		/* in the list of unused windows */
};

struct window *window_alloc(void);
void window_put(struct window *window);

struct window *window_find(CUdeviceptr address);
struct window *window_hold(CUdeviceptr address);
struct window *window_next(CUdeviceptr *address, CUdeviceptr end);

struct window *window_publish(struct window *window);
void window_fill(struct window *window);
bool window_remove(struct window *window);

#endif /* LIBRARY_WINDOW_H */
