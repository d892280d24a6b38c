/* SPDX-License-Identifier: MIT */
/*
 * How programs in a running machine are talked to: frames, over a virtio port between the
 * host and the machine, and over sockets at both ends of it.
 *
 * A client on the host has a channel. Its settings come first, then FRAME_START. Data are
 * not sent faster than they are taken: of each stream at most WIRE_WINDOW bytes are under
 * way, so that nobody who is slow holds up another channel.
 */
#ifndef VM_WIRE_H
#define VM_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WIRE_MOST	32768		/* bytes of one frame */
#define WIRE_WINDOW	(8 * WIRE_MOST)

enum frame_type {
	/* to the machine */
	FRAME_SETTING = 1,	/* "KEY=VALUE"; session.c has the keys */
	FRAME_START,
	FRAME_INPUT,		/* without bytes: its end */
	FRAME_CONTROL,		/* a line, as struct vm_ports has them */
	FRAME_PART,		/* the beginning of a setting that one frame does not hold */
	/* from the machine */
	FRAME_OUTPUT,
	FRAME_ERRORS,
	FRAME_STATUS,		/* lines, as report() writes them */
	/* both ways */
	FRAME_TAKEN,		/* struct taken */
	FRAME_CLOSED,		/* whom the channel led to has gone */
	/* of no channel */
	FRAME_READY,		/* the machine listens */
	FRAME_STOP,		/* the machine takes no more programs, or shall end */
	FRAME_LIST,		/* a client asks for what runs, and gets it in JSON */
};

struct frame {
	uint32_t channel, type, length;		/* of the bytes that follow */
};

struct taken {
	uint32_t stream, bytes;		/* FRAME_INPUT, FRAME_OUTPUT or FRAME_ERRORS */
};

/* Bytes that wait, from start to end */
struct bytes {
	char *data;
	size_t start, end, room;
};

static inline size_t bytes_left(const struct bytes *bytes)
{
	return bytes->end - bytes->start;
}

void bytes_add(struct bytes *bytes, const void *data, size_t length);
/* As much as @fd takes at once, @most bytes at most. Return: how much; -1: it is broken */
ssize_t bytes_write(struct bytes *bytes, int fd, size_t most);

/* An end of it. The files never block. */
struct wire {
	int from, to;
	struct bytes in, out;
};

struct wire wire_new(int from, int to);
void wire_end(struct wire *wire);
void wire_put(struct wire *wire, uint32_t channel, uint32_t type, const void *data, size_t length);
/* Read what there is. Return: false at the end */
bool wire_read(struct wire *wire);
/* Write what can be written. Return: false if nobody reads any more */
bool wire_write(struct wire *wire);
/* The next whole frame, which lasts until the next call. Return: whether there was one */
bool wire_next(struct wire *wire, struct frame *frame, const char **data);

#endif /* VM_WIRE_H */
