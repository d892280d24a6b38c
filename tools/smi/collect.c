// SPDX-License-Identifier: MIT
/* Adds the objects that processes hold, from /proc, to the devices, which NVML describes. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shared/name.h"
#include "smi.h"

#define add(object, name, value)	json_object_object_add(object, name, value)
#define number(value)			json_object_new_int64(value)
#define string(value)			json_object_new_string(value)

/* All objects that are found: memories and teams by number, so that each counts once. */
struct objects {
	struct json_object *devices, *processes, *teams;
	struct json_object *memories;	/* of all processes */
	struct json_object *activities;
	struct json_object *clients;	/* already seen: processes may inherit their files */
	int64_t unseen;
};

/* A process while its files are read. */
struct process {
	struct json_object *json, *memory, *teams;
	struct json_object *memories;	/* that are counted already */
	struct smi_count count;		/* of the file that is read */
	int64_t fds;
	bool any;
};

/* Reads a short file without the newline at its end; a process's name may have other newlines. */
static bool read_word(const char *path, char *word, size_t size)
{
	FILE *file = fopen(path, "re");
	size_t length = file ? fread(word, 1, size - 1, file) : 0;

	if (file)
		fclose(file);
	if (length && word[length - 1] == '\n')
		length--;
	word[length] = '\0';
	return length;
}

static bool has(struct json_object *object, const char *name)
{
	return json_object_object_get_ex(object, name, NULL);
}

static void count(struct json_object *object, const char *name, int64_t bytes)
{
	int64_t before = has(object, name) ? get(object, name) : 0;

	add(object, name, number(before + bytes));
}

/* ---- /proc and lists: the lines are described in include/uapi/memcast.h */

static void see_memory(struct objects *objects, struct process *process, const char *id,
		       int64_t bytes, const char *rest)
{
	struct json_object *device = NULL, *memory = json_object_object_get(objects->memories, id);
	const char *where = rest;
	char name[16];

	if (!strncmp(rest, "device ", 7)) {
		unsigned int at = smi_number(&process->count, atoi(rest + 7));

		where = name;
		snprintf(name, sizeof(name), "%u", at);
		device = json_object_array_get_idx(objects->devices, at);
		if (!device)
			where = "elsewhere";
	}

	if (has(process->memories, id))
		return;
	add(process->memories, id, NULL);
	count(process->memory, where, bytes);
	if (!memory) {
		memory = json_object_new_object();
		add(memory, "memory", number(atoll(id)));
		add(memory, "where", string(where));
		add(memory, "bytes", number(bytes));
		add(memory, "pids", json_object_new_array());
		add(objects->memories, id, memory);
		if (device)
			count(device, "seen", bytes);
	}
	json_object_array_add(json_object_object_get(memory, "pids"),
			      number(get(process->json, "pid")));
}

static void see_team(struct objects *objects, struct process *process, const char *id,
		     int64_t bytes, const char *rest)
{
	struct json_object *team = json_object_object_get(objects->teams, id);
	int64_t pid = get(process->json, "pid");
	struct json_object *pids;
	size_t known;

	if (!team) {
		team = smi_team(id, bytes, rest, &process->count,
				json_object_array_length(objects->devices));
		if (!team)
			return;
		add(objects->teams, id, team);
	}
	smi_team_wait(team, rest);
	pids = json_object_object_get(team, "pids");
	known = json_object_array_length(pids);
	if (known && json_object_get_int64(json_object_array_get_idx(pids, known - 1)) == pid)
		return;
	json_object_array_add(pids, number(pid));
	json_object_array_add(process->teams, number(atoll(id)));
}

/*
 * Return: false if the rest of the file does not count: another fd of this client has been read, or
 * the name of a dma-buf begins, in which a program may put lines of its choice.
 */
static bool see_line(struct objects *objects, struct process *process, bool client, char *line)
{
	struct smi_count *count = &process->count;
	unsigned int host, device;
	char kind[8], id[24];
	int64_t bytes;
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (!client) {
		if (!strncmp(line, "exp_name:\tmemcast", 17)) {
			process->any = true;
			process->fds++;
		}
		return strncmp(line, "name:", 5);
	}
	if (sscanf(line, "memcast-client: %23s", id) == 1) {
		process->any = true;
		if (has(objects->clients, id))
			return false;
		add(objects->clients, id, NULL);
	} else if (sscanf(line, "memcast-host: %u first %u of %u", &host, &count->first,
			  &count->all) == 3) {
		add(process->json, "host", number(host));
	} else if (sscanf(line, "memcast-%*[a-z]: %7s %23[0-9] bytes %" SCNd64 " %n",
			  kind, id, &bytes, &at) == 3 && at) {
		if (strcmp(kind, "team"))
			see_memory(objects, process, id, bytes, line + at);
		else
			see_team(objects, process, id, bytes, line + at);
	} else if (sscanf(line, "memcast-bindings: team %23[0-9] device %u%n", id, &device,
			  &at) == 2) {
		smi_team_bindings(json_object_object_get(objects->teams, id),
				  smi_number(count, device), line + at);
	} else if (sscanf(line, "memcast-chunks: memory %23[0-9]%n", id, &at) == 1) {
		smi_pool_places(json_object_object_get(objects->memories, id), line + at);
	}
	return true;
}

