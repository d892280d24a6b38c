// SPDX-License-Identifier: MIT
/*
 * memcast's ioctls, mostly with arguments that make sense; some are spoilt: in a field, in
 * the size, in the ioctl's number, in the argument's address.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fuzz_commands.h"
#include "helpers.h"

static uint64_t get(const void *arg, const struct fuzz_field *field)
{
	uint64_t value = 0;

	memcpy(&value, (const char *)arg + field->at, field->size < 8 ? field->size : 8);
	return value;
}

static void set(void *arg, const struct fuzz_field *field, uint64_t value)
{
	memcpy((char *)arg + field->at, &value, field->size < 8 ? field->size : 8);
}

/* Mostly device 0 or 1, so that calls meet on a device. */
static uint64_t some_device(struct fuzz *f)
{
	return fuzz_any(f, fuzz_percent(f, 85) ? 2 : 5);
}

static struct fuzz_thing somewhere_of(struct fuzz *f, const enum fuzz_kind *kinds,
				      unsigned int count)
{
	struct fuzz_thing thing = fuzz_pick(f, kinds[fuzz_any(f, count)]);

	if (fuzz_percent(f, 20) && thing.extra) {
		uint64_t by = fuzz_any(f, 16) * (fuzz_percent(f, 50) ? 8 : CHUNK / 8);

		by %= thing.extra;
		thing.value += by;
		thing.extra -= by;
	}
	return thing;
}

static uint64_t some_entries(struct fuzz *f)
{
	static __thread struct memcast_access_entry entries[4];
	unsigned int i;

	if (fuzz_percent(f, 5))
		return (uintptr_t)fuzz_somewhere(f);
	for (i = 0; i < 4; i++)
		entries[i] = (struct memcast_access_entry) {
			.location = fuzz_percent(f, 95) ? MEMCAST_LOCATION_DEVICE : fuzz_any(f, 5),
			.location_id = some_device(f),
			.access = fuzz_percent(f, 80) ? MEMCAST_ACCESS_READWRITE : fuzz_any(f, 4),
		};
	return (uintptr_t)entries;
}

static uint64_t value_of(struct fuzz *f, unsigned int kind, struct fuzz_thing *last)
{
	static const enum fuzz_kind mapped[] = { MAPPING, MAPPING, BLOCK };
	static const enum fuzz_kind all[] = {
		MAPPING, MAPPING, BLOCK, BLOCK, PLAIN, BUFFER, RESERVATION,
	};
	static const enum fuzz_kind fds[] = { DMABUF, DMABUF, DMABUF, CLIENT, HEAP_FD, OTHER_FD };

	switch (kind) {
	case HANDLE:
		return (*last = fuzz_pick(f, fuzz_any(f, 2) ? TEAM : MEMORY)).value;
	case ANY_HEAP:
		return (*last = fuzz_pick(f, fuzz_percent(f, 70) ? HEAP : IMPORTED)).value;
	case MAPPED:
		return (*last = somewhere_of(f, mapped, 3)).value;
	case RESERVATION:
		*last = fuzz_pick(f, RESERVATION);
		/* an address inside the reservation, for MAP */
		if (fuzz_percent(f, 30))
			return last->value + fuzz_any(f, 4) * CHUNK;
		return last->value;
	case ANY_ADDRESS:
		return (*last = somewhere_of(f, all, 7)).value;
	case DEVICE:
		return some_device(f);
	case OWN_DEVICE:
		return fuzz_percent(f, 60) ? MEMCAST_DEVICE_OF_MEMORY : some_device(f);
	case LOCATION:
		return fuzz_percent(f, 80) ? MEMCAST_LOCATION_DEVICE : fuzz_any(f, 5);
	case BYTES:
		return fuzz_percent(f, 60) ? CHUNK : fuzz_percent(f, 75) ?
		       CHUNK * (1 + fuzz_any(f, 4)) : PAGE * (1 + fuzz_any(f, 1024));
	case OFFSET:
		return fuzz_percent(f, 70) ? 0 : CHUNK * fuzz_any(f, 5);
	case EXTRA:
		return fuzz_percent(f, 90) ? (uint32_t)last->extra : PAGE * fuzz_any(f, 1024);
	case HIGH:
		return last->extra >> 32;
	case LOW:
		return fuzz_percent(f, 70) ? 1 + fuzz_any(f, 1 << fuzz_any(f, 14)) :
		       CHUNK / (1 << fuzz_any(f, 4)) + fuzz_any(f, 3) * PAGE;
	case TYPES:
		return fuzz_percent(f, 80) ? MEMCAST_HANDLE_FD : fuzz_any(f, 4);
	case TYPE:
		return fuzz_percent(f, 90) ? MEMCAST_HANDLE_FD : fuzz_any(f, 4);
	case FEW:
		return fuzz_percent(f, 60) ? 0 : fuzz_any(f, 4);
	case FLAGS:
		return fuzz_percent(f, 60) ? 0 : 1 << fuzz_any(f, 4) |
		       (fuzz_percent(f, 20) ? 1 << fuzz_any(f, 4) : 0);
	case ENTRIES:
		return some_entries(f);
	case COUNT:
		return 1 + fuzz_any(f, 4);
	case FD:
		return (*last = fuzz_pick(f, fds[fuzz_any(f, 6)])).value;
	case CHANNEL_FD:
		return f->things->channel;
	case KEY:
		return client_key(getpid(), fuzz_pick(f, CLIENT).value);
	case WIDTH:
		return fuzz_percent(f, 80) ? 2 : fuzz_any(f, 6);
	case ROWS:
		return fuzz_percent(f, 80) ? 0 : fuzz_any(f, 5);
	case SETTING:
		return 1 + fuzz_any(f, 4);
	case WAITING:
		return fuzz_percent(f, 80) ? MEMCAST_NR_MAP :
					     MEMCAST_NR_BASE + fuzz_any(f, FUZZ_COMMANDS);
	case REST:
		return 0;
	default:
		return (*last = fuzz_pick(f, kind)).value;
	}
}

