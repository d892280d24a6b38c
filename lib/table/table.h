/* SPDX-License-Identifier: MIT */
/*
 * Tables of handles. A handle is an entry's number and a count of that entry's uses, so that a
 * stale handle is always told from a live one. No handle is below TABLE_FIRST: the small
 * numbers have other meanings.
 */
#ifndef MEMCAST_TABLE_H
#define MEMCAST_TABLE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define TABLE_BITS	20
#define TABLE_FIRST	((uintptr_t)1 << TABLE_BITS)

struct table {
	pthread_mutex_t lock;	/* protects the table; innermost */
	struct table_entry {
		void *object;	/* NULL: free */
		uintptr_t uses;
		uint32_t next;	/* number of the next free entry, if this one is free */
		bool ended;	/* by table_end(), since then free */
	} *entries;
	uint32_t size, free;
	/* takes a reference for the caller that has found an object */
	void (*get)(void *object);
};

#define TABLE(get_object)	{ .lock = PTHREAD_MUTEX_INITIALIZER, .get = (get_object) }

uintptr_t table_add(struct table *table, void *object);
void *table_find(struct table *table, const void *handle);
void *table_remove(struct table *table, const void *handle);

/*
 * Removes all objects of an owner, and gives each, with the table's reference, to @put, without the
 * lock. table_ended(): was that the end of this handle, whose entry no other has taken since?
 */
void table_end(struct table *table, bool (*is_of)(const void *object, const void *owner),
	       const void *owner, void (*put)(void *object));
bool table_ended(struct table *table, const void *handle);

#endif /* MEMCAST_TABLE_H */
