// SPDX-License-Identifier: MIT
/*
 * Threads that look at something again and again: their pauses, and a notice that a word in memory
 * has been waited for so long that nobody may be going to write it.
 */
#include <stdio.h>
#include <time.h>

#include "base/activity.h"
#include "base/ioctl.h"
#include "stream.h"
#include "base/visible.h"

#define LOOKS_AT_ONCE	20
#define PAUSE_FIRST	10000L		/* nanoseconds */
#define PAUSE_LAST	1000000L
#define PAUSE_SLOW	50000000L
#define NOTICE_AFTER	5000000000L

/* Begins a look: pauses are in proportion to the time of a look. */
void pause_begin(struct pause *pause)
{
	pause->start = activity_now();
	if (!pause->begun)
		pause->begun = pause->start;
}

static long longer(long one, long other)
{
	return one > other ? one : other;
}

/*
 * Pauses after a look in vain. A look uses 5 % of a processor at most, and a pause grows to a 64th
 * of the time waited so far: a long wait, which ends that much later at most, uses next to nothing,
 * although waking up costs more than the look itself.
 */
void pause_sleep(struct pause *pause)
{
	struct timespec time;
	long now, limit;

	if (pause->looks++ < LOOKS_AT_ONCE)
		return;
	now = activity_now();
	limit = longer(longer(20 * (now - pause->start), (now - pause->begun) / 64), PAUSE_LAST);
	if (limit > PAUSE_SLOW)
		limit = PAUSE_SLOW;
	time = (struct timespec) { .tv_nsec = pause->next ? pause->next : PAUSE_FIRST };
	nanosleep(&time, NULL);
	pause->next = 2 * time.tv_nsec < limit ? 2 * time.tv_nsec : limit;
}

/* Names the memory at an address. All lines of the log have the module's device numbers. */
void memory_words(uint64_t address, char *text, size_t size)
{
	struct memcast_address_info info = { .address = address, .device = MEMCAST_DEVICE_NONE };
	unsigned long long number;
	unsigned int device;

	if (!device_ask(MEMCAST_ADDRESS_INFO, &info) || !info.out_mapping_bytes) {
		snprintf(text, size, "where nothing is mapped");
		return;
	}
	number = info.out_object;
	device = visible_module_number(info.out_location_id);
	if (info.out_type == MEMCAST_TYPE_TEAM && !(info.out_flags & MEMCAST_ADDRESS_REPLICA))
		snprintf(text, size, "in the window of team %llu", number);
	else if (info.out_type == MEMCAST_TYPE_TEAM)
		snprintf(text, size, "in device %u's replica of team %llu", device, number);
	else if (info.out_location == MEMCAST_LOCATION_ELSEWHERE)
		snprintf(text, size, "in memory %llu of a device that this process does not see", number);
	else if (info.out_location == MEMCAST_LOCATION_DEVICE)
		snprintf(text, size, info.out_heap ? "in this process's memory on device %u" :
			 "on device %u, in memory %llu", device, number);
	else
		snprintf(text, size, info.out_heap || !info.out_type ?
			 "in this process's host memory" : "in host memory %llu", number);
}

/* The wait is over; another one may begin. */
void pause_end(struct pause *pause)
{
	activity_end(pause->activity);
	*pause = (struct pause) {};
}

static uint64_t read_word(const struct operation *operation, uint32_t device)
{
	uint64_t seen = 0;
	struct memcast_copy copy = {
		.to = (uintptr_t)&seen,
		.from = operation->address,
		.bytes = operation->size,
		.device = device,
	};

	device_ask(MEMCAST_COPY, &copy);
	return seen;
}

static const char *words_of(unsigned int how)
{
	switch (how) {
	case CU_STREAM_WAIT_VALUE_EQ:
		return "==";
	case CU_STREAM_WAIT_VALUE_AND:
		return "& (a bit of)";
	case CU_STREAM_WAIT_VALUE_NOR:
		return "NOR (any bit clear beside)";
	default:
		return ">=";
	}
}

/* Says once, for a wait that has lasted long, what it waits for. Aloud once in a process. */
void pause_notice(struct pause *pause, const struct operation *operation,
		  const struct stream *stream)
{
	long waited = pause->start - pause->begun;
	static atomic_bool aloud;
	char memory[96], text[384], name[32];

	if (__builtin_expect(pause->said || waited < NOTICE_AFTER, 1))
		return;
	pause->said = true;
	memory_words(operation->address, memory, sizeof(memory));
	snprintf(text, sizeof(text),
		 "stream %p has waited %.1f s for the word at %#llx, %s: it is %#llx, and the wait is for %s %#llx (cuStreamWaitValue%u)",
		 (void *)stream->handle, waited * 1e-9, (unsigned long long)operation->address,
		 memory, (unsigned long long)read_word(operation, stream->set->device),
		 words_of(operation->how), (unsigned long long)operation->value,
		 8 * operation->size);
	log_notice(text, !atomic_exchange(&aloud, true));
	snprintf(name, sizeof(name), "%p", (void *)stream->handle);
	pause->activity = activity_begin(pause->begun, "stream ", name);
	snprintf(text, sizeof(text), "waits for the word at %#llx, %s, %s %#llx "
		 "(cuStreamWaitValue%u)", (unsigned long long)operation->address, memory,
		 words_of(operation->how), (unsigned long long)operation->value,
		 8 * operation->size);
	activity_where(pause->activity, text);
}
