// SPDX-License-Identifier: MIT
/* Tables of handles: see table.h. */
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
		entry->ended = false;
	}
	pthread_mutex_unlock(&table->lock);
	return handle;
}

/* Return: the entry that had this handle last, or NULL */
static struct table_entry *entry_of(struct table *table, const void *handle)
{
	uintptr_t number = (uintptr_t)handle % TABLE_FIRST;
	struct table_entry *entry = &table->entries[number];

	return number < table->size && entry->uses == (uintptr_t)handle >> TABLE_BITS ?
	       entry : NULL;
}

static void *take(struct table *table, struct table_entry *entry)
{
	void *object = entry->object;

	entry->object = NULL;
	entry->next = table->free;
	table->free = entry - table->entries;
	return object;
}

/* Return: an object, with a new reference for the caller, or (@remove) with that of the table. */
static void *look_up(struct table *table, const void *handle, bool remove)
{
	struct table_entry *entry;
	void *object = NULL;

	pthread_mutex_lock(&table->lock);
	entry = entry_of(table, handle);
	if (entry && entry->object) {
		object = remove ? take(table, entry) : entry->object;
		if (!remove)
			table->get(object);
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

void table_end(struct table *table, bool (*is_of)(const void *object, const void *owner),
	       const void *owner, void (*put)(void *object))
{
	uint32_t at = 0;
	void *object;

	do {
		object = NULL;
		pthread_mutex_lock(&table->lock);
		for (; at < table->size && !object; at++) {
			struct table_entry *entry = &table->entries[at];

			if (entry->object && is_of(entry->object, owner)) {
				object = take(table, entry);
				entry->ended = true;
			}
		}
		pthread_mutex_unlock(&table->lock);
		if (object)
			put(object);
	} while (object);
}

bool table_ended(struct table *table, const void *handle)
{
	struct table_entry *entry;
	bool ended;

	pthread_mutex_lock(&table->lock);
	entry = entry_of(table, handle);
	ended = entry && entry->ended;
	pthread_mutex_unlock(&table->lock);
	return ended;
}
