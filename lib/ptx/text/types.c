// SPDX-License-Identifier: MIT
/* Types and modifiers of PTX. */
#include <stdlib.h>
#include <string.h>

#include "modifier.h"
#include "text.h"

const struct type_facts type_facts[TYPES] = {
#define T(id, text, bits, kind, packed) [TYPE_##id] = { text, bits, packed, KIND_##kind },
	PTX_TYPES(T)
#undef T
};

enum type type_of_word(const struct word *word)
{
	for (enum type type = 1; type < TYPES; type++) {
		size_t length = strlen(type_facts[type].name);

		if (word->length == length + 1 && !memcmp(word->at + 1, type_facts[type].name,
							  length))
			return type;
	}
	return TYPE_NONE;
}

static const char *const modifier_texts[MODIFIERS] = {
#define M(id, text) [MOD_##id] = text,
	PTX_MODIFIERS(M)
#undef M
};

/* A table by hash: texts have thousands of modifiers. */
#define SLOTS	1024
static uint16_t slots[SLOTS];

static uint32_t slot_of(const char *text, size_t length)
{
	uint32_t hash = 5381;

	for (size_t i = 0; i < length; i++)
		hash = hash * 33 ^ (unsigned char)text[i];
	return (hash ^ hash >> 10) % SLOTS;
}

__attribute__((constructor)) static void fill_slots(void)
{
	for (int i = 1; i < MODIFIERS; i++) {
		uint32_t at = slot_of(modifier_texts[i], strlen(modifier_texts[i]));

		while (slots[at])
			at = (at + 1) % SLOTS;
		slots[at] = i;
	}
}

enum modifier modifier_of_word(const struct word *word)
{
	for (uint32_t at = slot_of(word->at + 1,
				   word->length - 1); slots[at]; at = (at + 1) % SLOTS) {
		const char *text = modifier_texts[slots[at]];

		if (strlen(text) == word->length - 1 && !memcmp(text, word->at + 1,
								word->length - 1))
			return slots[at];
	}
	return MOD_NONE;
}
