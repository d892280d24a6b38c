/* SPDX-License-Identifier: MIT */
/*
 * Frames between clients on the host and programs in a running machine, over a virtio port
 * between the host and the machine, and over sockets at both ends of the port.
 *
 * A client on the host has a channel. Its settings come first, then FRAME_START. Data are
 * not sent faster than they are taken: of each stream at most WIRE_WINDOW bytes are under
 * way, so that a slow program or client does not hold up another channel.
 *
 * dropbear and ssh in place of this were tried. A program's first line comes as fast only where an ssh
 * connection stays open. Users would lose variables of their environment, commands above 9,000
 * bytes, the signals that end a program, and the end of a program whose client was killed.
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
	FRAME_INPUT,		/* without bytes: the end of input */
	FRAME_CONTROL,		/* a line, as on the port control of struct vm_ports */
	FRAME_PART,		/* a setting that is too long for a frame, without its last part */
	/* from the machine */
	FRAME_OUTPUT,
	FRAME_ERRORS,
	FRAME_STATUS,		/* lines, as report() writes them */
	/* both ways */
	FRAME_TAKEN,		/* struct taken */
	FRAME_CLOSED,		/* the program or client of the channel has gone */
	/* of no channel */
	FRAME_READY,		/* the machine listens */
	FRAME_STOP,		/* the machine takes no more programs, or is to end */
	FRAME_LIST,		/* a client asks for the list of programs, and gets it in JSON */
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
/* Writes as much as @fd takes, @most bytes at most. Return: how much; -1: @fd is broken */
ssize_t bytes_write(struct bytes *bytes, int fd, size_t most);

/* An end of a connection. The files never block. */
struct wire {
	int from, to;
	struct bytes in, out;
};

struct wire wire_new(int from, int to);
void wire_end(struct wire *wire);
void wire_put(struct wire *wire, uint32_t channel, uint32_t type, const void *data, size_t length);
/* Read all data that has come. Return: false at the end */
bool wire_read(struct wire *wire);
/* Write as much as the file takes. Return: false if the reader has gone */
bool wire_write(struct wire *wire);
/* The next whole frame, which lasts until the next call. Return: whether there was one */
bool wire_next(struct wire *wire, struct frame *frame, const char **data);

#endif /* VM_WIRE_H */
