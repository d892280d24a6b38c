// SPDX-License-Identifier: MIT
/* The keeper: a process with memory of its own, which the fuzzing processes must not change. */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "helpers.h"
#include "raw.h"

#define WORDS		(CHUNK / sizeof(uint64_t))
#define KEPT		4			/* chunks of each device */

struct keeper {
	int client;
	uint64_t *at[FUZZ_DEVICES];
	uint32_t handle[FUZZ_DEVICES];
	uint64_t turn;
};

#define CALL(NAME, arg)	RAW(k->client, NAME, arg)

static const char *keeper_takes(struct keeper *k, unsigned int device)
{
	struct memcast_memory_create memory = {
		.location = MEMCAST_LOCATION_DEVICE, .location_id = device,
		.bytes = KEPT * CHUNK, .handle_types = MEMCAST_HANDLE_FD,
	};
	struct memcast_export export = { .handle_type = MEMCAST_HANDLE_FD };
	uint64_t *at;
	size_t i;

	if (CALL(MEMORY_CREATE, memory))
		return "there is no memory";
	k->handle[device] = export.handle = memory.out_handle;
	if (CALL(EXPORT, export))
		return "memory cannot be exported";
	at = mmap(NULL, KEPT * CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, export.out_fd, 0);
	close(export.out_fd);
	if (at == MAP_FAILED)
		return "memory cannot be mapped";
	k->at[device] = at;
	for (i = 0; i < KEPT * WORDS; i++)
		if (at[i])
			return "new memory is not zero";
	for (i = 0; i < KEPT * WORDS; i++)
		at[i] = k->turn * 0x9e3779b97f4a7c15ULL + device + i;
	return NULL;
}

static const char *keeper_gives(struct keeper *k, unsigned int device)
{
	struct memcast_handle_release release = { .handle = k->handle[device] };
	uint64_t *at = k->at[device];
	size_t i;

	for (i = 0; i < KEPT * WORDS; i++)
		if (at[i] != k->turn * 0x9e3779b97f4a7c15ULL + device + i)
			return "memory has changed that is nobody else's";
	munmap(at, KEPT * CHUNK);
	return CALL(HANDLE_RELEASE, release) ? "memory cannot be released" : NULL;
}

/* Binds a team of two devices, and checks that a store to the team reaches both memories. */
static const char *keeper_binds(struct keeper *k)
{
	struct memcast_team_create team = { .bytes = CHUNK, .devices = 2,
					    .handle_types = MEMCAST_HANDLE_FD };
	struct memcast_export export = { .handle_type = MEMCAST_HANDLE_FD };
	struct memcast_handle_release release = {};
	uint64_t *at, value = k->at[0][7];
	unsigned int i;

	if (CALL(TEAM_CREATE, team))
		return "no team can be made";
	for (i = 0; i < 2; i++) {
		struct memcast_team_add add = { .team = team.out_handle, .device = i };

		if (CALL(TEAM_ADD, add))
			return "no device can join";
	}
	for (i = 0; i < 2; i++) {
		struct memcast_bind_memory bind = {
			.team = team.out_handle, .device = MEMCAST_DEVICE_OF_MEMORY,
			.memory = k->handle[i], .bytes = CHUNK,
		};

		if (CALL(BIND_MEMORY, bind))
			return "nothing can be bound";
	}
	export.handle = team.out_handle;
	if (CALL(EXPORT, export))
		return "the team cannot be exported";
	at = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, export.out_fd, 0);
	close(export.out_fd);
	if (at == MAP_FAILED || at[7] != value)
		return "the team does not show its first member";
	at[7] = ~value;
	munmap(at, CHUNK);
	if (k->at[0][7] != ~value || k->at[1][7] != ~value)
		return "not all members have what was written";
	k->at[0][7] = value;
	/* the store made the rest of the page equal the first member's: restores the second's */
	for (i = 0; i < PAGE / sizeof(uint64_t); i++)
		k->at[1][i] = k->at[0][i] + 1;
	release.handle = team.out_handle;
	return CALL(HANDLE_RELEASE, release) ? "the team cannot be released" : NULL;
}

static const char *keeper_turn(struct keeper *k)
{
	const char *wrong;
	unsigned int i;

	for (i = 0; i < FUZZ_DEVICES; i++) {
		wrong = k->turn ? keeper_gives(k, i) : NULL;
		if (wrong)
			return wrong;
	}
	k->turn++;
	for (i = 0; i < FUZZ_DEVICES; i++) {
		wrong = keeper_takes(k, i);
		if (wrong)
			return wrong;
	}
	return keeper_binds(k);
}

void fuzz_keep_memory(int link)
{
	struct keeper k = { .client = open("/dev/memcast", O_RDWR | O_CLOEXEC) };
	long unused;

	while (!peer_receive(link, &unused, NULL))
		peer_send(link, (long)keeper_turn(&k), -1);
	_exit(0);
}
