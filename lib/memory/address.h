/* SPDX-License-Identifier: MIT */
/* Addresses: reservations, and who may access what is mapped there. */
#ifndef LIBRARY_ADDRESS_H
#define LIBRARY_ADDRESS_H

#include "library.h"

CUresult address_reserve(CUdeviceptr *address, size_t size, size_t alignment,
			 CUdeviceptr hint);
CUresult address_free_mapped(CUdeviceptr address, size_t size);

#define ACCESS_ENTRIES	(2 * MEMCAST_MAX_DEVICES)
/* For so many descriptors, in an array on the stack: some threads have little of that. */
#define ACCESS_ROOM(count)	((count) && (count) <= ACCESS_ENTRIES ? (count) : 1)
CUresult access_entries(struct memcast_access_entry *entries,
			const CUmemAccessDesc *desc, size_t count);

/* What faults want to know of memory; lib/fault/ fills it in as the library is loaded. */
extern const struct memory_watcher {
	/* MEMCAST_STRICT: no plain loads and stores at a team's addresses */
	bool (*strict)(void);
	/* the program has a handle that may be a team's */
	void (*expect_team)(void);
	/* something is mapped at an address */
	void (*mapped)(CUdeviceptr address);
} *memory_watcher;

#endif /* LIBRARY_ADDRESS_H */
