// SPDX-License-Identifier: MIT
/* The interface of /dev/memcast itself, command by command, without the library. */
#include <fcntl.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include "memcast_test.h"
#include "raw.h"

/*
 * The layout that programs are built with, 32-bit ones as well: 64-bit fields are aligned, so the
 * layout does not depend on the compiler. Sizes only grow.
 */
#define LAYOUT(arg, first_size, field, offset)				\
	_Static_assert(sizeof(struct memcast_##arg) >= (first_size) &&	\
		       sizeof(struct memcast_##arg) % 8 == 0 &&		\
		       offsetof(struct memcast_##arg, field) == (offset), #arg)

LAYOUT(header, 16, reason, 8);
LAYOUT(system_info, 40, out_machine, 52);
LAYOUT(device_info, 64, out_uuid, 40);
LAYOUT(handle_info, 56, out_joined, 52);
LAYOUT(handle_release, 24, reserved, 20);
LAYOUT(handle_retain, 32, handle, 28);
LAYOUT(export, 32, out_fd, 28);
LAYOUT(import, 32, out_handle, 28);
LAYOUT(memory_create, 48, out_handle, 40);
LAYOUT(team_create, 40, out_handle, 36);
LAYOUT(team_add, 24, device, 20);
LAYOUT(bind_memory, 56, bytes, 48);
LAYOUT(bind_address, 56, flags, 48);
LAYOUT(unbind, 40, bytes, 32);
LAYOUT(reservation_free, 40, flags, 32);
LAYOUT(map, 56, member, 48);
LAYOUT(unmap, 32, bytes, 24);
LAYOUT(access_entry, 16, access, 8);
LAYOUT(set_access, 48, count, 40);
LAYOUT(get_access, 40, out_access, 32);
LAYOUT(copy, 48, progress, 80);
LAYOUT(fill, 48, progress, 64);
LAYOUT(block_map, 56, out_address, 48);
LAYOUT(team_wait, 40, since, 32);
LAYOUT(team_member, 32, name, 16);
LAYOUT(team_members, 48, out_joined, 44);
LAYOUT(address_check, 32, reserved, 28);
LAYOUT(client_list, 32, out_fd, 24);
LAYOUT(client_protect, 24, reserved, 20);

union argument {
	struct memcast_header header;
	unsigned char bytes[512];
};

/* The objects for a good call of each command */
FIXTURE(command)
{
	int fd;
	unsigned char *at;	/* four chunks, the first mapped */
	uint32_t memory, team, full;	/* @team is incomplete, @full complete */
	int32_t shared;		/* an fd of the memory */
	uint32_t heap;		/* a pool with one block */
	uint32_t plain;		/* a heap that is no pool */
	uint64_t block, own;	/* a block in the pool, and one in the plain heap */
	struct memcast_access_entry entry;
	union argument argument;
	size_t size;		/* size of this command's argument */
};

FIXTURE_VARIANT(command)
{
	unsigned long request;
	size_t size, first_size;
	void (*fill)(FIXTURE_DATA(command) *self);
	size_t reserved;	/* offset of a field that must be 0; 0: none */
	size_t flags;		/* offset of the flags, one bit of which is unknown; 0: none */
	bool writes;		/* the command has outputs */
};

#define COMMAND(name, NAME, last_of_first, ...)				\
static void fill_##name(FIXTURE_DATA(command) *self)				\
{										\
	struct memcast_##name *arg = (void *)&self->argument;			\
										\
	*arg = (struct memcast_##name) { __VA_ARGS__ };				\
}										\
FIXTURE_VARIANT_ADD(command, name)						\
{										\
	.request = MEMCAST_##NAME,						\
	.size = sizeof(struct memcast_##name),					\
	.first_size = offsetof(struct memcast_##name, last_of_first) +		\
		      sizeof(((struct memcast_##name *)NULL)->last_of_first),	\
	.fill = fill_##name,							\
	OPTIONS_##name								\
}

#define FIELD(name, field)	offsetof(struct memcast_##name, field)

#define OPTIONS_system_info	.writes = true,
COMMAND(system_info, SYSTEM_INFO, out_recommended, .out_abi = 0);
#define OPTIONS_device_info	.reserved = FIELD(device_info, reserved), .writes = true,
COMMAND(device_info, DEVICE_INFO, reserved, .device = 1);
#define OPTIONS_handle_info	.writes = true,
COMMAND(handle_info, HANDLE_INFO, out_joined, .handle = self->memory);
#define OPTIONS_handle_release	.reserved = FIELD(handle_release, reserved),
COMMAND(handle_release, HANDLE_RELEASE, reserved, .handle = self->memory);
#define OPTIONS_handle_retain	.writes = true,
COMMAND(handle_retain, HANDLE_RETAIN, handle, .address = (uintptr_t)self->at);
#define OPTIONS_export		.flags = FIELD(export, flags), .writes = true,
COMMAND(export, EXPORT, out_fd, .handle = self->memory, .handle_type = MEMCAST_HANDLE_FD);
#define OPTIONS_import		.flags = FIELD(import, flags), .writes = true,
COMMAND(import, IMPORT, out_handle, .handle_type = MEMCAST_HANDLE_FD, .fd = self->shared);
#define OPTIONS_memory_create						\
	.flags = FIELD(memory_create, flags), .writes = true,		\
	.reserved = FIELD(memory_create, reserved),
COMMAND(memory_create, MEMORY_CREATE, reserved, .location = MEMCAST_LOCATION_DEVICE,
     .bytes = 3 * CHUNK);
#define OPTIONS_team_create	.flags = FIELD(team_create, flags), .writes = true,
COMMAND(team_create, TEAM_CREATE, out_handle, .bytes = CHUNK, .devices = 2);
#define OPTIONS_team_add
COMMAND(team_add, TEAM_ADD, device, .team = self->team, .device = 2);
#define OPTIONS_bind_memory	.flags = FIELD(bind_memory, flags),
COMMAND(bind_memory, BIND_MEMORY, bytes, .team = self->full, .memory = self->memory, .bytes = CHUNK,
     .team_offset = CHUNK);
#define OPTIONS_bind_address						\
	.flags = FIELD(bind_address, flags), .reserved = FIELD(bind_address, reserved),
COMMAND(bind_address, BIND_ADDRESS, reserved, .team = self->full,
     .device = MEMCAST_DEVICE_OF_MEMORY, .address = (uintptr_t)self->at, .bytes = CHUNK,
     .team_offset = CHUNK);
#define OPTIONS_unbind
COMMAND(unbind, UNBIND, bytes, .team = self->full, .bytes = CHUNK);
#define OPTIONS_reservation_free					\
	.flags = FIELD(reservation_free, flags), .reserved = FIELD(reservation_free, reserved),
COMMAND(reservation_free, RESERVATION_FREE, bytes, .address = (uintptr_t)self->at + 8 * CHUNK,
     .bytes = CHUNK);
#define OPTIONS_map		.flags = FIELD(map, flags), .reserved = FIELD(map, reserved),
COMMAND(map, MAP, reserved, .handle = self->memory, .address = (uintptr_t)self->at + CHUNK,
     .bytes = CHUNK);
#define OPTIONS_unmap
COMMAND(unmap, UNMAP, bytes, .address = (uintptr_t)self->at, .bytes = CHUNK);
#define OPTIONS_set_access	.reserved = FIELD(set_access, reserved),
COMMAND(set_access, SET_ACCESS, reserved, .address = (uintptr_t)self->at, .bytes = CHUNK,
     .entries = (uintptr_t)&self->entry, .count = 1);
#define OPTIONS_get_access	.reserved = FIELD(get_access, reserved), .writes = true,
COMMAND(get_access, GET_ACCESS, reserved, .address = (uintptr_t)self->at,
     .location = MEMCAST_LOCATION_DEVICE);
#define OPTIONS_copy		.flags = FIELD(copy, flags),
COMMAND(copy, COPY, flags, .to = (uintptr_t)self->at, .from = (uintptr_t)&self->entry, .bytes = 4);
#define OPTIONS_fill		.flags = FIELD(fill, flags),
COMMAND(fill, FILL, flags, .to = (uintptr_t)self->at, .count = 4, .width = 1);

#define OPTIONS_address_info	.reserved = FIELD(address_info, reserved), .writes = true,
COMMAND(address_info, ADDRESS_INFO, padding, .address = (uintptr_t)self->at);
#define OPTIONS_export_range	.flags = FIELD(export_range, flags), .writes = true,
COMMAND(export_range, EXPORT_RANGE, out_fd, .address = (uintptr_t)self->at, .bytes = CHUNK);

/* ---- waiting, and faults ---- */

#define OPTIONS_team_wait						\
	.flags = FIELD(team_wait, flags), .reserved = FIELD(team_wait, reserved), .writes = true,
COMMAND(team_wait, TEAM_WAIT, since, .team = self->full, .command = MEMCAST_NR_MAP);
#define OPTIONS_team_members	.writes = true,
COMMAND(team_members, TEAM_MEMBERS, out_joined, .team = self->full);
#define OPTIONS_address_check						\
	.flags = FIELD(address_check, flags), .reserved = FIELD(address_check, reserved),
COMMAND(address_check, ADDRESS_CHECK, reserved, .address = (uintptr_t)self->at);

/* ---- heaps and blocks ---- */

#define OPTIONS_heap_create						\
	.flags = FIELD(heap_create, flags), .writes = true,		\
	.reserved = FIELD(heap_create, reserved),
COMMAND(heap_create, HEAP_CREATE, reserved, .location = MEMCAST_LOCATION_DEVICE);
#define OPTIONS_heap_destroy	.flags = FIELD(heap_destroy, flags),
COMMAND(heap_destroy, HEAP_DESTROY, flags, .heap = self->heap);
#define OPTIONS_heap_info	.reserved = FIELD(heap_info, reserved), .writes = true,
COMMAND(heap_info, HEAP_INFO, reserved, .heap = self->heap);
#define OPTIONS_heap_set
COMMAND(heap_set, HEAP_SET, value, .heap = self->heap, .setting = MEMCAST_HEAP_THRESHOLD);
#define OPTIONS_heap_access
COMMAND(heap_access, HEAP_ACCESS, entries, .heap = self->heap, .count = 1,
     .entries = (uintptr_t)&self->entry);
#define OPTIONS_heap_trim	.flags = FIELD(heap_trim, flags),
COMMAND(heap_trim, HEAP_TRIM, keep, .heap = self->heap);
#define OPTIONS_heap_export						\
	.reserved = FIELD(heap_export, reserved), .writes = true,
COMMAND(heap_export, HEAP_EXPORT, reserved, .heap = self->heap, .handle_type = MEMCAST_HANDLE_FD);
#define OPTIONS_block_alloc	.writes = true,
COMMAND(block_alloc, BLOCK_ALLOC, out_address, .heap = self->heap, .bytes = 100);
#define OPTIONS_block_register	.reserved = FIELD(block_register, padding),
COMMAND(block_register, BLOCK_REGISTER, heap, .address = (uintptr_t)&self->entry, .bytes = 16,
     .heap = self->plain);
#define OPTIONS_block_free						\
	.flags = FIELD(block_free, flags), .reserved = FIELD(block_free, reserved),
COMMAND(block_free, BLOCK_FREE, reserved, .address = self->block);
#define OPTIONS_block_map	.reserved = FIELD(block_map, reserved), .writes = true,
COMMAND(block_map, BLOCK_MAP, out_address, .heap = self->plain, .handle = self->memory,
     .offset = 5, .bytes = 100);
#define OPTIONS_block_set
COMMAND(block_set, BLOCK_SET, mask, .address = self->block, .flags = 1, .mask = 1);
#define OPTIONS_ipc_export	.writes = true,
COMMAND(ipc_export, IPC_EXPORT, out_key, .address = self->own);
#define OPTIONS_block_export	.writes = true,
COMMAND(block_export, BLOCK_EXPORT, out_bytes, .address = self->block);

#define OPTIONS_client_list	.reserved = FIELD(client_list, reserved), .writes = true,
COMMAND(client_list, CLIENT_LIST, reserved, .key = client_key(getpid(), self->fd));
#define OPTIONS_client_protect	.reserved = FIELD(client_protect, reserved),
COMMAND(client_protect, CLIENT_PROTECT, reserved, .key = 0);

/* Maps the complete team. Return: the address */
static uint64_t window_of(FIXTURE_DATA(command) *self)
{
	struct memcast_map map = {
		.handle = self->full, .address = (uintptr_t)self->at + 2 * CHUNK, .bytes = CHUNK,
	};

	raw(self->fd, MEMCAST_MAP, &map, sizeof(map));
	return map.address;
}

#define OPTIONS_team_count
COMMAND(team_count, TEAM_COUNT, multimem, .address = window_of(self), .multimem = 1);

#define CALL(size)	raw(self->fd, variant->request, &self->argument, size)

FIXTURE_SETUP(command)
{
	struct memcast_memory_create create = {
		.location = MEMCAST_LOCATION_DEVICE, .bytes = CHUNK,
		.handle_types = MEMCAST_HANDLE_FD,
	};
	struct memcast_team_create team = { .bytes = 2 * CHUNK, .devices = 2 };
	struct memcast_export export = { .handle_type = MEMCAST_HANDLE_FD };
	struct memcast_bind_memory bind = { .bytes = CHUNK };
	struct memcast_team_add add = {};
	struct memcast_map map = { .bytes = CHUNK };
	struct memcast_set_access access = { .bytes = CHUNK, .count = 1 };
	struct memcast_heap_create heap = {
		.location = MEMCAST_LOCATION_DEVICE,
	};
	struct memcast_block_alloc block = { .bytes = 1000 };
	unsigned char *room = mmap(NULL, 10 * CHUNK, PROT_NONE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	self->fd = open("/dev/memcast", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	self->at = (void *)(((uintptr_t)room + CHUNK - 1) & -CHUNK);
	ASSERT_EQ(self->at, mmap(self->at, 4 * CHUNK, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_FIXED, self->fd, 0));
	ASSERT_EQ(self->at + 8 * CHUNK,
		  mmap(self->at + 8 * CHUNK, CHUNK, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_FIXED, self->fd, 0));
	ASSERT_EQ(0, raw(self->fd, MEMCAST_MEMORY_CREATE, &create, sizeof(create)));
	self->memory = create.out_handle;
	ASSERT_EQ(0, raw(self->fd, MEMCAST_TEAM_CREATE, &team, sizeof(team)));
	self->team = team.out_handle;
	ASSERT_EQ(0, raw(self->fd, MEMCAST_TEAM_CREATE, &team, sizeof(team)));
	self->full = add.team = bind.team = team.out_handle;
	for (add.device = 0; add.device < 2; add.device++)
		ASSERT_EQ(0, raw(self->fd, MEMCAST_TEAM_ADD, &add, sizeof(add)));
	bind.memory = export.handle = self->memory;
	ASSERT_EQ(0, raw(self->fd, MEMCAST_BIND_MEMORY, &bind, sizeof(bind)));
	ASSERT_EQ(0, raw(self->fd, MEMCAST_EXPORT, &export, sizeof(export)));
	self->shared = export.out_fd;
	map.handle = self->memory;
	map.address = (uintptr_t)self->at;
	ASSERT_EQ(0, raw(self->fd, MEMCAST_MAP, &map, sizeof(map)));
	self->entry = (struct memcast_access_entry) {
		.location = MEMCAST_LOCATION_DEVICE, .access = MEMCAST_ACCESS_READWRITE,
	};
	access.address = (uintptr_t)self->at;
	access.entries = (uintptr_t)&self->entry;
	ASSERT_EQ(0, raw(self->fd, MEMCAST_SET_ACCESS, &access, sizeof(access)));
	ASSERT_EQ(0, raw(self->fd, MEMCAST_HEAP_CREATE, &heap, sizeof(heap)));
	self->plain = heap.out_heap;
	heap.flags = MEMCAST_HEAP_POOL;
	heap.handle_types = MEMCAST_HANDLE_FD;
	ASSERT_EQ(0, raw(self->fd, MEMCAST_HEAP_CREATE, &heap, sizeof(heap)));
	self->heap = block.heap = heap.out_heap;
	ASSERT_EQ(0, raw(self->fd, MEMCAST_BLOCK_ALLOC, &block, sizeof(block)));
	self->block = block.out_address;
	block.heap = self->plain;
	ASSERT_EQ(0, raw(self->fd, MEMCAST_BLOCK_ALLOC, &block, sizeof(block)));
	self->own = block.out_address;
	variant->fill(self);
}
NOTHING_LEFT(command)

TEST_F(command, too_short)
{
	EXPECT_EQ(EINVAL, CALL(0));
	EXPECT_EQ(EINVAL, CALL(sizeof(struct memcast_header)));
	EXPECT_EQ(EINVAL, CALL(variant->first_size - 1));
	EXPECT_EQ(0, CALL(variant->first_size));
}

TEST_F(command, longer_with_zeros)
{
	EXPECT_EQ(0, CALL(variant->size + 64));
}

TEST_F(command, longer_with_something)
{
	self->argument.bytes[variant->size + 63] = 1;
	EXPECT_EQ(E2BIG, CALL(variant->size + 64));
	EXPECT_EQ(E2BIG, CALL(1U << 20));
	EXPECT_EQ(E2BIG, CALL(~0U));
	EXPECT_EQ(0, CALL(variant->size));
}

TEST_F(command, unknown_bits)
{
	if (!variant->reserved && !variant->flags)
		SKIP(return, "no flags, nothing reserved");
	if (variant->reserved) {
		self->argument.bytes[variant->reserved] = 1;
		EXPECT_EQ(EINVAL, CALL(variant->size));
		self->argument.bytes[variant->reserved] = 0;
	}
	if (variant->flags) {
		self->argument.bytes[variant->flags + 3] = 0x80;
		EXPECT_EQ(EINVAL, CALL(variant->size));
		self->argument.bytes[variant->flags + 3] = 0;
	}
	EXPECT_EQ(0, CALL(variant->size));
}

TEST_F(command, bad_pointer)
{
	EXPECT_EQ(EFAULT, ERRNO_OF(ioctl(self->fd, variant->request, NULL)));
	EXPECT_EQ(EFAULT, ERRNO_OF(ioctl(self->fd, variant->request, -4096L)));
}

/* A command that cannot write its outputs does nothing. */
TEST_F(command, argument_is_read_only)
{
	size_t available = device_bytes(0, "free_bytes");
	long memories = stat_of("memories"), teams = stat_of("teams");
	union argument *copy = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int next = dup(0);

	close(next);
	*copy = self->argument;
	copy->header.size = variant->size;
	ASSERT_EQ(0, mprotect(copy, 4096, PROT_READ));
	EXPECT_EQ(variant->writes ? EFAULT : 0,
		  ERRNO_OF(ioctl(self->fd, variant->request, copy)));
	if (!variant->writes)
		return;
	EXPECT_EQ(available, device_bytes(0, "free_bytes"));
	EXPECT_EQ(memories, stat_of("memories"));
	EXPECT_EQ(teams, stat_of("teams"));
	EXPECT_EQ(next, dup(0));	/* the command left no fd open */
}

/* A command writes its outputs only on success, and its reason only on failure. */
TEST_F(command, fails_without_a_trace)
{
	const size_t header = sizeof(struct memcast_header);
	char reason[8] = "1234567";
	union argument before;

	if (variant->request == MEMCAST_SYSTEM_INFO)
		SKIP(return, "it does not fail");
	memset(self->argument.bytes + header, 0xff, variant->size - header);
	self->argument.header.reason = (uintptr_t)reason;
	self->argument.header.reason_size = sizeof(reason);
	before = self->argument;
	before.header.size = variant->size;
	EXPECT_NE(0, CALL(variant->size));
	EXPECT_EQ(0, memcmp(&before, &self->argument, sizeof(before)));
	/* the reason is cut to the buffer, and has its final zero */
	EXPECT_EQ(7, strlen(reason));
	EXPECT_STRNE("1234567", reason);
}

/* The end of a block is announced once, and then taken back or carried out, by one flag alone. */
TEST(announced_ends)
{
	static const struct {
		uint32_t flags;
		int error;
	} steps[] = {
		{ MEMCAST_BLOCK_KEEP, EINVAL }, { MEMCAST_BLOCK_NOW, EINVAL },
		{ MEMCAST_BLOCK_LATER, 0 }, { MEMCAST_BLOCK_LATER, EINVAL }, { 0, EINVAL },
		{ MEMCAST_BLOCK_NOW | MEMCAST_BLOCK_KEEP, EINVAL },
		{ MEMCAST_BLOCK_KEEP, 0 }, { MEMCAST_BLOCK_KEEP, EINVAL },
		{ MEMCAST_BLOCK_LATER, 0 }, { MEMCAST_BLOCK_NOW, 0 },
		/* there is no block any more */
		{ MEMCAST_BLOCK_LATER, EINVAL }, { 0, EINVAL },
	};
	struct memcast_heap_create heap = {
		.location = MEMCAST_LOCATION_DEVICE, .flags = MEMCAST_HEAP_POOL,
	};
	struct memcast_block_alloc block = { .bytes = 1000 };
	int fd = open("/dev/memcast", O_RDWR | O_CLOEXEC);

	ASSERT_EQ(0, RAW(fd, HEAP_CREATE, heap));
	block.heap = heap.out_heap;
	ASSERT_EQ(0, RAW(fd, BLOCK_ALLOC, block));
	for (unsigned int i = 0; i < ARRAY_SIZE(steps); i++) {
		struct memcast_block_free end = {
			.address = block.out_address, .flags = steps[i].flags,
		};

		EXPECT_EQ(steps[i].error, RAW(fd, BLOCK_FREE, end)) TH_LOG("step %u", i);
	}
	close(fd);
}

/* A value that a setting does not take changes nothing. */
TEST(settings_of_heaps)
{
	static const struct {
		uint32_t setting;
		uint64_t value;
		int error;
	} settings[] = {
		{ MEMCAST_HEAP_OPTIONS, UINT32_MAX, 0 },
		{ MEMCAST_HEAP_OPTIONS, 1ULL << 32, EINVAL },
		{ MEMCAST_HEAP_THRESHOLD, UINT64_MAX, 0 },
		{ MEMCAST_HEAP_TAKEN_HIGH, 1, EINVAL }, { MEMCAST_HEAP_TAKEN_HIGH, 0, 0 },
		{ MEMCAST_HEAP_USED_HIGH, 1, EINVAL }, { MEMCAST_HEAP_USED_HIGH, 0, 0 },
		{ 0, 0, EINVAL }, { MEMCAST_HEAP_USED_HIGH + 1, 0, EINVAL },
	};
	struct memcast_heap_create heap = { .location = MEMCAST_LOCATION_DEVICE };
	struct memcast_heap_info info = { .device = MEMCAST_DEVICE_NONE };
	int fd = open("/dev/memcast", O_RDWR | O_CLOEXEC);

	ASSERT_EQ(0, RAW(fd, HEAP_CREATE, heap));
	for (unsigned int i = 0; i < ARRAY_SIZE(settings); i++) {
		struct memcast_heap_set set = {
			.heap = heap.out_heap, .setting = settings[i].setting,
			.value = settings[i].value,
		};

		EXPECT_EQ(settings[i].error, RAW(fd, HEAP_SET, set)) TH_LOG("case %u", i);
	}
	info.heap = heap.out_heap;
	EXPECT_EQ(0, RAW(fd, HEAP_INFO, info));
	EXPECT_EQ(UINT32_MAX, info.out_options);
	EXPECT_EQ(UINT64_MAX, info.out_threshold);
	close(fd);
}

/* A value has no more bits than an element, also where there is none to fill. */
TEST(values_of_fills)
{
	static const struct {
		uint32_t width, value;
		int error;
	} values[] = {
		{ 1, UINT8_MAX, 0 }, { 1, UINT8_MAX + 1, EINVAL },
		{ 2, UINT16_MAX, 0 }, { 2, UINT16_MAX + 1, EINVAL },
		{ 4, UINT32_MAX, 0 }, { 3, 0, EINVAL },
	};
	int fd = open("/dev/memcast", O_RDWR | O_CLOEXEC);

	for (unsigned int i = 0; i < ARRAY_SIZE(values); i++) {
		struct memcast_fill fill = {
			.width = values[i].width, .value = values[i].value,
		};

		EXPECT_EQ(values[i].error, RAW(fd, FILL, fill)) TH_LOG("case %u", i);
	}
	close(fd);
}

/* Each flag is good by itself. */
TEST(flags_that_contradict)
{
	struct memcast_import import = {
		.header.size = sizeof(import),
		.handle_type = MEMCAST_HANDLE_FABRIC,
		.flags = MEMCAST_IMPORT_FOREIGN,
	};
	struct memcast_map map = {
		.header.size = sizeof(map),
		.flags = MEMCAST_MAP_REPLICA | MEMCAST_MAP_STRICT,
	};
	int fd = open("/dev/memcast", O_RDWR | O_CLOEXEC);

	ASSERT_LE(0, fd);
	EXPECT_EQ(EINVAL, ERRNO_OF(ioctl(fd, MEMCAST_IMPORT, &import)));
	EXPECT_EQ(EINVAL, ERRNO_OF(ioctl(fd, MEMCAST_MAP, &map)));
	close(fd);
}

TEST_HARNESS_MAIN