static uint64_t spoilt(struct fuzz *f, uint64_t value)
{
	switch (fuzz_any(f, 4)) {
	case 0:
		return fuzz_odd(f);
	case 1:
		return fuzz_pick(f, fuzz_any(f, KINDS)).value;
	case 2:
		return value + fuzz_any(f, 3) - 1;
	default:
		return value ^ 1ULL << fuzz_any(f, 64);
	}
}

static void compose(struct fuzz *f, const struct fuzz_command *command, void *arg,
		    unsigned int percent)
{
	struct fuzz_thing last = { 0 };
	const struct fuzz_field *field;

	memset(arg, 0, ROOM);
	for (field = command->field; field->size; field++) {
		if (field->kind == FABRIC) {
			memcpy((char *)arg + field->at, f->things->fabric, field->size);
			continue;
		}
		set(arg, field, value_of(f, field->kind, &last));
		if (fuzz_percent(f, percent))
			set(arg, field, spoilt(f, get(arg, field)));
	}
	/* spoils a bit of any field, reserved and output fields included */
	if (fuzz_percent(f, percent))
		((char *)arg)[fuzz_any(f, command->size)] ^= 1 << fuzz_any(f, 8);
	((struct memcast_header *)arg)->size = command->size;
}

/* Keeps a handle of a type that is unknown here, a team's or a memory's: the module tells. */
static void keep_handle(struct fuzz *f, int client, uint32_t handle)
{
	struct memcast_handle_info info = { .header.size = sizeof(info), .handle = handle };

	if (!ioctl(client, MEMCAST_HANDLE_INFO, &info))
		fuzz_keep(f, info.out_type == MEMCAST_TYPE_TEAM ? TEAM : MEMORY, handle,
			  info.out_bytes);
}

/* Mostly gives new teams members, and new mappings access, which later calls on them need. */
static void follow_up(struct fuzz *f, int client, unsigned int number, const void *arg)
{
	const struct memcast_map *map = arg;
	struct memcast_access_entry entries[2] = {
		{ MEMCAST_LOCATION_DEVICE, 0, MEMCAST_ACCESS_READWRITE, 0 },
		{ MEMCAST_LOCATION_DEVICE, 1, MEMCAST_ACCESS_READWRITE, 0 },
	};
	struct memcast_set_access set = {
		.header.size = sizeof(set), .entries = (uintptr_t)entries, .count = 2,
	};
	uint32_t i;

	if (fuzz_percent(f, 30))
		return;
	if (number == MEMCAST_NR_MAP) {
		set.address = map->address;
		set.bytes = map->bytes;
		ioctl(client, MEMCAST_SET_ACCESS, &set);
	}
	for (i = 0; i < 2 && number == MEMCAST_NR_TEAM_CREATE; i++) {
		struct memcast_team_add add = {
			.header.size = sizeof(add), .device = i,
			.team = ((const struct memcast_team_create *)arg)->out_handle,
		};

		ioctl(client, MEMCAST_TEAM_ADD, &add);
	}
}

