// SPDX-License-Identifier: MIT
/*
 * What a process does that may take for ever, kernels and waits of streams: libcuda.so.1 keeps it
 * in memory of the process (lib/base/activity.h). Who may trace the process may read it.
 */
#include <stdlib.h>
#include <sys/uio.h>
#include <time.h>

#include "base/activity.h"
#include "shared/activity.h"
#include "smi.h"

/* JSON is UTF-8, and names of PTX are ASCII: other bytes are of a text that is being written. */
static struct json_object *text_new(char *text, size_t size)
{
	text[size - 1] = '\0';
	for (char *at = text; *at; at++)
		if (*at & 0x80 || *at < ' ' || *at == 0x7f)
			*at = '?';
	return json_object_new_string(text);
}

static void add(struct json_object *list, struct activity *record, int64_t pid, uint64_t now)
{
	struct json_object *json = json_object_new_object();

	json_object_object_add(json, "pid", json_object_new_int64(pid));
	json_object_object_add(json, "what", text_new(record->what, sizeof(record->what)));
	json_object_object_add(json, "where", text_new(record->where, sizeof(record->where)));
	json_object_object_add(json, "ms", json_object_new_int64((now - record->begun) / 1000000));
	json_object_array_add(list, json);
}

void smi_activities(struct json_object *list, const char *pid)
{
	uintptr_t address = activity_find(atoi(pid));
	struct activity *records = address ? calloc(ACTIVITY_RECORDS, sizeof(*records)) : NULL;
	struct iovec to = { records, ACTIVITY_RECORDS * sizeof(*records) };
	struct iovec from = { (void *)address, to.iov_len };
	struct timespec time;
	uint64_t now;

	if (!records)
		return;
	clock_gettime(CLOCK_MONOTONIC, &time);
	now = time.tv_sec * 1000000000UL + time.tv_nsec;
	if (process_vm_readv(atoi(pid), &to, 1, &from, 1, 0) == (ssize_t)to.iov_len)
		for (int i = 0; i < ACTIVITY_RECORDS; i++)
			if (records[i].begun && records[i].begun <= now)
				add(list, &records[i], atoi(pid), now);
	free(records);
}
