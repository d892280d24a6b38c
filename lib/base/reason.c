// SPDX-License-Identifier: MIT
/*
 * Reasons of failures, and the log that CUDA_LOG_FILE asks for: one line per
 * failed call, written at once and whole, so that processes can share a file.
 * log_ring.c keeps the last ones in memory.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base.h"
#include "log_file.h"

unsigned int inject_count;
CUresult (*inject_result)(const char *symbol);

static __thread char reason[256];

/* Is the reason that of an answer? asked() */
static __thread bool answers;

/*
 * Threads in signal handlers, which give no reasons: a thread's first use of its own reason may be
 * a malloc(), and the signal may have interrupted one.
 */
#define QUIET_MOST	64
static _Atomic pthread_t quiet[QUIET_MOST];
static atomic_uint quiet_count;

/* Return: the place of the calling thread in the list, or -1 */
static int quiet_place(void)
{
	if (__builtin_expect(!atomic_load_explicit(&quiet_count, memory_order_relaxed), 1))
		return -1;
	for (int i = 0; i < QUIET_MOST; i++)
		if (quiet[i] == pthread_self())
			return i;
	return -1;
}

bool reason_quiet(void)
{
	return quiet_place() >= 0;
}

/*
 * Until reason_quiet_end() the calls of this thread give no reasons. Return: has the caller to call
 * that? If the thread is quiet already, or too many are, it has not.
 */
bool reason_quiet_begin(void)
{
	if (reason_quiet())
		return false;
	atomic_fetch_add(&quiet_count, 1);
	for (int i = 0; i < QUIET_MOST; i++) {
		pthread_t none = 0;

		if (atomic_compare_exchange_strong(&quiet[i], &none, pthread_self()))
			return true;
	}
	atomic_fetch_sub(&quiet_count, 1);
	return false;
}

void reason_quiet_end(void)
{
	quiet[quiet_place()] = 0;
	atomic_fetch_sub(&quiet_count, 1);
}

/*
 * The buffer in which the kernel puts the reason of this thread's next ioctl; none of a thread that
 * is quiet.
 */
char *reason_buffer(size_t *size)
{
	static char none[1];

	if (reason_quiet()) {
		*size = 0;
		return none;
	}
	reason[0] = '\0';
	answers = false;
	*size = sizeof(reason);
	return reason;
}

/* Return: the reason of this thread's last failure. */
const char *fail_reason(void)
{
	return reason[0] ? reason : "no reason given";
}

CUresult fail(CUresult result, const char *format, ...)
{
	va_list arguments;
	int before;

	if (reason_quiet())
		return result;
	before = cancel_hold();
	va_start(arguments, format);
	vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	answers = false;
	cancel_release(before);
	return result;
}

/*
 * Marks a failure as the answer to what the program has asked. Programs ask by the dozen as they
 * start, so CUDA_LOG_FILE gets no line of it unless MEMCAST_LOG=all is set. Return: @result
 */
CUresult asked(CUresult result)
{
	answers = true;
	return result;
}

/* Return: the length of the line, which ends with a newline also where it had to be cut. */
__attribute__((format(printf, 2, 3)))
static size_t print_line(char line[LOG_LINE], const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(line, LOG_LINE, format, arguments);
	va_end(arguments);
	if (length < LOG_LINE)
		return length;
	line[LOG_LINE - 2] = '\n';
	return LOG_LINE - 1;
}

void memcastNoView(CUdeviceptr address)
{
	char line[LOG_LINE];
	size_t length = print_line(line,
			      "memcast[%d]: a multimem operation on %#llx: %s. Operations named "
			      "…_at() take an address that cuMemMap() was given for a team; those "
			      "without _at take a view and an offset (memcast/view.h)\n",
			      getpid(), address, reason[0] ? reason : "no reason given");

	log_write(STDERR_FILENO, line, length);
}

static bool wants_answers(void)
{
	const char *value = secure_getenv("MEMCAST_LOG");

	return value && !strcmp(value, "all");
}