/* Reads a part of a list, or all of it. */
static void read_list(struct fuzz *f, int fd)
{
	char text[ROOM];
	unsigned int i, most = fuzz_any(f, 64);

	for (i = 0; i < most && read(fd, text, 1 + fuzz_any(f, sizeof(text))) > 0; i++)
		;
}

static void learn(struct fuzz *f, int client, unsigned int number, const void *arg)
{
	const struct fuzz_command *command = &fuzz_commands[number];
	const struct memcast_block_export *block = arg;
	const struct memcast_export *export = arg;
	uint64_t value = 0, extra = 0;

	__atomic_fetch_add(&f->counts->good[number], 1, __ATOMIC_RELAXED);
	if (command->gives < 0)
		return;
	memcpy(&value, (const char *)arg + command->value, command->gives == BLOCK ||
	       command->gives == MAPPING || command->gives == RECORD ? 8 : 4);
	memcpy(&extra, (const char *)arg + command->extra, 4);
	switch (number + MEMCAST_NR_BASE) {
	case MEMCAST_NR_BLOCK_EXPORT:
		extra = block->out_offset << 32 | (uint32_t)block->out_bytes;
		break;
	case MEMCAST_NR_EXPORT:
		if (export->out_fd < 0) {
			memcpy(f->things->fabric, export->out_fabric, sizeof(export->out_fabric));
			return;
		}
		extra = lseek(export->out_fd, 0, SEEK_END);
		break;
	case MEMCAST_NR_CLIENT_LIST:
		read_list(f, value);
		break;
	case MEMCAST_NR_BLOCK_REGISTER:
		/* a spoilt bit may have registered the C library's memory, which acts must spare */
		if (value - f->things->arena >= FUZZ_ARENA)
			return;
		break;
	case MEMCAST_NR_HANDLE_RETAIN:
	case MEMCAST_NR_IMPORT:
		keep_handle(f, client, value);
		return;
	}
	fuzz_keep(f, command->gives, value, extra);
	follow_up(f, client, number + MEMCAST_NR_BASE, arg);
}

static void show(const struct fuzz_command *command, const void *arg, int client, int error)
{
	const struct fuzz_field *field;
	char line[512];
	int at;

	at = snprintf(line, sizeof(line), "# %d: fd %d %s", gettid(), client, command->name);
	for (field = command->field; field->size; field++)
		at += snprintf(line + at, sizeof(line) - at, " %#lx", get(arg, field));
	at += snprintf(line + at, sizeof(line) - at, ": %s\n", strerrorname_np(error) ?: "good");
	if (write(2, line, at) < 0)
		return;
}

/* The listed commands, on whose results many others depend, are drawn more often. */
static unsigned int some_command(struct fuzz *f)
{
	static const uint8_t often[] = {
		MEMCAST_NR_BIND_MEMORY, MEMCAST_NR_BIND_MEMORY, MEMCAST_NR_BIND_ADDRESS,
		MEMCAST_NR_UNBIND, MEMCAST_NR_MAP, MEMCAST_NR_MAP, MEMCAST_NR_MAP,
		MEMCAST_NR_SET_ACCESS, MEMCAST_NR_COPY, MEMCAST_NR_FILL, MEMCAST_NR_EXPORT,
		MEMCAST_NR_IMPORT, MEMCAST_NR_BLOCK_ALLOC, MEMCAST_NR_BLOCK_EXPORT,
		MEMCAST_NR_BLOCK_IMPORT, MEMCAST_NR_HEAP_IMPORT,
	};

	if (fuzz_percent(f, 35))
		return often[fuzz_any(f, sizeof(often))] - MEMCAST_NR_BASE;
	return fuzz_any(f, FUZZ_COMMANDS);
}

