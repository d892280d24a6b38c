// SPDX-License-Identifier: MIT
/*
 * Suites that cannot run on this machine run in a virtual one: memcast-bench
 * starts itself in memcast-vm and takes over the results. It starts itself here for what only a
 * process with other settings can measure.
 */
#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "shared/ranks.h"

#define MAX_WORDS	64

/* Finds this program, and memcast-vm beside it, or in tools/ of the tree that built it. */
static const char *find(char vm[PATH_MAX], char self[PATH_MAX])
{
	char path[PATH_MAX + 32];
	ssize_t length = readlink("/proc/self/exe", self, PATH_MAX - 1);
	const char *end;

	if (length < 0)
		return "/proc/self/exe cannot be read";
	self[length] = '\0';
	end = strstr(self, "/build/tools/");
	if (end)
		snprintf(path, sizeof(path), "%.*s/tools/memcast-vm", (int)(end - self), self);
	else
		snprintf(path, sizeof(path), "%.*s/memcast-vm",
			 (int)(strrchr(self, '/') - self), self);
	if (!realpath(path, vm) || access(vm, X_OK))
		return "there is no memcast-vm beside this program";
	return NULL;
}

const char *bench_machine_obstacle(void)
{
	char vm[PATH_MAX], self[PATH_MAX];

	return find(vm, self);
}

/*
 * Makes memcast-vm's value of an option: an @ before a file's name stands for this
 * program's folder. Return: NULL for a file that does not exist, and is left out.
 */
static const char *value_of(const char *option, const char *word, const char *self)
{
	char *path = (char *)word;

	if (strcmp(option, "--add"))
		return word;
	if (*word == '@' && asprintf(&path, "%.*s/%s", (int)(strrchr(self, '/') - self),
				     self, word + 1) < 0)
		rank_die("no memory for a path");
	return access(path, F_OK) ? NULL : path;
}

/* Return: the number of @words that start a machine with a program, whose name comes next */
static unsigned int machine_words(const char **words, char *options, const char *vm,
				  const char *self, unsigned int room)
{
	unsigned int n = 0;
	const char *value;
	char *word;

	words[n++] = vm;
	for (word = strtok(options, " "); word && n < room; word = strtok(NULL, " ")) {
		value = value_of(words[n - 1], word, self);
		if (value)
			words[n++] = value;
		else
			n--;
	}
	words[n++] = "--";
	return n;
}

/* @machine: memcast-vm's options; NULL: here */
static void exec_self(const struct bench *bench, const char *machine,
		      const char *const *suites, unsigned int count, int out)
{
	char vm[PATH_MAX], self[PATH_MAX] = "/proc/self/exe";
	const char *words[MAX_WORDS + 8];
	unsigned int n = 0, i;

	if (machine) {
		find(vm, self);
		n = machine_words(words, strdup(machine), vm, self, MAX_WORDS - count);
	}
	words[n++] = self;
	words[n++] = "--json";
	if (bench->quick)
		words[n++] = "--quick";
	for (i = 0; i < count; i++)
		words[n++] = suites[i];
	words[n] = NULL;
	dup2(out, STDOUT_FILENO);
	execv(words[0], (char **)words);
	rank_die("%s: %s", words[0], strerror(errno));
}

static struct json_object *read_json(int fd)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *all = NULL;
	char buffer[4096];
	ssize_t got;

	while ((got = read(fd, buffer, sizeof(buffer))) > 0 ||
	       (got < 0 && errno == EINTR))
		if (got > 0 && !all)
			all = json_tokener_parse_ex(tokener, buffer, (int)got);
	json_tokener_free(tokener);
	return all;
}

bool bench_machine_run(struct bench *bench, const char *machine,
		       const char *const *suites, unsigned int count)
{
	struct json_object *all;
	int pair[2], status;
	bool taken;
	pid_t pid;

	if (pipe(pair))
		rank_die("pipe: %s", strerror(errno));
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		rank_die("fork: %s", strerror(errno));
	if (!pid)
		exec_self(bench, machine, suites, count, pair[1]);
	close(pair[1]);
	all = read_json(pair[0]);
	close(pair[0]);
	if (waitpid(pid, &status, 0) != pid)
		rank_die("waitpid: %s", strerror(errno));
	taken = all && bench_add_json(bench, all);
	json_object_put(all);
	/* status 1: memcast-bench ran, and a bar does not hold */
	return taken && WIFEXITED(status) && WEXITSTATUS(status) <= 1;
}
