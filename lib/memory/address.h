/* SPDX-License-Identifier: MIT */
/* Reservations, and access to what is mapped in them. */
#ifndef LIBRARY_ADDRESS_H
#define LIBRARY_ADDRESS_H

#include "base/base.h"

CUresult address_reserve(CUdeviceptr *address, size_t size, size_t alignment,
			 CUdeviceptr hint, unsigned int key);
CUresult address_free_mapped(CUdeviceptr address, size_t size);

/* tail.c: maps what MEMCAST_MAP has refused, if the range leaves its reservation */
CUresult tail_map(struct memcast_map *arg);
/* MEMCAST_UNMAP, which also ends the tail of the reservation that the range leaves */
CUresult tail_unmap(struct memcast_unmap *arg);

#define ACCESS_ENTRIES	(2 * MEMCAST_MAX_DEVICES)
/* size of an array on the stack for @count descriptors; some threads have little stack */
#define ACCESS_ROOM(count)	((count) && (count) <= ACCESS_ENTRIES ? (count) : 1)
CUresult access_entries(struct memcast_access_entry *entries,
			const CUmemAccessDesc *desc, size_t count);

/* Events that faults watch; lib/fault/ fills this in as the library is loaded. */
extern const struct memory_watcher {
	/* Does MEMCAST_STRICT forbid plain loads and stores at a team's addresses? */
	bool (*strict)(void);
	/* the program got a handle that may be a team's */
	void (*expect_team)(void);
	/* an object was mapped at an address */
	void (*mapped)(CUdeviceptr address);
} *memory_watcher;

/* The call that gave the program a block of a heap; lib/alloc/ fills this in. For signal handlers, too. */
extern const char *(*block_origin)(const struct memcast_address_info *info);

#endif /* LIBRARY_ADDRESS_H */
