// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "log_file.h"

#define NOT_LOOKED_UP	-2

struct log_file {
	int fd;
	uint32_t file;			/* file_of(fd) when it was opened */
};

static _Atomic struct log_file log_file = { NOT_LOOKED_UP, 0 };

/*
 * A program that has closed its stdin, stdout or stderr may give these numbers to other files at any
 * time, as daemons do, and would so close a file that has one of them.
 */
int above_stderr(int fd)
{
	int above, error;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	error = errno;
	close(fd);
	errno = error;
	return above;
}

static int log_open(bool aloud)
{
	const char *path = secure_getenv("CUDA_LOG_FILE");
	int fd;

	if (!path || !*path)
		return LOG_NONE;
	if (!strcmp(path, "stderr"))
		return STDERR_FILENO;
	if (!strcmp(path, "stdout"))
		return STDOUT_FILENO;
	fd = above_stderr(open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
	if (fd < 0 && aloud)
		fprintf(stderr, "memcast: CUDA_LOG_FILE=%s: %m\n", path);
	return fd < 0 ? LOG_NONE : fd;
}

/*
 * Return: a number of the file that an fd shows; 0: a stream, or none. A program may close fds that
 * it does not know, and have a file of its own at the same number.
 */
static uint32_t file_of(int fd)
{
	struct stat file;

	return fd > STDERR_FILENO && !fstat(fd, &file) ? file.st_ino ^ file.st_dev : 0;
}

/*
 * Several threads may open the file at once, and all but one close it again: opening a pipe may
 * take for ever, and no thread waits for another.
 * @aloud: say on stderr if it cannot be opened
 * Return: the fd of the file, or LOG_NONE
 */
int log_where(bool aloud)
{
	struct log_file found = log_file, new;

	if (found.fd != NOT_LOOKED_UP && file_of(found.fd) == found.file)
		return found.fd;
	new.fd = log_open(aloud);
	new.file = file_of(new.fd);
	if (atomic_compare_exchange_strong(&log_file, &found, new))
		return new.fd;
	if (new.fd > STDERR_FILENO)
		close(new.fd);
	return found.fd;
}

/*
 * The file may be a pipe without a reader, or at its limit: that must not end the program. Handlers of
 * signals call this, too. System calls instead of write(), which is a cancellation point, and of
 * pthread_sigmask(), which unblocks the C library's signal that cancels threads: a cancelled thread
 * would end in them, perhaps in the middle of its store to a team.
 */
void log_write(int fd, const char *line, size_t length)
{
	static const struct timespec now;
	sigset_t raised, before, pending;
	long written;
	int number;

	sigemptyset(&raised);
	sigaddset(&raised, SIGPIPE);
	sigaddset(&raised, SIGXFSZ);
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &raised, &before, sizeof(uint64_t));
	sigpending(&pending);
	do {
		written = syscall(SYS_write, fd, line, length);
	} while (written < 0 && errno == EINTR);
	number = errno == EPIPE ? SIGPIPE : SIGXFSZ;
	sigdelset(&raised, errno == EPIPE ? SIGXFSZ : SIGPIPE);
	if (written < 0 && !sigismember(&pending, number))
		syscall(SYS_rt_sigtimedwait, &raised, NULL, &now, sizeof(uint64_t));
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(uint64_t));
}
