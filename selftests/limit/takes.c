// SPDX-License-Identifier: MIT
/* Commands that make the module take memory of the machine. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <uapi/memcast.h>

#include "helpers.h"
#include "importer.h"
#include "peers.h"
#include "takes.h"

/* Mappings of a page each; fewer on debug kernels, where a hundred thousand take half an hour */
#define MANY	loops(100000)

static int device, fd, importer;
static uint32_t handle, team;
static char *at;

static int start(void)
{
	return take_open(&device);
}

int take_open(int *opened)
{
	struct rlimit files = { 65536, 65536 };

	/* as many files as root may have, or else as many as the hard limit allows */
	if (setrlimit(RLIMIT_NOFILE, &files) && !getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	*opened = open("/dev/memcast", O_RDWR | O_CLOEXEC);
	return *opened < 0 ? errno : 0;
}

static int make_memory(uint64_t bytes, uint32_t types, uint32_t *made)
{
	struct memcast_memory_create create = {
		.location = MEMCAST_LOCATION_HOST_NUMA, .bytes = bytes,
		.handle_types = types,
	};
	int error = RAW(device, MEMORY_CREATE, create);

	*made = create.out_handle;
	return error;
}

static int make_team(uint64_t bytes, uint32_t types, uint32_t *made)
{
	struct memcast_team_create create = {
		.bytes = bytes, .devices = 2, .handle_types = types,
	};
	int error = RAW(device, TEAM_CREATE, create);

	*made = create.out_handle;
	return error;
}

static int export_fd(uint32_t what, int *out)
{
	struct memcast_export export = {
		.handle = what, .handle_type = MEMCAST_HANDLE_FD,
	};
	int error = RAW(device, EXPORT, export);

	*out = export.out_fd;
	return error;
}

static int import_fd(uint32_t flags)
{
	struct memcast_import import = {
		.handle_type = MEMCAST_HANDLE_FD, .fd = fd, .flags = flags,
		.device = flags ? MEMCAST_DEVICE_NONE : 0,
	};

	return RAW(device, IMPORT, import);
}

static int reserve(uint64_t bytes, char **where)
{
	char *room = mmap(NULL, bytes + TAKE_CHUNK, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *start = (char *)(((uintptr_t)room + TAKE_CHUNK - 1) & -TAKE_CHUNK);

	if (room == MAP_FAILED)
		return errno;
	*where = mmap(start, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, device, 0);
	if (*where == MAP_FAILED)
		return errno;
	if (start > room)
		munmap(room, start - room);
	if (start < room + TAKE_CHUNK)
		munmap(start + bytes, room + TAKE_CHUNK - start);
	return 0;
}

static int map(uint64_t offset, uint64_t bytes)
{
	struct memcast_map map = {
		.handle = handle, .address = (uintptr_t)at + offset, .bytes = bytes,
	};

	return RAW(device, MAP, map);
}

/* ---- files and handles ---- */

static int once_client(UNUSED unsigned int i)
{
	return open("/dev/memcast", O_RDWR | O_CLOEXEC) < 0 ? errno : 0;
}

static int once_memory(UNUSED unsigned int i)
{
	return make_memory(TAKE_PAGE, 0, &handle);
}

static int once_chunk(UNUSED unsigned int i)
{
	return make_memory(TAKE_CHUNK, 0, &handle);
}

static int once_team(UNUSED unsigned int i)
{
	return make_team(TAKE_CHUNK, 0, &handle);
}

static int prepare_shareable(void)
{
	return start() ?: make_memory(TAKE_PAGE, MEMCAST_HANDLE_FD, &handle) ?:
	       export_fd(handle, &fd);
}

static int once_import(UNUSED unsigned int i)
{
	return import_fd(0);
}

static int once_export(UNUSED unsigned int i)
{
	return export_fd(handle, &fd);
}

static int prepare_team(void)
{
	return start() ?: make_team(TAKE_CHUNK, MEMCAST_HANDLE_FD, &handle);
}

static int prepare_fabric(void)
{
	struct memcast_channel channel = {
		.fd = open("/dev/memcast-imex/channel0", O_RDONLY | O_CLOEXEC),
	};

	if (channel.fd < 0)
		return ENOTSUP;
	return start() ?: RAW(device, CHANNEL, channel);
}

static int once_fabric(UNUSED unsigned int i)
{
	struct memcast_export export = { .handle_type = MEMCAST_HANDLE_FABRIC };
	int error = make_team(TAKE_CHUNK, MEMCAST_HANDLE_FABRIC, &export.handle);

	return error ?: RAW(device, EXPORT, export);
}

/* ---- addresses ---- */

static int once_reserve(UNUSED unsigned int i)
{
	return reserve(TAKE_CHUNK, &at);
}

/* Maps pages of one memory again and again, each with a mapping of its own. */
static int prepare_map(void)
{
	return start() ?: make_memory(TAKE_PAGE, 0, &handle) ?: reserve(1UL << 40, &at);
}

static int once_map(unsigned int i)
{
	return map(i * TAKE_PAGE, TAKE_PAGE);
}

/* Each entry needs a page table of its own. */
static int once_touch(unsigned int i)
{
	struct memcast_access_entry entry = {
		.location = MEMCAST_LOCATION_DEVICE, .access = MEMCAST_ACCESS_READWRITE,
	};
	struct memcast_set_access access = {
		.address = (uintptr_t)at + i * TAKE_CHUNK, .bytes = TAKE_PAGE,
		.entries = (uintptr_t)&entry, .count = 1,
	};
	int error = map(i * TAKE_CHUNK, TAKE_PAGE) ?: RAW(device, SET_ACCESS, access);

	if (!error)
		*(volatile char *)(at + i * TAKE_CHUNK) = 1;
	return error;
}

static int prepare_many(void)
{
	unsigned int count = MANY, i;
	int error = prepare_map();

	for (i = 0; i < count && !error; i++)
		error = map(i * TAKE_PAGE, TAKE_PAGE);
	return error;
}

static int export_range(void)
{
	struct memcast_export_range range = {
		.address = (uintptr_t)at, .bytes = MANY * TAKE_PAGE,
	};
	int error = RAW(device, EXPORT_RANGE, range);

	fd = range.out_fd;
	return error;
}

static int once_range(UNUSED unsigned int i)
{
	return export_range();
}

static int prepare_range(void)
{
	return prepare_many() ?: export_range();
}

static int once_foreign(UNUSED unsigned int i)
{
	return import_fd(MEMCAST_IMPORT_FOREIGN);
}

/* Memory of another driver, which each import maps for a memcast device */
static int prepare_udmabuf(void)
{
	fd = udmabuf_buffer(TAKE_PAGE);
	return fd < 0 ? ENOTSUP : start();
}

static int prepare_attach(void)
{
	const char *why;

	importer = importer_open(&why);
	return importer < 0 ? ENOTSUP : prepare_range();
}

static int once_attach(UNUSED unsigned int i)
{
	uint32_t id;
	int ret = importer_attach(importer, fd, &id);

	return -ret ?: -importer_map(importer, id, 0, MEMCAST_IMPORTER_BOTH, NULL);
}

/* ---- teams ---- */

static int full_team(uint64_t bytes)
{
	struct memcast_team_add add = {};
	int error = make_team(bytes, MEMCAST_HANDLE_FD, &add.team);

	if (!error)
		error = RAW(device, TEAM_ADD, add);
	add.device = 1;
	team = add.team;
	return error ?: RAW(device, TEAM_ADD, add);
}

static int prepare_bind(void)
{
	return start() ?: full_team(1UL << 40) ?:
	       make_memory(TAKE_CHUNK, MEMCAST_HANDLE_FD, &handle);
}

static int once_bind(unsigned int i)
{
	struct memcast_bind_memory bind = {
		.team = team, .memory = handle, .team_offset = i * TAKE_CHUNK, .bytes = TAKE_CHUNK,
	};

	return RAW(device, BIND_MEMORY, bind);
}

static int prepare_bind_address(void)
{
	unsigned int i;
	int error = prepare_bind() ?: reserve(1000 * TAKE_CHUNK, &at);

	for (i = 0; i < 1000 && !error; i++)
		error = map(i * TAKE_CHUNK, TAKE_CHUNK);
	return error;
}

/* A call that makes a thousand bindings */
static int once_bind_address(unsigned int i)
{
	struct memcast_bind_address bind = {
		.team = team, .team_offset = i * 1000 * TAKE_CHUNK, .address = (uintptr_t)at,
		.bytes = 1000 * TAKE_CHUNK,
	};

	return RAW(device, BIND_ADDRESS, bind);
}

static int prepare_staging(void)
{
	int error = start() ?: full_team(1UL << 40) ?: export_fd(team, &fd);

	if (error)
		return error;
	at = mmap(NULL, 1UL << 40, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return at == MAP_FAILED ? errno : 0;
}

/* A system call reads the page: it gets an errno where a load would get a SIGBUS. */
static int once_staging(unsigned int i)
{
	static int pipes[2] = { -1 };
	char byte;

	if (pipes[0] < 0 && pipe2(pipes, O_CLOEXEC))
		return errno;
	if (write(pipes[1], at + i * TAKE_PAGE, 1) != 1)
		return errno;
	return read(pipes[0], &byte, 1) == 1 ? 0 : errno;
}

/* ---- open files that tell what a client holds ---- */

/* Many mappings, so that a text of all of them would be long */
static int prepare_tell(void)
{
	unsigned int i;
	int error = start() ?: full_team(TAKE_CHUNK) ?: reserve(2000 * TAKE_CHUNK, &at);

	handle = team;
	for (i = 0; i < 2000 && !error; i++)
		error = map(i * TAKE_CHUNK, TAKE_CHUNK);
	return error;
}

static int once_fdinfo(UNUSED unsigned int i)
{
	char name[32], byte;
	int info;

	snprintf(name, sizeof(name), "/proc/self/fdinfo/%d", device);
	info = open(name, O_RDONLY | O_CLOEXEC);
	return info < 0 || read(info, &byte, 1) != 1 ? errno : 0;
}

static int once_list(UNUSED unsigned int i)
{
	int list = client_list(device, client_key(getpid(), device));
	char byte;

	return list < 0 ? -list : read(list, &byte, 1) != 1 ? errno : 0;
}

/* The kernel's dma-buf code charges its own struct to nobody. */
#define DMA_BUF	512
/* ... and neither its attachments nor udmabuf's table of pages */
#define ATTACHMENT	192

static const struct take takes[] = {
	{ "client", 8000, 0, start, once_client },
	{ "memory", 8000, 0, start, once_memory },
	{ "chunk", 16, 0, start, once_chunk },
	{ "team", 16000, 0, start, once_team },
	{ "import", 100000, 0, prepare_shareable, once_import },
	{ "export", 8000, DMA_BUF, prepare_shareable, once_export },
	{ "export_team", 8000, DMA_BUF, prepare_team, once_export },
	{ "export_fabric", 16000, 0, prepare_fabric, once_fabric },
	{ "fdinfo", 4000, 0, prepare_tell, once_fdinfo },
	{ "list", 400, 0, prepare_tell, once_list },
	{ "reserve", 16000, 0, start, once_reserve },
	{ "map", 60000, 0, prepare_map, once_map },
	{ "touch", 2000, 0, prepare_map, once_touch },
	{ "export_range", 4, DMA_BUF, prepare_many, once_range },
	{ "import_own_range", 8, 0, prepare_range, once_foreign },
	{ "import_udmabuf", 8000, ATTACHMENT, prepare_udmabuf, once_foreign },
	{ "attach", 4, 0, prepare_attach, once_attach },
	{ "bind", 60000, 0, prepare_bind, once_bind },
	{ "bind_address", 60, 0, prepare_bind_address, once_bind_address },
	{ "staging", 4096, 0, prepare_staging, once_staging },
};

#define TAKES	(sizeof(takes) / sizeof(takes[0]))

const struct take *take_at(unsigned int number)
{
	if (number < TAKES)
		return &takes[number];
	return number - TAKES < HEAP_TAKES ? &heap_takes[number - TAKES] : NULL;
}
