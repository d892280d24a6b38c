/* SPDX-License-Identifier: MIT */
/* fuzz_commands.c: which field of which command takes what. */
#ifndef MEMCAST_FUZZ_COMMANDS_H
#define MEMCAST_FUZZ_COMMANDS_H

#include "fuzz.h"

/* What a field can be, besides a kind of thing */
enum fuzz_field_kind {
	HANDLE = KINDS,		/* of either type */
	ANY_HEAP,
	MAPPED, ANY_ADDRESS,
	DEVICE, OWN_DEVICE,	/* a device; or what stands for the memory's */
	LOCATION, NODE,
	BYTES, OFFSET, EXTRA,	/* EXTRA: of the thing picked last */
	HIGH, LOW,		/* the halves of that */
	TYPES, TYPE,
	FEW,			/* 0 to 3 */
	FLAGS,			/* 0, or a bit or two of the low four */
	ENTRIES, COUNT,
	FD, FABRIC, CHANNEL_FD,
	WIDTH, ROWS, SETTING,
	WAITING,		/* the number of a command that waits, or of any */
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
	/* what a success gives, and where that says so */
	int16_t gives, value, extra;
};

extern const struct fuzz_command fuzz_commands[FUZZ_COMMANDS];

#endif /* MEMCAST_FUZZ_COMMANDS_H */
