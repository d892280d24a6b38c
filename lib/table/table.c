// SPDX-License-Identifier: MIT
/* Tables of handles: see table.h. */
#include <stdbool.h>
#include <stdlib.h>

#include "table.h"

static int grow(struct table *table)
{
	uint32_t i, size = table->size ? 2 * table->size : 64;
	struct table_entry *entries;

	if (size > TABLE_FIRST)
		return -1;
	entries = realloc(table->entries, size * sizeof(*entries));
	if (!entries)
		return -1;
	for (i = table->size; i < size; i++)
		entries[i] = (struct table_entry) { .next = i + 1 };
	table->entries = entries;
	table->free = table->size;
	table->size = size;
	return 0;
}

/* Return: the handle, or 0 if there is no room. */
uintptr_t table_add(struct table *table, void *object)
{
	struct table_entry *entry;
	uintptr_t handle = 0;

	pthread_mutex_lock(&table->lock);
	if (table->free < table->size || !grow(table)) {
		entry = &table->entries[table->free];
		handle = ++entry->uses << TABLE_BITS | table->free;
		table->free = entry->next;
		entry->object = object;
	}
	pthread_mutex_unlock(&table->lock);
	return handle;
}

static struct table_entry *entry_of(struct table *table, const void *handle)
{
	uintptr_t number = (uintptr_t)handle % TABLE_FIRST;
	struct table_entry *entry = &table->entries[number];

	if (number >= table->size || !entry->object ||
	    entry->uses != (uintptr_t)handle >> TABLE_BITS)
		return NULL;
	return entry;
}

/* Return: an object, with a new reference for the caller, or (@remove) with that of the table. */
static void *look_up(struct table *table, const void *handle, bool remove)
{
	struct table_entry *entry;
	void *object = NULL;

	pthread_mutex_lock(&table->lock);
	entry = entry_of(table, handle);
	if (entry) {
		object = entry->object;
		if (remove) {
			entry->object = NULL;
			entry->next = table->free;
			table->free = entry - table->entries;
		} else {
			table->get(object);
		}
	}
	pthread_mutex_unlock(&table->lock);
	return object;
}

/* Return: the object with one more reference, or NULL. */
void *table_find(struct table *table, const void *handle)
{
	return look_up(table, handle, false);
}

/* Return: the object, with the reference that the table had, or NULL. */
void *table_remove(struct table *table, const void *handle)
{
	return look_up(table, handle, true);
}
