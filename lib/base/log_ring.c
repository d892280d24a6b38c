// SPDX-License-Identifier: MIT
/*
 * The log of the driver API (cuLogs…): the last lines, kept in memory, and callbacks that are
 * called for each line. An iterator is the number of lines that were logged before it.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base.h"

#define LINES		100
#define LOST_NOTE	"memcast: older lines are lost\n"
#define ROOM_NOTE	"memcast: there is no room for older lines\n"

struct CUlogsCallbackEntry_st {
	struct CUlogsCallbackEntry_st *next;
	CUlogsCallback function;
	void *data;
	unsigned int calls;	/* of the function, under way */
	bool removed;		/* unregistering waits for these calls */
};

/* The last lines, and the number of all lines that were ever logged */
struct log {
	unsigned int count;
	char line[LINES][LOG_LINE];
};

/*
 * Protects what follows. It is held only while memory of the library is copied, never while a
 * callback runs, a file is written or memory of the program is touched: each of these may take
 * for ever, and other threads' calls, and fork(), must not wait for it.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t returned = PTHREAD_COND_INITIALIZER;
static struct log all;
static struct CUlogsCallbackEntry_st *callbacks;

/* The callback that this thread runs */
static __thread struct CUlogsCallbackEntry_st *inside;

static void log_take(void)
{
	pthread_mutex_lock(&lock);
}

static void log_give(void)
{
	pthread_mutex_unlock(&lock);
}

/* A child has one thread: callbacks that other threads ran do not return in the child. */
static void log_forked_child(void)
{
	struct CUlogsCallbackEntry_st *entry;

	for (entry = callbacks; entry; entry = entry->next)
		entry->calls = entry == inside;
	returned = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
	log_give();
}

/* A child of fork() logs its calls' failures too. */
__attribute__((constructor))
static void logs_load(void)
{
	pthread_atfork(log_take, log_give, log_forked_child);
}

/* Keeps a line with its newline, shorter than LOG_LINE. The caller holds cancellation. */
void logs_add(const char *line, size_t length)
{
	log_take();
	memcpy(all.line[all.count++ % LINES], line, length + 1);
	log_give();
}

/*
 * Calls the callbacks for a line. The caller holds cancellation. A callback's entry stays while
 * it runs.
 */
void logs_call_back(CUlogLevel level, const char *line, size_t length)
{
	struct CUlogsCallbackEntry_st *entry;
	char copy[LOG_LINE];

	/* A call that fails in a callback would call the callback again, and so on. */
	if (inside)
		return;
	log_take();
	for (entry = callbacks; entry; entry = entry->next) {
		if (entry->removed)
			continue;
		entry->calls++;
		log_give();
		memcpy(copy, line, length - 1);
		copy[length - 1] = '\0';
		inside = entry;
		entry->function(entry->data, level, copy, length - 1);
		inside = NULL;
		log_take();
		if (!--entry->calls && entry->removed)
			pthread_cond_broadcast(&returned);
	}
	log_give();
}

DEFINE_BY(WHOLE_LOGGED, cuLogsRegisterCallback, (CUlogsCallback function, void *data,
						 CUlogsCallbackHandle *handle),
	  function, data, handle)
{
	struct CUlogsCallbackEntry_st *entry;

	if (!function)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL function");
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "%m");
	entry->function = function;
	entry->data = data;
	log_take();
	entry->next = callbacks;
	callbacks = entry;
	log_give();
	if (handle)
		*handle = entry;
	return CUDA_SUCCESS;
}

DEFINE_BY(WHOLE_LOGGED, cuLogsUnregisterCallback, (CUlogsCallbackHandle handle), handle)
{
	struct CUlogsCallbackEntry_st **at;

	if (inside)
		return fail(CUDA_ERROR_NOT_PERMITTED,
			    "a callback would wait for itself to return");
	log_take();
	for (at = &callbacks; *at && *at != handle; at = &(*at)->next)
		;
	if (!*at || handle->removed) {
		log_give();
		return fail(CUDA_ERROR_INVALID_VALUE, "not a registered callback");
	}
	handle->removed = true;
	while (handle->calls)
		pthread_cond_wait(&returned, &lock);
	/* Other threads may have changed the list while this one waited. */
	for (at = &callbacks; *at != handle; at = &(*at)->next)
		;
	*at = handle->next;
	log_give();
	free(handle);
	return CUDA_SUCCESS;
}

/* Return: a copy of the log, which the caller frees, or NULL. */
static struct log *snapshot(void)
{
	struct log *log = malloc(sizeof(*log));

	if (!log)
		return NULL;
	log_take();
	memcpy(log, &all, sizeof(all));
	log_give();
	return log;
}

