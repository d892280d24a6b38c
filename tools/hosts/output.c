// SPDX-License-Identifier: MIT
/* Passes on the output of ranks in whole lines, each with the rank in front, so that none mix. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "hosts.h"

#define LINE_MAX_BYTES	(64 << 10)	/* longer lines come out in several ones */

struct stream {
	struct watch watch;
	struct stream *next;
	int to;
	char label[16];
	char *line;
	size_t length;
};

static struct stream *streams;

static void write_out(struct stream *stream, const char *text, size_t length)
{
	static bool said;
	struct iovec parts[] = {
		{ stream->label, strlen(stream->label) }, { (void *)text, length }, { "\n", 1 },
	};
	int count = 3;
	struct iovec *part = parts;

	while (count) {
		ssize_t done = writev(stream->to, part, count);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0 && errno == EAGAIN) {
			poll(&(struct pollfd) { stream->to, POLLOUT, 0 }, 1, -1);
			continue;
		}
		if (done < 0) {
			if (errno != EPIPE && !said)
				say("cannot write: %s", strerror(errno));
			said = true;
			/* The reader has gone: end as a program does that writes to such a pipe. */
			launch_end(errno == EPIPE ? 128 + SIGPIPE : STATUS_OURS);
			return;
		}
		for (; count && (size_t)done >= part->iov_len; part++, count--)
			done -= (ssize_t)part->iov_len;
		if (count) {
			part->iov_base = (char *)part->iov_base + done;
			part->iov_len -= (size_t)done;
		}
	}
}

/* Writes all whole lines; also the beginning of a line that fills the buffer. */
static void write_lines(struct stream *stream)
{
	char *at = stream->line, *stop = at + stream->length, *end;

	while ((end = memchr(at, '\n', (size_t)(stop - at)))) {
		write_out(stream, at, (size_t)(end - at));
		at = end + 1;
	}
	stream->length = (size_t)(stop - at);
	memmove(stream->line, at, stream->length);
	if (stream->length == LINE_MAX_BYTES) {
		write_out(stream, stream->line, stream->length);
		stream->length = 0;
	}
}

static void stream_end(struct stream *stream)
{
	if (stream->length)
		write_out(stream, stream->line, stream->length);
	for (struct stream **at = &streams; *at; at = &(*at)->next) {
		if (*at == stream) {
			*at = stream->next;
			break;
		}
	}
	watch_remove(&stream->watch);
	free(stream->line);
	free(stream);
}

/* Reads some output. Return: false at its end */
static bool stream_read(struct stream *stream)
{
	ssize_t got = read(stream->watch.fd, stream->line + stream->length,
			   LINE_MAX_BYTES - stream->length);

	if (got < 0)
		return errno == EINTR || errno == EAGAIN;
	stream->length += (size_t)got;
	write_lines(stream);
	return got;
}

static void stream_ready(struct watch *watch)
{
	struct stream *stream = (struct stream *)watch;

	if (!stream_read(stream))
		stream_end(stream);
}

/* Labels have ranks of the same width, as those of srun --label. */
int output_open(int to, unsigned int rank, unsigned int ranks)
{
	struct stream *stream = calloc(1, sizeof(*stream));
	int ends[2];

	if (!stream || pipe2(ends, O_CLOEXEC))
		die("cannot make a pipe for the output of rank %u: %s", rank, strerror(errno));
	stream->line = malloc(LINE_MAX_BYTES);
	if (!stream->line)
		die("no memory");
	snprintf(stream->label, sizeof(stream->label), "%*u: ",
		 snprintf(NULL, 0, "%u", ranks - 1), rank);
	stream->to = to;
	stream->watch = (struct watch) { ends[0], stream_ready };
	stream->next = streams;
	streams = stream;
	watch_add(&stream->watch);
	return ends[1];
}

void output_finish(void)
{
	while (streams) {
		while (stream_read(streams))
			;
		stream_end(streams);
	}
}
