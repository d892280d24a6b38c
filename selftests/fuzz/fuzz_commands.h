/* SPDX-License-Identifier: MIT */
/* fuzz_commands.c: the kind of value that each field of a command takes. */
#ifndef MEMCAST_FUZZ_COMMANDS_H
#define MEMCAST_FUZZ_COMMANDS_H

#include "fuzz.h"

/* Kinds of a field's value, besides those of enum fuzz_kind */
enum fuzz_field_kind {
	HANDLE = KINDS,		/* a memory's or a team's */
	ANY_HEAP,
	MAPPED, ANY_ADDRESS,
	DEVICE, OWN_DEVICE,	/* a device; the same or MEMCAST_DEVICE_OF_MEMORY */
	LOCATION, NODE,
	BYTES, OFFSET, EXTRA,	/* EXTRA: the extra of the thing picked last */
	HIGH, LOW,		/* the upper half of that extra; a block's size in bytes */
	TYPES, TYPE,
	FEW,			/* 0 to 3 */
	FLAGS,			/* 0, or a bit or two of the low four */
	ENTRIES, COUNT,
	FD, FABRIC, CHANNEL_FD,
	KEY,			/* of a client of this process */
	WIDTH, ROWS, SETTING,
	WAITING,		/* the number of a command that waits for a team, or of any */
	REST,			/* 0 */
};

struct fuzz_field {
	uint16_t at;
	uint8_t size, kind;
};

struct fuzz_command {
	const char *name;
	uint16_t size;
	struct fuzz_field field[14];
	/* the kind of object that a success gives, and the offsets of its value and extra */
	int16_t gives, value, extra;
};

extern const struct fuzz_command fuzz_commands[FUZZ_COMMANDS];

#endif /* MEMCAST_FUZZ_COMMANDS_H */