/*
 * Keeps a line, which ends with a newline, writes it to CUDA_LOG_FILE if @to_file, and gives it to
 * the callbacks.
 */
static void log_line(CUlogLevel level, const char *line, size_t length, bool to_file)
{
	int fd;

	logs_add(line, length);
	fd = to_file ? log_where(true) : LOG_NONE;
	if (fd != LOG_NONE)
		log_write(fd, line, length);
	logs_call_back(level, line, length);
}

/* Logs an event that is no failure of a call, as a warning; with @aloud, on stderr too. */
void log_notice(const char *text, bool aloud)
{
	int before = cancel_hold();
	int saved = errno;
	char line[LOG_LINE];
	size_t length;

	length = print_line(line, "memcast[%d]: %s\n", getpid(), text);
	if (aloud && log_where(true) != STDERR_FILENO)
		log_write(STDERR_FILENO, line, length);
	log_line(CU_LOG_LEVEL_WARNING, line, length, true);
	errno = saved;
	cancel_release(before);
}

static void log_call(const char *call, const char *arguments, CUresult result, const char *why,
		     bool to_file)
{
	char line[LOG_LINE];
	int before = cancel_hold();
	int saved = errno;
	size_t length;

	length = print_line(line, "memcast[%d]: %s(%.383s): %s: %.255s\n", getpid(), call,
			    arguments, error_name(result), why);
	log_line(CU_LOG_LEVEL_ERROR, line, length, to_file);
	errno = saved;
	cancel_release(before);
}

/* Logs the failure of a call. errno is kept, as a callback may change it. */
void memcastLogFailure(const char *call, const char *arguments, CUresult result,
		       const char *why)
{
	log_call(call, arguments, result, why, true);
}

/* Is an argument with this name a set of bits? */
static bool name_of_bits(const char *name)
{
	static const char *const ends[] = { "flags", "type", "Type", "types", "Types", "value" };
	size_t length = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (length >= strlen(ends[i]) && !strcmp(name + length - strlen(ends[i]), ends[i]))
			return true;
	return false;
}

/* Return: the length of the argument's text, of which @room bytes are written at most */
static int print_argument(char *text, size_t room, const struct argument *argument,
			  const char *separator)
{
	const char *cast = strrchr(argument->name, ')');
	const char *name = cast ? cast + 1 : argument->name;
	const void *pointer = (const void *)(uintptr_t)argument->value;

	switch (argument->kind) {
	case ARGUMENT_SIGNED:
		return snprintf(text, room, "%s%s=%lld", separator, name,
				(long long)argument->value);
	case ARGUMENT_UNSIGNED:
		/* an enum may be negative */
		if (!name_of_bits(name))
			return snprintf(text, room, "%s%s=%d", separator, name,
					(int)argument->value);
		break;
	case ARGUMENT_SIZE:
		if (!name_of_bits(name))
			return snprintf(text, room, "%s%s=%llu", separator, name, argument->value);
		break;
	case ARGUMENT_FLOAT:
		return snprintf(text, room, "%s%s=%g", separator, name, *(const double *)pointer);
	case ARGUMENT_POINTER:
		return snprintf(text, room, "%s%s=%p", separator, name, pointer);
	case ARGUMENT_TEXT:
		return snprintf(text, room, "%s%s=%s", separator, name,
				pointer ? (const char *)pointer : "NULL");
	case ARGUMENT_HEX:
		break;
	}
	return snprintf(text, room, "%s%s=%#llx", separator, name, argument->value);
}

void log_failure(const char *call, CUresult result, const struct argument *arguments)
{
	char text[384] = "";
	int before = cancel_hold();
	int saved = errno;
	size_t length = 0;

	for (const struct argument *one = arguments; one->name && length < sizeof(text); one++)
		length += print_argument(text + length, sizeof(text) - length, one,
					 one == arguments ? "" : ", ");
	log_call(call, text, result, fail_reason(), !answers || wants_answers());
	errno = saved;
	cancel_release(before);
}