/* Moves a copy's destination into the arena: any address would hit the C library's memory soon. */
static void stay_in_arena(struct fuzz *f, struct memcast_copy *copy)
{
	uintptr_t arena = f->things->arena;

	if (copy->to >> 32 && !(copy->to >> 48) && copy->to - arena >= FUZZ_ARENA)
		copy->to = arena + copy->to % FUZZ_ARENA;
	if (copy->to_pitch > 4 * CHUNK && !(copy->to_pitch >> 46))
		copy->to_pitch = 4 * CHUNK;
}

static void call(struct fuzz *f, unsigned int number, bool spoil)
{
	static __thread char arg[ROOM] __attribute__((aligned(8)));
	static __thread char reason[200];
	const struct fuzz_command *command = &fuzz_commands[number];
	struct memcast_header *header = (void *)arg;
	unsigned long request = _IO(MEMCAST_IOC_MAGIC, MEMCAST_NR_BASE + number);
	int client = fuzz_client(f);
	void *at = arg;
	bool fail;
	int ret;

	compose(f, command, arg, spoil ? 15 : 0);
	if (spoil && request == MEMCAST_COPY)
		stay_in_arena(f, (void *)arg);
	header->reason = (uintptr_t)reason;
	header->reason_size = sizeof(reason);
	if (spoil && fuzz_percent(f, 20))
		header->reason = (uintptr_t)fuzz_somewhere(f);
	if (spoil && fuzz_percent(f, 20))
		header->reason_size = fuzz_odd(f);
	if (spoil && fuzz_percent(f, 10))
		header->size = fuzz_percent(f, 50) ? fuzz_odd(f) : fuzz_any(f, 2 * command->size);
	if (spoil && fuzz_percent(f, 10))
		request ^= 1UL << fuzz_any(f, 32);
	if (spoil && fuzz_percent(f, 20))
		at = fuzz_somewhere(f);
	if (at != arg)
		fuzz_copy(at, arg, command->size);
	if (f->trace && at != arg)
		dprintf(2, "# %d: the argument is at %p\n", gettid(), at);

	fail = fuzz_fail_some(f);
	ret = ioctl(client, request, at) < 0 ? errno : 0;
	if (fail)
		fuzz_fail_none(f);
	__atomic_fetch_add(&f->counts->calls[number], 1, __ATOMIC_RELAXED);
	if (f->trace)
		show(command, arg, client, ret);
	if (at != arg && !ret && !fuzz_copy(arg, at, command->size))
		return;
	/* the results of another command than @command are not where learn() looks */
	if (!ret && request == _IO(MEMCAST_IOC_MAGIC, MEMCAST_NR_BASE + number) &&
	    header->size >= command->size)
		learn(f, client, number, arg);
}

void fuzz_call(struct fuzz *f)
{
	call(f, some_command(f), fuzz_percent(f, 40));
}

/* Makes objects to begin with. */
void fuzz_warm_up(struct fuzz *f)
{
	static const uint8_t order[] = {
		MEMCAST_NR_MEMORY_CREATE, MEMCAST_NR_MEMORY_CREATE, MEMCAST_NR_MEMORY_CREATE,
		MEMCAST_NR_MEMORY_CREATE, MEMCAST_NR_TEAM_CREATE, MEMCAST_NR_TEAM_CREATE,
		MEMCAST_NR_BIND_MEMORY, MEMCAST_NR_BIND_MEMORY, MEMCAST_NR_MAP, MEMCAST_NR_MAP,
		MEMCAST_NR_MAP, MEMCAST_NR_MAP, MEMCAST_NR_BIND_ADDRESS, MEMCAST_NR_EXPORT,
		MEMCAST_NR_EXPORT, MEMCAST_NR_HEAP_CREATE, MEMCAST_NR_BLOCK_ALLOC,
		MEMCAST_NR_HEAP_EXPORT, MEMCAST_NR_HEAP_IMPORT, MEMCAST_NR_BLOCK_EXPORT,
		MEMCAST_NR_BLOCK_IMPORT,
	};

	for (unsigned int i = 0; i < sizeof(order); i++)
		call(f, order[i] - MEMCAST_NR_BASE, false);
}
