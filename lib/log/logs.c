// SPDX-License-Identifier: MIT
/*
 * The log as the interface has it: the last lines kept in memory, and functions
 * that are called for each. A place in it is how many lines there were before.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "library.h"

#define LINES		100
#define LOST_NOTE	"memcast: older lines are lost\n"
#define ROOM_NOTE	"memcast: there is no room for older lines\n"

struct CUlogsCallbackEntry_st {
	struct CUlogsCallbackEntry_st *next;
	CUlogsCallback function;
	void *data;
	unsigned int calls;	/* under way */
	bool removed;		/* waits for them to return */
};

/* Protects what follows; not held while a callback runs. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t returned = PTHREAD_COND_INITIALIZER;
static char lines[LINES][LOG_LINE];
static unsigned int count;
static struct CUlogsCallbackEntry_st *callbacks;

static __thread bool in_callback;

static void take(void)
{
	pthread_mutex_lock(&lock);
}

static void give(void)
{
	pthread_mutex_unlock(&lock);
}

/* A child of fork() logs its calls' failures too. */
__attribute__((constructor))
static void logs_load(void)
{
	pthread_atfork(take, give, give);
}

/* With the lock, which is given up for each call; entries stay meanwhile. */
static void call_back(const char *line, size_t length)
{
	struct CUlogsCallbackEntry_st *entry;
	char copy[LOG_LINE];

	in_callback = true;
	for (entry = callbacks; entry; entry = entry->next) {
		if (entry->removed)
			continue;
		entry->calls++;
		give();
		memcpy(copy, line, length);
		copy[length] = '\0';
		entry->function(entry->data, CU_LOG_LEVEL_ERROR, copy, length);
		take();
		if (!--entry->calls && entry->removed)
			pthread_cond_broadcast(&returned);
	}
	in_callback = false;
}

/* A line with its newline, shorter than LOG_LINE. */
void logs_add(const char *line, size_t length)
{
	take();
	memcpy(lines[count++ % LINES], line, length + 1);
	/* What fails in a callback would call it again, and so on. */
	if (!in_callback)
		call_back(line, length - 1);
	give();
}

static CUresult register_callback(CUlogsCallback function, void *data,
				  CUlogsCallbackHandle *handle)
{
	struct CUlogsCallbackEntry_st *entry;

	if (!function)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL function");
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "%m");
	entry->function = function;
	entry->data = data;
	take();
	entry->next = callbacks;
	callbacks = entry;
	give();
	if (handle)
		*handle = entry;
	return CUDA_SUCCESS;
}

CUresult cuLogsRegisterCallback(CUlogsCallback function, void *data,
				CUlogsCallbackHandle *handle)
{
	return LOGGED(register_callback(function, data, handle),
		      "function=%p, data=%p, handle=%p", (void *)function, data,
		      (void *)handle);
}

static CUresult unregister_callback(CUlogsCallbackHandle handle)
{
	struct CUlogsCallbackEntry_st **at;

	if (in_callback)
		return fail(CUDA_ERROR_NOT_PERMITTED,
			    "a callback would wait for itself to return");
	take();
	for (at = &callbacks; *at && *at != handle; at = &(*at)->next)
		;
	if (!*at || handle->removed) {
		give();
		return fail(CUDA_ERROR_INVALID_VALUE, "not a registered callback");
	}
	handle->removed = true;
	while (handle->calls)
		pthread_cond_wait(&returned, &lock);
	/* The list may have changed in between. */
	for (at = &callbacks; *at != handle; at = &(*at)->next)
		;
	*at = handle->next;
	give();
	free(handle);
	return CUDA_SUCCESS;
}

CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle handle)
{
	return LOGGED(unregister_callback(handle), "handle=%p", (void *)handle);
}

static CUresult current(CUlogIterator *iterator, unsigned int flags)
{
	if (!iterator)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	if (flags)
		return fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
	take();
	*iterator = count;
	give();
	return CUDA_SUCCESS;
}

CUresult cuLogsCurrent(CUlogIterator *iterator, unsigned int flags)
{
	return LOGGED(current(iterator, flags), "iterator=%p, flags=%#x",
		      (void *)iterator, flags);
}