/* Reads a client's fdinfo or list, or a dma-buf's fdinfo. Return: the client's key, or 0 */
static uint64_t read_lines(struct objects *objects, struct process *process, bool client,
			   FILE *file)
{
	uint64_t key = 0;
	char *line = NULL;
	size_t size = 0;

	while (file && getline(&line, &size, file) > 0) {
		if (!see_line(objects, process, client, line))
			break;
		if (client)
			sscanf(line, "memcast-key: %" SCNu64, &key);
	}
	free(line);
	if (file)
		fclose(file);
	return key;
}

static void read_fd(struct objects *objects, struct process *process, const char *pid,
		    const char *fd)
{
	char path[600], target[64];
	ssize_t length;
	uint64_t key;
	bool client;

	snprintf(path, sizeof(path), "/proc/%s/fd/%s", pid, fd);
	length = readlink(path, target, sizeof(target) - 1);
	if (length < 0)
		return;
	target[length] = '\0';
	client = !strncmp(target, "/dev/memcast", 12);
	if (smi_list_is_own(pid, fd) || (!client && !strstr(target, "/dmabuf:")))
		return;
	process->count = (struct smi_count) {};
	snprintf(path, sizeof(path), "/proc/%s/fdinfo/%s", pid, fd);
	key = read_lines(objects, process, client, fopen(path, "re"));
	if (key)
		read_lines(objects, process, client, smi_list(target, key));
}

/* Sorts a process's memory: by device, then that of no device */
static struct json_object *in_order(struct json_object *memory, int devices)
{
	struct json_object *ordered = json_object_new_object();
	char id[16];

	static const char *const others[] = { "host", "foreign", "elsewhere" };

	for (int i = 0; i < devices + 3; i++) {
		snprintf(id, sizeof(id), "%d", i);
		if (i >= devices)
			strcpy(id, others[i - devices]);
		if (has(memory, id))
			add(ordered, id, number(get(memory, id)));
	}
	json_object_put(memory);
	return ordered;
}

/* Is the process neither a kernel thread nor a zombie? */
static bool has_files(const char *pid)
{
	enum { KERNEL_THREAD = 0x200000 };	/* PF_KTHREAD, proc_pid_stat(5) has the fields */
	char path[64], stat[1024];
	const char *rest = NULL;
	unsigned int flags;
	long threads;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	if (read_word(path, stat, sizeof(stat)))
		rest = strrchr(stat, ')');	/* names may have one too */
	return rest && sscanf(rest, ") %*c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u "
			      "%*d %*d %*d %*d %ld", &flags, &threads) == 2 &&
	       !(flags & KERNEL_THREAD) && threads > 0;
}

static void read_process(struct objects *objects, const char *pid)
{
	struct process process = { };
	char path[600], name[64];
	struct dirent *entry;
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	fds = opendir(path);
	if (!fds) {
		objects->unseen += errno == EACCES && has_files(pid);
		return;
	}
	process.json = json_object_new_object();
	add(process.json, "pid", number(atoll(pid)));
	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	if (!read_word(path, name, sizeof(name)))
		strcpy(name, "?");
	add(process.json, "name", name_new(name));
	process.memory = json_object_new_object();
	process.teams = json_object_new_array();
	process.memories = json_object_new_object();
	while ((entry = readdir(fds)))
		if (isdigit((unsigned char)*entry->d_name))
			read_fd(objects, &process, pid, entry->d_name);
	closedir(fds);
	add(process.json, "memory", in_order(process.memory,
					     json_object_array_length(objects->devices)));
	add(process.json, "teams", process.teams);
	add(process.json, "fds", number(process.fds));
	json_object_put(process.memories);
	if (process.any) {
		json_object_array_add(objects->processes, process.json);
		smi_activities(objects->activities, pid);
	} else {
		json_object_put(process.json);
	}
}

static int by_number(const struct dirent **a, const struct dirent **b)
{
	long left = atol((*a)->d_name), right = atol((*b)->d_name);

	return (left > right) - (left < right);
}

static int is_process(const struct dirent *entry)
{
	return isdigit((unsigned char)*entry->d_name);
}

/* Turns an object, with numbers as keys, into an array of its values */
static struct json_object *values(struct json_object *object)
{
	struct json_object *array = json_object_new_array();

	json_object_object_foreach(object, name, value) {
		(void)name;
		json_object_array_add(array, json_object_get(value));
	}
	json_object_put(object);
	return array;
}

struct json_object *smi_collect(void)
{
	struct objects objects = { .devices = smi_collect_devices() };
	struct json_object *all;
	struct dirent **pids;
	int found;

	if (!objects.devices)
		return NULL;
	objects.processes = json_object_new_array();
	objects.activities = json_object_new_array();
	objects.teams = json_object_new_object();
	objects.memories = json_object_new_object();
	objects.clients = json_object_new_object();
	found = scandir("/proc", &pids, is_process, by_number);
	for (int i = 0; i < found; i++) {
		read_process(&objects, pids[i]->d_name);
		free(pids[i]);
	}
	if (found >= 0)
		free(pids);
	smi_list_end();

	all = json_object_new_object();
	smi_add_versions(all);
	add(all, "count", number(json_object_array_length(objects.devices)));
	add(all, "devices", objects.devices);
	add(all, "processes", objects.processes);
	add(all, "memories", values(objects.memories));
	add(all, "teams", values(objects.teams));
	add(all, "activities", objects.activities);
	add(all, "unseen", number(objects.unseen));
	json_object_put(objects.clients);
	return all;
}
