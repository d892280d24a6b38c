// SPDX-License-Identifier: MIT
/* Prints what a program waits for that makes no progress: teams, and functions of the kernel */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "place.h"
#include "progress.h"

#define STACK_LINES	12	/* of each thread, from the innermost function on */
#define PATIENCE	30	/* seconds; stuck processes may hold locks for ever */

struct page {
	int to;
	const char *prefix;
};

static void __attribute__((format(printf, 2, 3)))
line(const struct page *page, const char *format, ...)
{
	char text[1024];
	va_list args;
	int length;

	length = snprintf(text, sizeof(text), "%s", page->prefix);
	va_start(args, format);
	length += vsnprintf(text + length, sizeof(text) - (size_t)length, format, args);
	va_end(args);
	dprintf(page->to, "%.*s\n", length, text);
}

static const char *state_words(char state)
{
	switch (state) {
	case 'R': return "runs";
	case 'S': return "sleeps in";
	case 'D': return "sleeps, and cannot be woken by signals, in";
	case 'T':
	case 't': return "is stopped";
	case 'Z': return "has ended, and its parent does not ask for its status";
	default:  return "is in state";
	}
}

/* Return: the kernel's functions in which a thread waits, one per line, to be freed; or NULL */
static char *stack_of(const char *folder)
{
	char path[128], *text = NULL, *stack = NULL;
	size_t room = 0, size;
	FILE *file, *to;

	snprintf(path, sizeof(path), "%s/stack", folder);
	file = fopen(path, "re");
	to = file ? open_memstream(&stack, &size) : NULL;
	for (int i = 0; to && i < STACK_LINES && getline(&text, &room, file) > 0; i++) {
		/* "[<0>] function+0x12/0x345" */
		fputs(strncmp(text, "[<0>] ", 6) ? text : text + 6, to);
	}
	free(text);
	if (file)
		fclose(file);
	if (to)
		fclose(to);
	return stack;
}

static void show_stack(const struct page *page, const char *stack)
{
	for (int length; *stack; stack += length + !!stack[length]) {
		length = (int)strcspn(stack, "\n");
		line(page, "        %.*s", length, stack);
	}
}

/*
 * Ranks mostly wait in the same place, so only the first thread with a stack has it shown. Return:
 * that thread's tid, or NULL if this thread is the first. The stacks that are kept end with
 * explain()'s process.
 */
static const char *shown_before(const char *stack, const char *tid)
{
	static struct { char *stack, tid[16]; } shown[64];
	static unsigned int count;

	for (unsigned int i = 0; i < count; i++)
		if (!strcmp(shown[i].stack, stack))
			return shown[i].tid;
	if (count < sizeof(shown) / sizeof(shown[0])) {
		shown[count].stack = strdup(stack);
		snprintf(shown[count].tid, sizeof(shown[count].tid), "%.15s", tid);
		count += !!shown[count].stack;
	}
	return NULL;
}

/* Prints where a thread is that runs, and what has called that. */
static void show_place(const struct page *page, pid_t pid, const char *tid)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return;
	place_print(to, pid, atoi(tid));
	fclose(to);
	show_stack(page, text);
	free(text);
}

static void show_thread(const struct page *page, pid_t pid, const char *tid)
{
	char folder[64], path[128], name[32] = "?", where[128] = "", state = '?', *stack;
	const char *before;
	FILE *file;

	snprintf(folder, sizeof(folder), "/proc/%d/task/%.16s", pid, tid);
	snprintf(path, sizeof(path), "%s/stat", folder);
	file = fopen(path, "re");
	if (!file)
		return;		/* The thread has ended. */
	fscanf(file, "%*d (%31[^)]) %c", name, &state);
	fclose(file);
	snprintf(path, sizeof(path), "%s/wchan", folder);
	file = fopen(path, "re");
	if (file) {
		fscanf(file, "%127s", where);
		fclose(file);
	}
	stack = state != 'R' && state != 'Z' ? stack_of(folder) : NULL;
	before = stack && *stack ? shown_before(stack, tid) : NULL;
	line(page, "  process %d, thread %s (%s) %s%s%s%s%s", pid, tid, name, state_words(state),
	     strcmp(where, "0") ? " " : "", strcmp(where, "0") ? where : "",
	     before ? ", as thread " : "", before ?: "");
	if (stack && !before)
		show_stack(page, stack);
	if (state == 'R')
		show_place(page, pid, tid);
	free(stack);
}

static void show_process(const struct page *page, pid_t pid)
{
	struct dirent *entry;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			show_thread(page, pid, entry->d_name);
	if (dir)
		closedir(dir);
}

static void show_smi(const struct page *page, const char *smi)
{
	char *text = NULL;
	size_t room = 0;
	FILE *from;
	int ends[2];
	pid_t pid;

	if (!smi || access(smi, X_OK) || pipe2(ends, O_CLOEXEC))
		return;
	line(page, "What memcast-smi shows:");
	pid = fork();
	if (!pid) {
		dup2(ends[1], 1);
		dup2(ends[1], 2);
		execl(smi, smi, (char *)NULL);
		dprintf(2, "%s cannot be run: %m\n", smi);
		_exit(127);
	}
	close(ends[1]);
	from = fdopen(ends[0], "r");
	while (from && getline(&text, &room, from) > 0) {
		text[strcspn(text, "\n")] = '\0';
		line(page, "  %s", text);
	}
	free(text);
	waitpid(pid, NULL, 0);
}

/*
 * Another process does this, and memcast-smi comes last: to answer it, the module takes locks
 * that stuck processes may hold.
 */
void explain(int to, const char *prefix, const char *smi)
{
	const struct timespec moment = { .tv_nsec = 50000000 };
	const struct page page = { to, prefix };
	struct process *list;
	size_t count;
	pid_t pid;

	list = processes(&count);
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		line(&page, "Where each process waits:");
		for (size_t i = 0; i < count; i++)
			if (list[i].ours)
				show_process(&page, list[i].pid);
		show_smi(&page, smi);
		_exit(0);
	}
	free(list);
	for (int i = 0; i < PATIENCE * 20; i++) {
		if (waitpid(pid, NULL, WNOHANG) == pid)
			return;
		nanosleep(&moment, NULL);
	}
	line(&page, "What else there is to show does not answer within %d s", PATIENCE);
	kill(-pid, SIGKILL);
}