/* Where to start, with the lock; and whether lines before that are lost. */
static CUresult first_line(const CUlogIterator *iterator, unsigned int *first, bool *lost)
{
	unsigned int kept = count < LINES ? count : LINES;

	*first = iterator ? *iterator : 0;
	if (*first > count)
		return fail(CUDA_ERROR_INVALID_VALUE, "the log has %u lines, not %u",
			    count, *first);
	*lost = *first < count - kept;
	if (*lost)
		*first = count - kept;
	return CUDA_SUCCESS;
}

static bool write_all(int fd, const char *text)
{
	size_t left = strlen(text);

	while (left) {
		ssize_t done = write(fd, text, left);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return false;
		text += done;
		left -= done;
	}
	return true;
}

static CUresult dump_to_fd(CUlogIterator *iterator, int fd)
{
	unsigned int line;
	bool good, lost = false;
	CUresult result = first_line(iterator, &line, &lost);

	if (result != CUDA_SUCCESS)
		return result;
	good = !lost || write_all(fd, LOST_NOTE);
	for (; good && line < count; line++)
		good = write_all(fd, lines[line % LINES]);
	if (!good)
		return fail(CUDA_ERROR_OPERATING_SYSTEM, "writing the log: %m");
	if (iterator)
		*iterator = count;
	return CUDA_SUCCESS;
}

static CUresult dump_to_file(CUlogIterator *iterator, const char *path, unsigned int flags)
{
	CUresult result;
	int fd;

	if (!path)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	if (flags)
		return fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0)
		return fail(CUDA_ERROR_OPERATING_SYSTEM, "%s: %m", path);
	take();
	result = dump_to_fd(iterator, fd);
	give();
	close(fd);
	return result;
}

CUresult cuLogsDumpToFile(CUlogIterator *iterator, const char *path, unsigned int flags)
{
	return LOGGED(dump_to_file(iterator, path, flags), "iterator=%p, path=%s, flags=%#x",
		      (void *)iterator, path ? path : "NULL", flags);
}

/* The last lines from @first on that fit into @size bytes; moves @first there. */
static size_t fitting(unsigned int *first, size_t size)
{
	unsigned int line = count;
	size_t used = 0, length;

	while (line > *first) {
		length = strlen(lines[(line - 1) % LINES]);
		if (length > size - used)
			break;
		used += length;
		line--;
	}
	*first = line;
	return used;
}

static CUresult dump(CUlogIterator *iterator, char *buffer, size_t *size)
{
	unsigned int wanted, line;
	const char *note = "";
	bool lost = false;
	CUresult result = first_line(iterator, &wanted, &lost);
	size_t room = *size - 1;

	if (result != CUDA_SUCCESS)
		return result;
	if (lost)
		note = LOST_NOTE;
	line = wanted;
	if (strlen(note) + fitting(&line, room) > room || line > wanted) {
		note = ROOM_NOTE;
		line = wanted;
		if (strlen(note) < room)
			fitting(&line, room - strlen(note));
		else
			line = count;
	}
	if (line == count && wanted < count) {
		*size = 0;
		return fail(CUDA_ERROR_INVALID_VALUE, "no line fits into the buffer");
	}
	buffer = stpcpy(buffer, note);
	*size = strlen(note);
	for (; line < count; line++) {
		*size += strlen(lines[line % LINES]);
		buffer = stpcpy(buffer, lines[line % LINES]);
	}
	if (iterator)
		*iterator = count;
	return CUDA_SUCCESS;
}

static CUresult dump_to_memory(CUlogIterator *iterator, char *buffer, size_t *size,
			       unsigned int flags)
{
	CUresult result;

	if (!buffer || !size || !*size)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer, or no bytes");
	if (flags)
		return fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
	take();
	result = dump(iterator, buffer, size);
	give();
	return result;
}

CUresult cuLogsDumpToMemory(CUlogIterator *iterator, char *buffer, size_t *size,
			    unsigned int flags)
{
	return LOGGED(dump_to_memory(iterator, buffer, size, flags),
		      "iterator=%p, buffer=%p, size=%p, flags=%#x", (void *)iterator,
		      (void *)buffer, (void *)size, flags);
}
