// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hosts.h"

union control {
	struct cmsghdr header;
	char space[CMSG_SPACE(MESSAGE_FDS * sizeof(int))];
};

bool message_send(int socket, const struct message *message, const int *fds, unsigned int count)
{
	union control control = { .header = {
		.cmsg_len = CMSG_LEN(count * sizeof(int)),
		.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
	} };
	struct iovec part = { (void *)message, sizeof(*message) };
	struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t sent;

	if (count) {
		memcpy(CMSG_DATA(&control.header), fds, count * sizeof(int));
		header.msg_control = &control;
		header.msg_controllen = CMSG_SPACE(count * sizeof(int));
	}
	do {
		sent = sendmsg(socket, &header, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)sizeof(*message);
}

bool message_receive(int socket, struct message *message, int *fds)
{
	union control control;
	struct iovec part = { message, sizeof(*message) };
	struct msghdr header = {
		.msg_iov = &part, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *passed;
	ssize_t got;

	memset(fds, 0xff, MESSAGE_FDS * sizeof(int));
	do {
		got = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got != (ssize_t)sizeof(*message))
		return false;
	passed = CMSG_FIRSTHDR(&header);
	if (passed && passed->cmsg_level == SOL_SOCKET && passed->cmsg_type == SCM_RIGHTS)
		memcpy(fds, CMSG_DATA(passed), passed->cmsg_len - CMSG_LEN(0));
	message->words[sizeof(message->words) - 1] = '\0';
	if (message->groups_count > sizeof(message->groups) / sizeof(message->groups[0]))
		message->groups_count = 0;
	return true;
}

/* Writes strings with the NUL that ends each, and an empty string behind each list. */
int spec_write(const struct spec *spec)
{
	int fd = memfd_create("memcast-hosts", MFD_CLOEXEC), copy = dup(fd);
	char *const *list;
	FILE *file = copy < 0 ? NULL : fdopen(copy, "w");

	if (!file)
		die("no memory for a program's words: %s", strerror(errno));
	fwrite(spec->folder, 1, strlen(spec->folder) + 1, file);
	/* Strings in lists may be empty, so a dot is in front of each. */
	for (list = spec->argv; *list; list++)
		fprintf(file, ".%s%c", *list, 0);
	fputc(0, file);
	for (list = spec->env; *list; list++)
		fprintf(file, ".%s%c", *list, 0);
	fputc(0, file);
	if (fclose(file))
		die("no memory for a program's words: %s", strerror(errno));
	return fd;
}

/* Return: the text behind the list, or NULL if the list has no end before @end */
static char *read_list(char *at, const char *end, char ***list)
{
	size_t count = 0;

	*list = NULL;
	for (;; count++) {
		*list = reallocarray(*list, count + 1, sizeof(**list));
		if (!*list || at >= end)
			return NULL;
		if (!*at)
			break;
		(*list)[count] = at + 1;
		at += strlen(at) + 1;
	}
	(*list)[count] = NULL;
	return at + 1;
}

bool spec_read(int fd, struct spec *spec)
{
	struct stat stat;
	char *text, *at;
	ssize_t got;

	if (fstat(fd, &stat))
		return false;
	text = malloc((size_t)stat.st_size + 1);
	if (!text)
		return false;
	got = pread(fd, text, (size_t)stat.st_size, 0);
	if (got != stat.st_size || !got)
		return false;
	text[got] = '\0';
	spec->folder = text;
	at = text + strlen(text) + 1;
	at = read_list(at, text + got, &spec->argv);
	at = at ? read_list(at, text + got, &spec->env) : NULL;
	return at && spec->argv[0];
}
