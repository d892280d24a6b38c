// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "wire.h"

static void make_room(struct bytes *bytes, size_t length)
{
	if (bytes->room - bytes->end >= length)
		return;
	memmove(bytes->data, bytes->data + bytes->start, bytes_left(bytes));
	bytes->end -= bytes->start;
	bytes->start = 0;
	if (bytes->room - bytes->end >= length)
		return;
	bytes->room = 2 * (bytes->end + length);
	bytes->data = realloc(bytes->data, bytes->room);
	if (!bytes->data)
		abort();
}

void bytes_add(struct bytes *bytes, const void *data, size_t length)
{
	if (!length)
		return;
	make_room(bytes, length);
	memcpy(bytes->data + bytes->end, data, length);
	bytes->end += length;
}

ssize_t bytes_write(struct bytes *bytes, int fd, size_t most)
{
	size_t length = bytes_left(bytes) < most ? bytes_left(bytes) : most;
	ssize_t done = length ? write(fd, bytes->data + bytes->start, length) : 0;

	if (done < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	bytes->start += (size_t)done;
	return done;
}

struct wire wire_new(int from, int to)
{
	fcntl(from, F_SETFL, fcntl(from, F_GETFL) | O_NONBLOCK);
	fcntl(to, F_SETFL, fcntl(to, F_GETFL) | O_NONBLOCK);
	return (struct wire){ .from = from, .to = to };
}

void wire_end(struct wire *wire)
{
	close(wire->from);
	if (wire->to != wire->from)
		close(wire->to);
	free(wire->in.data);
	free(wire->out.data);
	*wire = (struct wire){ -1, -1, { 0 }, { 0 } };
}

void wire_put(struct wire *wire, uint32_t channel, uint32_t type, const void *data, size_t length)
{
	const struct frame frame = { channel, type, (uint32_t)length };

	bytes_add(&wire->out, &frame, sizeof(frame));
	bytes_add(&wire->out, data, length);
}

bool wire_read(struct wire *wire)
{
	ssize_t got;

	make_room(&wire->in, WIRE_MOST);
	got = read(wire->from, wire->in.data + wire->in.end, WIRE_MOST);
	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	wire->in.end += (size_t)got;
	return got > 0;
}

bool wire_write(struct wire *wire)
{
	return bytes_write(&wire->out, wire->to, bytes_left(&wire->out)) >= 0;
}

bool wire_next(struct wire *wire, struct frame *frame, const char **data)
{
	struct bytes *in = &wire->in;

	if (bytes_left(in) < sizeof(*frame))
		return false;
	memcpy(frame, in->data + in->start, sizeof(*frame));
	if (frame->length > WIRE_MOST) {
		/* Not a frame: the bytes that follow have no meaning any more. */
		in->start = in->end;
		return false;
	}
	if (bytes_left(in) < sizeof(*frame) + frame->length)
		return false;
	*data = in->data + in->start + sizeof(*frame);
	in->start += sizeof(*frame) + frame->length;
	return true;
}
