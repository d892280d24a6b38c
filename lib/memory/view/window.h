/* SPDX-License-Identifier: MIT */
/*
 * window.c: which view a window has, and how it follows it; window_tree.c: where they
 * are found. No locks and no malloc() in either: signal handlers look up too, of the
 * very thread that is changing the tree.
 */
#ifndef LIBRARY_WINDOW_H
#define LIBRARY_WINDOW_H

#include <stdatomic.h>

#include "library.h"

struct window {
	struct memcast_view view;
	CUdeviceptr start;		/* of the mapping; the view has its size */
	_Atomic CUmemAccess_flags access;
	CUdevice member;		/* stands for the CPU */
	atomic_uint users;		/* the tree, and who holds it: not used again before */
	atomic_bool gone;		/* from the tree, whatever slots still have it */
	struct window *next;		/* in the list of unused ones */
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
