// SPDX-License-Identifier: MIT
/* Commands of heaps and blocks that make the module take memory. */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <uapi/memcast.h>

#include "takes.h"

static int device, second;
static uint32_t heap, imported, handle;
static char *at;

static int make_heap(uint32_t types)
{
	struct memcast_heap_create create = {
		.location = MEMCAST_LOCATION_HOST_NUMA, .handle_types = types,
		.flags = MEMCAST_HEAP_POOL,
	};
	int error = RAW(device, HEAP_CREATE, create);

	heap = create.out_heap;
	return error;
}

static int once_heap(UNUSED unsigned int i)
{
	return make_heap(0);
}

static int once_shared_heap(UNUSED unsigned int i)
{
	struct memcast_heap_export export = { .handle_type = MEMCAST_HANDLE_FD };
	int error = make_heap(MEMCAST_HANDLE_FD);

	export.heap = heap;
	return error ?: RAW(device, HEAP_EXPORT, export);
}

static int prepare_block(void)
{
	return take_open(&device) ?: make_heap(MEMCAST_HANDLE_FD);
}

static int make_block(uint64_t *where)
{
	struct memcast_block_alloc alloc = { .heap = heap, .bytes = MEMCAST_BLOCK_ALIGN };
	int error = RAW(device, BLOCK_ALLOC, alloc);

	*where = alloc.out_address;
	return error;
}

static int once_block(UNUSED unsigned int i)
{
	uint64_t address;

	return make_block(&address);
}

/*
 * Imports the process's own pool; the module takes it for another process's. A client imports a
 * pool once.
 */
static int import_heap(void)
{
	struct memcast_heap_export export = { .heap = heap, .handle_type = MEMCAST_HANDLE_FD };
	struct memcast_heap_import import = { .handle_type = MEMCAST_HANDLE_FD };
	int error = RAW(device, HEAP_EXPORT, export);

	if (error)
		return error;
	import.fd = export.out_fd;
	error = RAW(device, HEAP_IMPORT, import);
	imported = import.out_heap;
	close(export.out_fd);
	return error;
}

static int once_import_heap(UNUSED unsigned int i)
{
	return make_heap(MEMCAST_HANDLE_FD) ?: import_heap();
}

static int prepare_import_block(void)
{
	return prepare_block() ?: import_heap();
}

static int once_import_block(UNUSED unsigned int i)
{
	struct memcast_block_import import = { .heap = imported };
	struct memcast_block_export export = {};
	uint64_t address;
	int error = make_block(&address);

	if (error)
		return error;
	export.address = address;
	error = RAW(device, BLOCK_EXPORT, export);
	if (error)
		return error;
	import.object = export.out_object;
	import.offset = export.out_offset;
	import.bytes = export.out_bytes;
	return RAW(device, BLOCK_IMPORT, import);
}

/* ---- blocks that other processes may open ---- */

/* All blocks of a chunk. Once one of its blocks is exported, no new block comes into the chunk. */
#define BLOCKS	(TAKE_CHUNK / MEMCAST_BLOCK_ALIGN)

static uint64_t blocks[BLOCKS];
static uint8_t key[MEMCAST_IPC_KEY_SIZE];

static int prepare_ipc(void)
{
	struct memcast_heap_create create = { .location = MEMCAST_LOCATION_DEVICE };
	int error = take_open(&device) ?: RAW(device, HEAP_CREATE, create);

	heap = create.out_heap;
	return error;
}

static int once_ipc_export(unsigned int i)
{
	struct memcast_ipc_export export = {};
	unsigned int n;
	int error = 0;

	for (n = 0; n < BLOCKS && i % BLOCKS == 0 && !error; n++)
		error = make_block(&blocks[n]);
	if (error)
		return error;
	export.address = blocks[i % BLOCKS];
	error = RAW(device, IPC_EXPORT, export);
	memcpy(key, export.out_key, sizeof(key));
	return error;
}

static int prepare_ipc_open(void)
{
	return prepare_ipc() ?: once_ipc_export(0) ?: take_open(&second);
}

static int once_ipc_open(UNUSED unsigned int i)
{
	struct memcast_ipc_open open = {};

	memcpy(open.key, key, sizeof(key));
	return RAW(second, IPC_OPEN, open);
}

static int prepare_register(void)
{
	at = mmap(NULL, 4 * TAKE_CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return errno;
	memset(at, 0, 4 * TAKE_CHUNK);
	return take_open(&device);
}

static int once_register(unsigned int i)
{
	struct memcast_block_register arg = { .address = (uintptr_t)at + i, .bytes = 1 };

	return RAW(device, BLOCK_REGISTER, arg);
}

static int prepare_block_map(void)
{
	struct memcast_heap_create create = { .location = MEMCAST_LOCATION_HOST };
	struct memcast_memory_create memory = {
		.location = MEMCAST_LOCATION_HOST, .bytes = TAKE_PAGE,
	};
	int error = take_open(&device) ?: RAW(device, MEMORY_CREATE, memory) ?:
		    RAW(device, HEAP_CREATE, create);

	heap = create.out_heap;
	handle = memory.out_handle;
	return error;
}

static int once_block_map(UNUSED unsigned int i)
{
	struct memcast_block_map map = { .heap = heap, .handle = handle, .bytes = TAKE_PAGE };

	return RAW(device, BLOCK_MAP, map);
}

static int prepare_heap(void)
{
	return take_open(&device);
}

const struct take heap_takes[HEAP_TAKES] = {
	{ "heap", 20000, 0, prepare_heap, once_heap },
	{ "shared_heap", 8000, 0, prepare_heap, once_shared_heap },
	{ "heap_import", 4000, 0, prepare_heap, once_import_heap },
	{ "block", 40000, 0, prepare_block, once_block },
	{ "block_import", 20000, 0, prepare_import_block, once_import_block },
	{ "ipc_export", 20000, 0, prepare_ipc, once_ipc_export },
	{ "ipc_open", 100000, 0, prepare_ipc_open, once_ipc_open },
	{ "block_register", 60000, 0, prepare_register, once_register },
	{ "block_map", 4000, 0, prepare_block_map, once_block_map },
};
