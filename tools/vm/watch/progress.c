// SPDX-License-Identifier: MIT
/* Judges whether a program makes progress, by the use of processors that /proc shows */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "progress.h"
#include "shared/now.h"

#define PERIOD		2.0	/* seconds between two checks */
#define LONGEST		10.0	/* seconds; in the rest of a longer span no process ran */
#define BUSY		0.05	/* of a processor: a program that uses less polls for an event */

static void *grown(void *list, size_t count, size_t bytes)
{
	/* Room is doubled whenever it is full. */
	if (count & (count - 1))
		return list;
	list = realloc(list, (count ? 2 * count : 1) * bytes);
	if (!list)
		abort();
	return list;
}

static bool read_process(const char *pid, struct process *process)
{
	unsigned long user, system;
	long child_user, child_system;
	char path[64], text[1024], *end;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%.16s/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (got <= 0)
		return false;
	text[got] = '\0';
	/* PID (NAME) STATE PARENT …; a name may have parentheses in it. */
	end = strrchr(text, ')');
	if (!end || sscanf(end + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld",
			   &process->parent, &user, &system, &child_user, &child_system) != 5)
		return false;
	process->pid = atoi(pid);
	process->processor = (double)(user + system + (unsigned long)child_user +
				      (unsigned long)child_system) / (double)sysconf(_SC_CLK_TCK);
	process->ours = false;
	return true;
}

static int by_pid(const void *one, const void *other)
{
	return ((const struct process *)one)->pid - ((const struct process *)other)->pid;
}

/* Processes that came and went while /proc was read may form a circle, hence the limit. */
static bool descends(const struct process *list, size_t count, const struct process *one,
		     pid_t from, pid_t but)
{
	struct process key = { .pid = one->parent };

	for (int i = 0; i < 1000 && one; i++) {
		if (but && one->pid == but)
			return false;
		key.pid = one->parent;
		if (key.pid == from)
			return true;
		one = bsearch(&key, list, count, sizeof(key), by_pid);
	}
	return false;
}

static struct process *processes_but(pid_t others, size_t *count)
{
	struct process *list = NULL, one;
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	*count = 0;
	while (dir && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    !read_process(entry->d_name, &one))
			continue;
		list = grown(list, *count, sizeof(*list));
		list[(*count)++] = one;
	}
	if (dir)
		closedir(dir);
	if (list)
		qsort(list, *count, sizeof(*list), by_pid);
	for (size_t i = 0; i < *count; i++)
		list[i].ours = descends(list, *count, &list[i], getpid(), others);
	return list;
}

struct process *processes(size_t *count)
{
	return processes_but(0, count);
}

/* Return: the first line of a thread's file, behind the name in parentheses if it has one */
static char *read_line(pid_t pid, const char *tid, const char *name, char line[256])
{
	char path[128], *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%.16s/%s", pid, tid, name);
	file = fopen(path, "re");
	if (!file)
		return NULL;
	line = fgets(line, 256, file);
	fclose(file);
	end = line ? strrchr(line, ')') : NULL;
	return end ? end + 1 : line;
}

static void read_threads(struct progress *progress, pid_t pid)
{
	char path[64], line[256], *state;
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		struct thread_time one = { .tid = atoi(entry->d_name) };

		if (!one.tid || !read_line(pid, entry->d_name, "schedstat", line) ||
		    sscanf(line, "%lf %lf", &one.ran, &one.waited) != 2)
			continue;
		one.ran *= 1e-9;
		one.waited *= 1e-9;
		state = read_line(pid, entry->d_name, "stat", line);
		one.wants = state && state[0] == ' ' && state[1] == 'R';
		progress->threads = grown(progress->threads, progress->thread_count, sizeof(one));
		progress->threads[progress->thread_count++] = one;
	}
	if (dir)
		closedir(dir);
}

static int by_tid(const void *one, const void *other)
{
	return ((const struct thread_time *)one)->tid - ((const struct thread_time *)other)->tid;
}

/*
 * Return: the part of @span in which the threads could run: all, if they had the processors
 * that they wanted. @ran and @waited are sums over all threads, in seconds.
 */
static double share(double span, double ran, double waited)
{
	double wanted = (ran + waited) / span, had = ran / span;
	double all = (double)sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t allowed;

	if (!sched_getaffinity(0, sizeof(allowed), &allowed))
		all = CPU_COUNT(&allowed);
	/* A program cannot use more processors; its threads' waits for each other do not count. */
	if (wanted > all)
		wanted = all;
	if (had >= wanted)
		return 1;
	return wanted < 1 ? 1 - (wanted - had) : had / wanted;
}

/*
 * The kernel adds a thread's wait for a processor when the wait is over, and on a busy machine that
 * may take seconds: @counted is the part that was counted before.
 */
static void add_thread(const struct thread_time *was, struct thread_time *is, double span,
		       double *all_ran, double *all_waited)
{
	double ran = is->ran - was->ran, waited = is->waited - was->waited;
	double before = waited < was->counted ? waited : was->counted, more;

	waited -= before;
	if (is->wants) {
		more = ran + waited < span ? span - ran - waited : 0;
		is->counted = was->counted - before + more;
		waited += more;
	}
	*all_ran += ran;
	*all_waited += waited;
}