static CUresult no_snapshot(void)
{
	return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a copy of the log");
}

/* The flags of the cuLogs… functions are for the future: hardware's driver ignores them. */
static CUresult current(CUlogIterator *iterator)
{
	unsigned int count;

	if (!iterator)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	log_take();
	count = all.count;
	log_give();
	*iterator = count;
	return CUDA_SUCCESS;
}

CUresult cuLogsCurrent(CUlogIterator *iterator, unsigned int flags)
{
	return WHOLE_LOGGED(current(iterator), iterator, flags);
}

/*
 * Sets *@first to the number of the first line to give out, and *@lost if lines before it are
 * lost.
 */
static CUresult first_line(const struct log *log, const CUlogIterator *iterator,
			   unsigned int *first, bool *lost)
{
	unsigned int kept = log->count < LINES ? log->count : LINES;

	*first = iterator ? *iterator : 0;
	if (*first > log->count)
		return fail(CUDA_ERROR_INVALID_VALUE, "the log has %u lines, not %u",
			    log->count, *first);
	*lost = *first < log->count - kept;
	if (*lost)
		*first = log->count - kept;
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

static CUresult dump_to_fd(const struct log *log, CUlogIterator *iterator, int fd)
{
	unsigned int line;
	bool good, lost = false;
	CUresult result = first_line(log, iterator, &line, &lost);

	if (result != CUDA_SUCCESS)
		return result;
	good = !lost || write_all(fd, LOST_NOTE);
	for (; good && line < log->count; line++)
		good = write_all(fd, log->line[line % LINES]);
	if (!good)
		return fail(CUDA_ERROR_OPERATING_SYSTEM, "writing the log: %m");
	if (iterator)
		*iterator = log->count;
	return CUDA_SUCCESS;
}

static CUresult dump_to_file(CUlogIterator *iterator, const char *path)
{
	CUresult result;
	struct log *log;
	int fd;

	if (!path)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0)
		return fail(CUDA_ERROR_INVALID_VALUE, "%s: %m", path);
	log = snapshot();
	result = log ? dump_to_fd(log, iterator, fd) : no_snapshot();
	free(log);
	close(fd);
	return result;
}

CUresult cuLogsDumpToFile(CUlogIterator *iterator, const char *path, unsigned int flags)
{
	return WHOLE_LOGGED(dump_to_file(iterator, path), iterator, path, flags);
}

/*
 * Moves *@first on to the first of the last lines that fit into @size bytes. Return: their
 * bytes.
 */
static size_t fitting(const struct log *log, unsigned int *first, size_t size)
{
	unsigned int line = log->count;
	size_t used = 0, length;

	while (line > *first) {
		length = strlen(log->line[(line - 1) % LINES]);
		if (length > size - used)
			break;
		used += length;
		line--;
	}
	*first = line;
	return used;
}

static CUresult dump(const struct log *log, CUlogIterator *iterator, char *buffer, size_t *size)
{
	unsigned int wanted, line;
	const char *note = "";
	bool lost = false;
	CUresult result = first_line(log, iterator, &wanted, &lost);
	size_t room = *size - 1;

	if (result != CUDA_SUCCESS)
		return result;
	if (lost)
		note = LOST_NOTE;
	line = wanted;
	if (strlen(note) + fitting(log, &line, room) > room || line > wanted) {
		note = ROOM_NOTE;
		line = wanted;
		if (strlen(note) < room)
			fitting(log, &line, room - strlen(note));
		else
			line = log->count;
	}
	if (line == log->count && wanted < log->count) {
		*size = 0;
		return fail(CUDA_ERROR_INVALID_VALUE, "no line fits into the buffer");
	}
	buffer = stpcpy(buffer, note);
	*size = strlen(note);
	for (; line < log->count; line++) {
		*size += strlen(log->line[line % LINES]);
		buffer = stpcpy(buffer, log->line[line % LINES]);
	}
	if (iterator)
		*iterator = log->count;
	return CUDA_SUCCESS;
}

static CUresult dump_to_memory(CUlogIterator *iterator, char *buffer, size_t *size)
{
	CUresult result;
	struct log *log;

	if (!buffer || !size || !*size)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer, or no bytes");
	log = snapshot();
	result = log ? dump(log, iterator, buffer, size) : no_snapshot();
	free(log);
	return result;
}

CUresult cuLogsDumpToMemory(CUlogIterator *iterator, char *buffer, size_t *size,
			    unsigned int flags)
{
	return WHOLE_LOGGED(dump_to_memory(iterator, buffer, size), iterator, buffer, size, flags);
}
