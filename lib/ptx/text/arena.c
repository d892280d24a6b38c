// SPDX-License-Identifier: MIT
/* Memory for what a text says, freed at once. */
#include <stdlib.h>
#include <string.h>

#include "text.h"

#define PIECE	(64UL << 10)

struct arena_piece {
	struct arena_piece *next;
	size_t used, room;
	unsigned char bytes[] __attribute__((aligned(16)));
};

/* Return: zeroed memory, or NULL */
void *arena_take(struct arena *arena, size_t bytes)
{
	struct arena_piece *piece = arena->pieces;
	size_t room;

	if (bytes > SIZE_MAX / 2)
		bytes = SIZE_MAX / 2;	/* no allocation succeeds with it */
	bytes = (bytes + 15) & ~(size_t)15;
	if (!piece || piece->room - piece->used < bytes) {
		room = bytes > PIECE ? bytes : PIECE;
		piece = calloc(1, sizeof(*piece) + room);
		if (!piece) {
			arena->empty = true;
			return NULL;
		}
		piece->room = room;
		piece->next = arena->pieces;
		arena->pieces = piece;
	}
	piece->used += bytes;
	return piece->bytes + piece->used - bytes;
}

/* Return: a list of @count items, of @each bytes, as it is or in more memory, with room for one more */
void *arena_more(struct arena *arena, void *list, uint32_t count, size_t each)
{
	void *more;

	if (count && (count < 8 || count & (count - 1)))	/* room for 8, 16, 32, … */
		return list;
	more = arena_take(arena, (count ? 2 * count : 8) * each);
	if (more && count)
		memcpy(more, list, count * each);
	return more;
}

char *arena_text(struct arena *arena, const char *text, size_t length)
{
	char *copy = arena_take(arena, length + 1);

	if (copy)
		memcpy(copy, text, length);
	return copy;
}

void arena_free(struct arena *arena)
{
	struct arena_piece *next;

	for (struct arena_piece *piece = arena->pieces; piece; piece = next) {
		next = piece->next;
		free(piece);
	}
	*arena = (struct arena) {};
}