/* Return: the seconds of @span that count, by the times of threads that existed all the time */
static double own_span(struct progress *progress, const struct process *list, size_t count,
		       double span)
{
	struct thread_time *old = progress->threads, *was;
	size_t old_count = progress->thread_count;
	double ran = 0, waited = 0;

	progress->threads = NULL;
	progress->thread_count = 0;
	for (size_t i = 0; i < count; i++)
		if (list[i].ours)
			read_threads(progress, list[i].pid);
	if (progress->thread_count)
		qsort(progress->threads, progress->thread_count, sizeof(*old), by_tid);
	for (size_t i = 0; i < progress->thread_count && old_count; i++) {
		was = bsearch(&progress->threads[i], old, old_count, sizeof(*old), by_tid);
		if (was && was->ran <= progress->threads[i].ran)
			add_thread(was, &progress->threads[i], span, &ran, &waited);
	}
	free(old);
	return span * share(span, ran, waited);
}

static bool read_clock(double *seconds)
{
	FILE *file = fopen(PROGRESS_CLOCK, "re");
	bool got = file && fscanf(file, "%lf", seconds) == 1;

	if (file)
		fclose(file);
	return got;
}

/* Return: processor time of reaped children, and of living descendants with their children */
static double used(const struct process *list, size_t count)
{
	struct rusage reaped;
	double seconds;

	getrusage(RUSAGE_CHILDREN, &reaped);
	seconds = (double)(reaped.ru_utime.tv_sec + reaped.ru_stime.tv_sec) +
		  (double)(reaped.ru_utime.tv_usec + reaped.ru_stime.tv_usec) * 1e-6;
	for (size_t i = 0; i < count; i++)
		if (list[i].ours)
			seconds += list[i].processor;
	return seconds;
}

/*
 * Is the program busy with nothing that anybody sees? Silent programs that use memcast's library
 * are asked what they have done with it.
 */
static bool begins_to_spin(struct progress *progress, const struct process *list, size_t count)
{
	bool done = progress->output;
	uint64_t sum;

	if (progress->output_only)
		return false;
	if (!done) {
		if (progress->now - progress->active <= progress->timeout / 2)
			return false;
		if (!activity_sum(list, count, &sum))
			return false;
		done = progress->looks && sum != progress->activity;
		progress->looks = !done;
		progress->activity = sum;
	}
	if (done) {
		progress->active = progress->now;
		progress->looks = progress->spins = false;
	}
	if (progress->spins || progress->now - progress->active <= progress->timeout)
		return false;
	progress->spins = true;
	return true;
}

void progress_start(struct progress *progress)
{
	progress->checked = now();
	progress->now = progress->sign = progress->wrote = progress->active = 0;
	if (!read_clock(&progress->clock))
		progress->clock = -1;
}

enum verdict progress_check(struct progress *progress)
{
	double span = now() - progress->checked, clock, processor;
	struct process *list;
	bool spins;
	size_t count;

	if (span < PERIOD)
		return GOES_ON;
	progress->checked += span;
	list = processes_but(progress->others, &count);
	processor = used(list, count);
	if (read_clock(&clock)) {
		/* The host's first time may come late. */
		span = progress->clock < 0 ? 0 : clock - progress->clock;
		progress->clock = clock;
	} else {
		span = own_span(progress, list, count, span);
	}
	span = span < LONGEST ? span : LONGEST;
	progress->now += span;
	if (progress->output ||
	    (!progress->output_only && processor - progress->processor > BUSY * span))
		progress->sign = progress->now;
	if (progress->output)
		progress->wrote = progress->now;
	spins = begins_to_spin(progress, list, count);
	free(list);
	progress->output = false;
	progress->processor = processor;
	if (progress->now - progress->sign > progress->timeout)
		return STUCK;
	if (progress->silence && progress->now - progress->wrote > progress->silence)
		return SILENT;
	if (progress->limit && progress->now > progress->limit)
		return TOO_LONG;
	return spins ? SPINS : GOES_ON;
}

void progress_words(const struct progress *progress, enum verdict verdict,
		    char *words, size_t size)
{
	if (verdict == TOO_LONG)
		snprintf(words, size, "did not end in %.0f s of the machine's time",
			 progress->limit);
	else if (verdict == SPINS)
		snprintf(words, size, "uses a processor, but has written nothing, and has done "
			 "nothing with memcast, for %.0f s", progress->timeout);
	else if (verdict == SILENT)
		snprintf(words, size, "works, but wrote nothing for %.0f s of the machine's time",
			 progress->silence);
	else
		snprintf(words, size, "wrote nothing%s for %.0f s", progress->output_only ? "" :
			 " and used no processor", progress->timeout);
}

/* Sends a signal, or 0, to all descendants of this process. Return: how many there were */
static size_t signal_all(int number)
{
	struct process *list;
	size_t count, left = 0;

	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	list = processes(&count);
	for (size_t i = 0; i < count; i++) {
		if (!list[i].ours)
			continue;
		kill(list[i].pid, number);
		left++;
	}
	free(list);
	return left;
}

/*
 * Sends a signal to all descendants, and @again every 50 ms until none is left, for @seconds at
 * most. Return: whether all have ended
 */
static bool signal_until_ended(int number, int again, unsigned int seconds)
{
	const struct timespec moment = { .tv_nsec = 50000000 };
	size_t left = signal_all(number);

	for (unsigned int tries = 0; tries < 20 * seconds && left; tries++) {
		nanosleep(&moment, NULL);
		left = signal_all(again);
	}
	return !left;
}

bool progress_kill(void)
{
	/* A process that never leaves the kernel cannot be killed. */
	return signal_until_ended(SIGKILL, SIGKILL, 10);
}

bool progress_end(void)
{
	return signal_until_ended(SIGTERM, 0, 2) || progress_kill();
}
