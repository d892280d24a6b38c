/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * memcast: the interface of /dev/memcast.
 *
 * With the module's parameter "hosts" above 1 there is a /dev/memcast-host/N for each host as
 * well: the same interface, to devices of that host alone, which begin at 0.
 *
 * An open file is a client: a table of handles, for the process that opened it. The handles
 * are released when that process ends, even if another one has an fd of the file.
 * Objects are memories and teams; they live as long as a handle, a mapping or an
 * exported fd shows them.
 * A reservation is an mmap() of the file (MAP_SHARED, read and write, the address
 * a multiple of MEMCAST_GRANULARITY); mappings are put inside it. The offset is 0,
 * or the reservation's protection key (pkeys(7)) times MEMCAST_GRANULARITY. With
 * MEMCAST_MMAP_TAIL as well, the mmap() makes the tail of the reservation that ends where it
 * begins: mappings may go on from one into the other. When a tail is unmapped, what is mapped
 * in it ends.
 *
 * /proc/PID/fdinfo/FD tells how much a client holds:
 *
 *   memcast-client:	NUMBER
 *   memcast-host:	HOST first DEVICE of DEVICES, of a host's file only: its device N is
 *			device (N + DEVICE) % DEVICES of the machine
 *   memcast-key:	KEY, for MEMCAST_CLIENT_LIST
 *   memcast-handles:	how many handles it has; also those that are released, but mapped
 *   memcast-mappings:	how many mappings, those of heaps as well
 *   memcast-waits:	how many of its calls wait for a team's members
 *
 * A reader who is another user than the client's, and does not have CAP_SYS_PTRACE, gets
 * the first line only. MEMCAST_CLIENT_LIST gives an fd from which to read what a client holds:
 *
 *   memcast-handle:	OBJECT, a line for each handle
 *   memcast-mapping:	OBJECT, a line for each mapping, those of heaps as well
 *   memcast-wait:	OBJECT waits PID COMMAND MILLISECONDS, a line for each call that
 *			waits for a team's members: BIND_MEMORY, BIND_ADDRESS or MAP
 *   memcast-bindings:	team NUMBER device DEVICE AT:MEMORY:FROM:BYTES... [more BYTES], a line
 *			for each member that has bindings: BYTES at AT of the team are those at
 *			FROM of memory MEMORY. After 64 bindings a line has only the bytes of
 *			all further ones, as "more"
 *   memcast-chunks:	memory NUMBER FIRST-LAST... [more CHUNKS], a line for each memory of a
 *			device: where in its pool the memory's chunks of 2 MiB lie, in the order
 *			of the memory's bytes, 256 ranges at most. Memories of lazy pools, which
 *			have no places, and of other hosts have no such line
 *
 * The list is of the moment in which a line is read: an object that comes or goes meanwhile may
 * be in some of its lines. An OBJECT is one of these, with numbers as in struct
 * memcast_address_info, sizes in bytes, DEVICE:BOUND for each device that has joined, and
 * PID of the process that added it (0: one that the reader cannot see) in the same order;
 * after "ended" come the devices whose process has ended, if there are any.
 * WRITES counts what copies and fills have written to the team's windows, each piece of at
 * most 2 MiB once, however many replicas there are; MULTIMEM the multimem operations of device
 * code there, each thread's once, as processes have told them with MEMCAST_TEAM_COUNT:
 *
 *   memory NUMBER bytes BYTES device DEVICE
 *   memory NUMBER bytes BYTES host|foreign
 *   team NUMBER bytes BYTES devices DEVICES members DEVICE:BOUND... joined PID...
 *	[ended DEVICE...] writes WRITES multimem MULTIMEM, in one line
 *
 * Every ioctl takes one struct that starts with struct memcast_header. Set
 * header.size to sizeof(the struct): a larger struct is taken if the bytes the
 * module does not know are zero (else E2BIG), a shorter one down to its first
 * version. Fields named out_… are written by the module, on success only. All
 * reserved fields and unknown flags must be zero.
 *
 * A call that fails changes nothing. Each errno has one meaning:
 *
 *   EINVAL           an argument is wrong; also an overlap or a range that does
 *                    not consist of whole mappings or bindings
 *   EFAULT           a pointer into the caller's memory cannot be used
 *   EAGAIN           MEMCAST_NO_WAIT: the team is not complete yet
 *   ETIME            the call has waited for so long that its caller should say so
 *   ENOENT           no such handle, or it is of the other type
 *   EBADF            not an fd, or not one that memcast exported on this host
 *   ENODEV           no such device, or it is not a member of the team
 *   EALREADY         the device is in the team already
 *   EEXIST           the range, or a part of it, is registered already; the memory
 *                    is the caller's own
 *   ENOMEM           the pool (or the machine) has not enough memory, or the caller's
 *                    user has all that one may take of the machine's
 *   EPERM            not permitted (IMEX channels, read-only dma-bufs, another user's IPC memory)
 *   ENETDOWN         the fabric is not ready, or the device's link to it
 *   ENOTRECOVERABLE  the fabric is in an illegal state, or the device's link has failed
 *   EOPNOTSUPP       not supported
 *   EIO              the exporter of a foreign dma-buf refused an access
 *   ENOTTY, E2BIG    this module is older than its caller
 *   EHOSTDOWN        the client's host was lost; open() and mmap() say so, too
 *   EHOSTUNREACH     a copy or fill meets memory of another host, which was lost
 *   ESRCH            the client belongs to another process (fork), or to one that has
 *                    ended
 */
#ifndef _UAPI_MEMCAST_H
#define _UAPI_MEMCAST_H

#include <linux/ioctl.h>
#include <linux/types.h>

/*
 * Results of ioctl() for copies and fills that were done; all other commands that succeed return 0.
 * The reason (struct memcast_header) says more.
 *
 * MEMCAST_MISSED: a window was written, but for a member that has no memory bound there.
 * MEMCAST_UNMAPPED: the memory was registered, and the program has unmapped it since; a device
 * would go on with the pages that were there. Said once for each registered range.
 */
#define MEMCAST_MISSED		1
#define MEMCAST_UNMAPPED	2

#define MEMCAST_ABI_VERSION	3
#define MEMCAST_MAX_DEVICES	576
#define MEMCAST_GRANULARITY	(2ULL << 20)

#define MEMCAST_MAX_CHANNELS	64
#define MEMCAST_FABRIC_HANDLE_SIZE	64

#define MEMCAST_IOC_MAGIC	0xED

/**
 * struct memcast_header - start of every argument
 * @size: sizeof() of the whole argument
 * @reason_size: bytes at @reason
 * @reason: 0, or a buffer for a sentence that says why a call failed; it is
 *	cut to @reason_size and ends in a NUL. Written on failure only.
 */
struct memcast_header {
	__u32 size;
	__u32 reason_size;
	__aligned_u64 reason;
};

/* Places of memory, and of the processors that access it */
enum memcast_location {
	MEMCAST_LOCATION_DEVICE		= 1,
	MEMCAST_LOCATION_HOST		= 2,
	MEMCAST_LOCATION_HOST_NUMA	= 3,
	/* in answers only: on another host of the rack; the id is MEMCAST_DEVICE_NONE */
	MEMCAST_LOCATION_ELSEWHERE	= 5,
};

/* Types of handles that an object can be exported as: a mask */
#define MEMCAST_HANDLE_FD		(1U << 0)
#define MEMCAST_HANDLE_FABRIC		(1U << 1)

enum memcast_type {
	MEMCAST_TYPE_MEMORY	= 1,
	MEMCAST_TYPE_TEAM	= 2,
};

enum memcast_access {
	MEMCAST_ACCESS_NONE		= 0,
	MEMCAST_ACCESS_READ		= 1,
	MEMCAST_ACCESS_READWRITE	= 3,
};

/**
 * struct memcast_system_info - ioctl(MEMCAST_SYSTEM_INFO)
 * @out_abi: MEMCAST_ABI_VERSION of the module
 * @out_devices: number of devices that the client sees, which begin at 0
 * @out_granularity: bytes; sizes and offsets are multiples of it
 * @out_recommended: bytes; sizes of teams are best rounded up to a multiple of it
 * @out_first: which of the machine's devices the client's device 0 is
 * @out_host: number of the host whose file it is; MEMCAST_DEVICE_NONE of /dev/memcast, if there
 *	are several hosts
 * @out_hosts: number of hosts
 * @out_machine: number of devices of the machine: of all hosts
 *
 * In /sys/class/memcast and in traces devices have the machine's numbers.
 */
struct memcast_system_info {
	struct memcast_header header;
	__u32 out_abi;
	__u32 out_devices;
	__aligned_u64 out_granularity;
	__aligned_u64 out_recommended;
	__u32 out_first;
	__u32 out_host;
	__u32 out_hosts;
	__u32 out_machine;
};

#define MEMCAST_DEVICE_MULTICAST	(1U << 0)
#define MEMCAST_DEVICE_FABRIC		(1U << 1)

/**
 * struct memcast_device_info - ioctl(MEMCAST_DEVICE_INFO)
 * @device: ordinal of the device
 * @out_node: NUMA node of its pool, -1 if the machine has no NUMA nodes
 * @out_pool_bytes: size of its pool
 * @out_free_bytes: how many bytes of it are free now
 * @out_uuid: its UUID, in the order it is printed
 * @out_flags: mask of MEMCAST_DEVICE_…: its abilities
 */
struct memcast_device_info {
	struct memcast_header header;
	__u32 device;
	__s32 out_node;
	__aligned_u64 out_pool_bytes;
	__aligned_u64 out_free_bytes;
	__u8 out_uuid[16];
	__u32 out_flags;
	__u32 reserved;
};

/* The memory's creator asked for RDMA, or for compression: the module only reports that. */
#define MEMCAST_MEMORY_RDMA		(1U << 0)
#define MEMCAST_MEMORY_COMPRESSIBLE	(1U << 1)
/* The memory is for the tiles of arrays alone: neither MEMCAST_MAP nor a bind takes it. */
#define MEMCAST_MEMORY_TILES		(1U << 2)

/**
 * struct memcast_memory_create - ioctl(MEMCAST_MEMORY_CREATE)
 * @location: enum memcast_location; HOST becomes HOST_NUMA, of the node that the memory lies on
 * @location_id: device ordinal or node
 * @bytes: size, a multiple of the granularity
 * @handle_types: mask of MEMCAST_HANDLE_…
 * @flags: mask of MEMCAST_MEMORY_…
 * @out_handle: the new handle; the memory reads as zero
 */
struct memcast_memory_create {
	struct memcast_header header;
	__u32 location;
	__u32 location_id;
	__aligned_u64 bytes;
	__u32 handle_types;
	__u32 flags;
	__u32 out_handle;
	__u32 reserved;
};

/**
 * struct memcast_team_create - ioctl(MEMCAST_TEAM_CREATE)
 * @bytes: size, a multiple of the granularity
 * @devices: how many devices will join, 2 to all of the client's; with
 *	MEMCAST_HANDLE_FABRIC to all of the machine's
 * @handle_types: mask of MEMCAST_HANDLE_…
 * @flags: 0
 * @out_handle: the new handle
 */
struct memcast_team_create {
	struct memcast_header header;
	__aligned_u64 bytes;
	__u32 devices;
	__u32 handle_types;
	__u32 flags;
	__u32 out_handle;
};

/**
 * struct memcast_handle_release - ioctl(MEMCAST_HANDLE_RELEASE)
 * @handle: loses one reference. Without references, and without a mapping that
 *	MEMCAST_MAP made of it, the handle ends.
 */
struct memcast_handle_release {
	struct memcast_header header;
	__u32 handle;
	__u32 reserved;
};

/**
 * struct memcast_handle_info - ioctl(MEMCAST_HANDLE_INFO)
 * @handle: a memory or a team
 * @out_type: enum memcast_type
 * @out_bytes: size
 * @out_handle_types: as created; 0 for a memory that was imported
 * @out_flags: as created; without MEMCAST_MEMORY_RDMA for one that was imported
 * @out_location: a memory's, as created, or MEMCAST_LOCATION_ELSEWHERE
 * @out_location_id: a memory's, as created
 * @out_devices: a team's: how many devices it is for
 * @out_joined: a team's: how many have joined; MEMCAST_TEAM_MEMBERS says which
 */
struct memcast_handle_info {
	struct memcast_header header;
	__u32 handle;
	__u32 out_type;
	__aligned_u64 out_bytes;
	__u32 out_handle_types;
	__u32 out_flags;
	__u32 out_location;
	__u32 out_location_id;
	__u32 out_devices;
	__u32 out_joined;
};

/**
 * struct memcast_export - ioctl(MEMCAST_EXPORT)
 * @handle: a team, or a memory that was not imported
 * @handle_type: MEMCAST_HANDLE_…, one of those it was created with
 * @flags: 0
 * @out_fd: a new dma-buf, close-on-exec; -1 for MEMCAST_HANDLE_FABRIC
 * @out_fabric: the object's fabric handle, for MEMCAST_HANDLE_FABRIC; the same each
 *	time. It does not keep the object alive.
 */
struct memcast_export {
	struct memcast_header header;
	__u32 handle;
	__u32 handle_type;
	__u32 flags;
	__s32 out_fd;
	__u8 out_fabric[MEMCAST_FABRIC_HANDLE_SIZE];
};

/* Import other drivers' dma-bufs too. */
#define MEMCAST_IMPORT_FOREIGN	(1U << 0)

#define MEMCAST_DEVICE_NONE	(~0U)

/**
 * struct memcast_import - ioctl(MEMCAST_IMPORT)
 * @handle_type: MEMCAST_HANDLE_…
 * @fd: a dma-buf that MEMCAST_EXPORT gave, here or in another process of this host; with
 *	MEMCAST_IMPORT_FOREIGN any other dma-buf too
 * @fabric: for MEMCAST_HANDLE_FABRIC, instead of @fd
 * @flags: mask of MEMCAST_IMPORT_…
 * @out_handle: a new handle of the object
 * @device: with MEMCAST_IMPORT_FOREIGN: ordinal of the device that a foreign
 *	dma-buf counts as memory of, or MEMCAST_DEVICE_NONE for the host's
 * @reserved: 0
 * @bytes: with MEMCAST_IMPORT_FOREIGN: 0, or a size: the object must be a memory of
 *	at least so many bytes
 *
 * A foreign dma-buf becomes a memory that shows its pages, in the granularity of
 * a page; each import makes a new memory, which keeps the buffer and its exporter,
 * and is exported as the same dma-buf again. Only buffers that the exporter lets
 * programs map and write are taken, of the exporters of the parameter foreign_exporters.
 *
 * Copies and fills wait for the buffer's fences and tell its exporter of the
 * access, as DMA_BUF_IOCTL_SYNC does; a program that loads and stores itself
 * calls that ioctl itself, on the fd.
 */
struct memcast_import {
	struct memcast_header header;
	__u32 handle_type;
	__s32 fd;
	__u32 flags;
	__u32 out_handle;
	__u8 fabric[MEMCAST_FABRIC_HANDLE_SIZE];
	__u32 device;
	__u32 reserved;
	__aligned_u64 bytes;
};

/**
 * struct memcast_channel - ioctl(MEMCAST_CHANNEL)
 * @fd: an open /dev/memcast-imex/channelN: the client may use it from now on.
 *	New objects with MEMCAST_HANDLE_FABRIC belong to the client's lowest channel;
 *	clients that have opened that channel can import them.
 * @reserved: 0
 */
struct memcast_channel {
	struct memcast_header header;
	__s32 fd;
	__u32 reserved;
};

/**
 * struct memcast_team_add - ioctl(MEMCAST_TEAM_ADD)
 * @team: handle
 * @device: ordinal; joins for good. The last device completes the team.
 */
struct memcast_team_add {
	struct memcast_header header;
	__u32 team;
	__u32 device;
};

/* BIND_MEMORY, BIND_ADDRESS and MAP do not wait: EAGAIN if the team is not complete. */
#define MEMCAST_NO_WAIT	(1U << 30)

/* The caller has said which devices are missing: wait on without ETIME. */
#define MEMCAST_WAIT_SAID	(1U << 0)

/**
 * struct memcast_team_wait - ioctl(MEMCAST_TEAM_WAIT)
 * @team: handle
 * @command: MEMCAST_NR_BIND_MEMORY, _BIND_ADDRESS or _MAP: which command waits; the client's
 *	fdinfo names it
 * @flags: mask of MEMCAST_WAIT_…
 * @reserved: 0
 * @since: 0, and the module writes the time when the wait began (nanoseconds, CLOCK_MONOTONIC)
 *	before it waits; or that time, to go on with that wait
 *
 * Waits until the team is complete and set up. After the module's team_notice_ms it
 * answers ETIME, for the caller to say that it waits and to call again.
 */
struct memcast_team_wait {
	struct memcast_header header;
	__u32 team;
	__u32 command;
	__u32 flags;
	__u32 reserved;
	__aligned_u64 since;
};

/* All threads of the process have ended. */
#define MEMCAST_MEMBER_ENDED	(1U << 0)
/* The device is another host's. */
#define MEMCAST_MEMBER_ELSEWHERE	(1U << 1)

/**
 * struct memcast_team_member - one entry of MEMCAST_TEAM_MEMBERS
 * @device: ordinal; devices of other hosts come behind the client's own: the machine's number
 *	is (out_first + @device) % out_machine (struct memcast_system_info)
 * @pid: of the process that added it; 0: one that the caller cannot see
 * @flags: mask of MEMCAST_MEMBER_…
 * @reserved: 0
 * @name: of that process when it added the device, up to the first NUL
 */
struct memcast_team_member {
	__u32 device;
	__s32 pid;
	__u32 flags;
	__u32 reserved;
	__u8 name[16];
};

/**
 * struct memcast_team_members - ioctl(MEMCAST_TEAM_MEMBERS)
 * @team: handle
 * @count: number of entries in @members, MEMCAST_MAX_DEVICES at most; the module writes
 *	how many it has filled in
 * @members: array of struct memcast_team_member, in the order of joining
 * @out_object: the team's number
 * @out_devices: how many devices it is for
 * @out_joined: how many have joined
 */
struct memcast_team_members {
	struct memcast_header header;
	__u32 team;
	__u32 count;
	__aligned_u64 members;
	__aligned_u64 out_object;
	__u32 out_devices;
	__u32 out_joined;
};

/**
 * struct memcast_team_count - ioctl(MEMCAST_TEAM_COUNT)
 * @address: in a window of the team (else EINVAL)
 * @multimem: how many multimem operations were made there since the last such call, up to 2^63-1.
 *	The module adds them to the team's count, which stays at 2^63-1 when it gets there.
 *
 * Nothing but the list of a client's objects shows the count, and the module takes it on trust: a
 * process can tell anything of teams that it has mapped.
 */
struct memcast_team_count {
	struct memcast_header header;
	__aligned_u64 address;
	__aligned_u64 multimem;
};

/* Bind for the device that the memory is on. */
#define MEMCAST_DEVICE_OF_MEMORY	(~0U)

/**
 * struct memcast_bind_memory - ioctl(MEMCAST_BIND_MEMORY)
 * @team: handle; the call waits until it is complete
 * @device: ordinal, or MEMCAST_DEVICE_OF_MEMORY
 * @memory: handle
 * @flags: MEMCAST_NO_WAIT, or 0
 * @team_offset: bytes into the team
 * @memory_offset: bytes into the memory
 * @bytes: how much; all three are multiples of the granularity
 */
struct memcast_bind_memory {
	struct memcast_header header;
	__u32 team;
	__u32 device;
	__u32 memory;
	__u32 flags;
	__aligned_u64 team_offset;
	__aligned_u64 memory_offset;
	__aligned_u64 bytes;
};

/**
 * struct memcast_bind_address - ioctl(MEMCAST_BIND_ADDRESS)
 * @team: handle; the call waits until it is complete
 * @device: ordinal, or MEMCAST_DEVICE_OF_MEMORY
 * @team_offset: bytes into the team
 * @address: of mapped memory, also over adjacent mappings: up to 1,048,576
 * @bytes: how much
 * @flags: MEMCAST_NO_WAIT, or 0
 */
struct memcast_bind_address {
	struct memcast_header header;
	__u32 team;
	__u32 device;
	__aligned_u64 team_offset;
	__aligned_u64 address;
	__aligned_u64 bytes;
	__u32 flags;
	__u32 reserved;
};

/**
 * struct memcast_unbind - ioctl(MEMCAST_UNBIND)
 * @team: handle
 * @device: ordinal of a member
 * @team_offset: bytes into the team
 * @bytes: with @team_offset, one or several whole adjacent bindings
 */
struct memcast_unbind {
	struct memcast_header header;
	__u32 team;
	__u32 device;
	__aligned_u64 team_offset;
	__aligned_u64 bytes;
};

/* In the offset of mmap(): see above. A reservation has one tail at most. */
#define MEMCAST_MMAP_TAIL	(1ULL << 30)

/* Free the reservation together with its mappings. */
#define MEMCAST_FREE_MAPPED	(1U << 0)

/**
 * struct memcast_reservation_free - ioctl(MEMCAST_RESERVATION_FREE)
 * @address: start of a reservation
 * @bytes: its size, as given to mmap()
 * @flags: MEMCAST_FREE_MAPPED, or 0
 * @reserved: 0
 *
 * As munmap(), but without the flag only if the reservation has no mappings.
 */
struct memcast_reservation_free {
	struct memcast_header header;
	__aligned_u64 address;
	__aligned_u64 bytes;
	__u32 flags;
	__u32 reserved;
};

/* Show one replica of a team, for reading and writing, instead of its window. */
#define MEMCAST_MAP_REPLICA	(1U << 0)
/* A window is only for ioctls: plain loads and stores are faults. Memories ignore the flag. */
#define MEMCAST_MAP_STRICT	(1U << 1)
/*
 * Map as the driver API does: a memory only as a whole (else EOPNOTSUPP), chunks of it at
 * multiples of MEMCAST_GRANULARITY; a window only from the team's beginning.
 */
#define MEMCAST_MAP_WHOLE	(1U << 2)
/* The mapping goes on in the reservation's tail: for whoever has made that. */
#define MEMCAST_MAP_TAIL	(1U << 3)

/**
 * struct memcast_map - ioctl(MEMCAST_MAP)
 * @handle: a memory or a team; the call waits until a team is complete
 * @flags: mask of MEMCAST_MAP_… and MEMCAST_NO_WAIT
 * @address: inside one reservation (and its tail), without mappings there yet
 * @bytes: multiple of the granularity
 * @offset: bytes into the object
 * @member: with MEMCAST_MAP_REPLICA: which member's, in the order of joining
 * @reserved: 0
 *
 * No processor has access before MEMCAST_SET_ACCESS.
 */
struct memcast_map {
	struct memcast_header header;
	__u32 handle;
	__u32 flags;
	__aligned_u64 address;
	__aligned_u64 bytes;
	__aligned_u64 offset;
	__u32 member;
	__u32 reserved;
};

/**
 * struct memcast_unmap - ioctl(MEMCAST_UNMAP)
 * @address: bytes
 * @bytes: with @address, a range in a reservation that cuts no mapping in two; parts of it
 *	may have no mappings
 */
struct memcast_unmap {
	struct memcast_header header;
	__aligned_u64 address;
	__aligned_u64 bytes;
};

/**
 * struct memcast_access_entry - one entry of MEMCAST_SET_ACCESS
 * @location: enum memcast_location
 * @location_id: device ordinal or node
 * @access: enum memcast_access
 * @reserved: 0
 */
struct memcast_access_entry {
	__u32 location;
	__u32 location_id;
	__u32 access;
	__u32 reserved;
};

/**
 * struct memcast_set_access - ioctl(MEMCAST_SET_ACCESS)
 * @address: bytes
 * @bytes: with @address, one or several whole adjacent mappings
 * @entries: array of struct memcast_access_entry
 * @count: its length, 1 to 2 * MEMCAST_MAX_DEVICES
 * @reserved: 0
 *
 * All entries are set, or none. The CPU may do what any device may.
 */
struct memcast_set_access {
	struct memcast_header header;
	__aligned_u64 address;
	__aligned_u64 bytes;
	__aligned_u64 entries;
	__u32 count;
	__u32 reserved;
};

/**
 * struct memcast_get_access - ioctl(MEMCAST_GET_ACCESS)
 * @address: anywhere inside a mapping
 * @location: enum memcast_location
 * @location_id: device ordinal or node
 * @out_access: enum memcast_access
 * @reserved: 0
 */
struct memcast_get_access {
	struct memcast_header header;
	__aligned_u64 address;
	__u32 location;
	__u32 location_id;
	__u32 out_access;
	__u32 reserved;
};

/**
 * struct memcast_handle_retain - ioctl(MEMCAST_HANDLE_RETAIN)
 * @address: anywhere inside a mapping; 0 with @handle
 * @out_handle: the handle that the mapping was made by, with one more reference; or @handle
 * @handle: 0, or a handle that gets one more reference, instead of @address
 */
struct memcast_handle_retain {
	struct memcast_header header;
	__aligned_u64 address;
	__u32 out_handle;
	__u32 handle;
};

/**
 * struct memcast_progress - where a copy or fill goes on that a signal has interrupted
 * @done: 0; while the call is under way, how many bytes are done
 * @missed: 0; likewise, where a member had no memory
 *
 * A thread that gets a signal, or is to be frozen, leaves a long copy between two pieces. The
 * module notes here how far it came, and Linux makes the call again, after the signal's handler.
 * The module does not interrupt calls with a shorter struct, without this, or in memory that
 * cannot be written.
 */
struct memcast_progress {
	__aligned_u64 done;
	__aligned_u64 missed;
};

#define MEMCAST_COPY_TO_DEVICE		(1U << 0)	/* @to must be mapped or registered */
#define MEMCAST_COPY_FROM_DEVICE	(1U << 1)	/* so must @from */
#define MEMCAST_COPY_CHECK		(1U << 2)	/* check only, copy nothing */
#define MEMCAST_COPY_PEER		(1U << 3)	/* @from_device reads, not @device */

/**
 * struct memcast_copy - ioctl(MEMCAST_COPY)
 * @to: address, mapped or any other of the caller's
 * @from: address, mapped or any other of the caller's
 * @bytes: bytes of each row; any number
 * @device: ordinal; must have access to the mappings
 * @flags: mask of MEMCAST_COPY_…
 * @rows: how many; 0 is 1
 * @to_pitch: bytes from one row to the next; @bytes at least, if @rows is over 1
 * @from_pitch: likewise
 * @from_device: with MEMCAST_COPY_PEER: ordinal; must have access to the mappings
 *	at @from, instead of @device
 * @reserved: 0
 * @progress: zeros
 *
 * A copy from a window reads the first bound member; a copy to a window reaches
 * every replica; if a member has no memory there, ioctl() returns MEMCAST_MISSED.
 * All rows of both sides are checked before a byte is written. A row of 4 or 8
 * bytes at multiples of its size is read and written at once, after all bytes that
 * the caller wrote before.
 */
struct memcast_copy {
	struct memcast_header header;
	__aligned_u64 to;
	__aligned_u64 from;
	__aligned_u64 bytes;
	__u32 device;
	__u32 flags;
	__aligned_u64 rows;
	__aligned_u64 to_pitch;
	__aligned_u64 from_pitch;
	__u32 from_device;
	__u32 reserved;
	struct memcast_progress progress;
};

#define MEMCAST_FILL_CHECK	(1U << 0)	/* check only, fill nothing */

/**
 * struct memcast_fill - ioctl(MEMCAST_FILL)
 * @to: mapped or registered address, a multiple of @width
 * @count: elements of each row
 * @width: bytes of an element: 1, 2 or 4
 * @value: the element, zero above @width
 * @device: ordinal; must have access to the mappings
 * @flags: mask of MEMCAST_FILL_…
 * @rows: how many; 0 is 1
 * @pitch: bytes from one row to the next, a multiple of @width; as long as a row
 *	at least, if @rows is over 1
 * @progress: zeros
 *
 * A fill of a window reaches every replica; if a member has no memory there, ioctl()
 * returns MEMCAST_MISSED.
 * All rows are checked before a byte is written. Rows of registered memory, and the
 * bytes between them, must be in one registered range.
 */
struct memcast_fill {
	struct memcast_header header;
	__aligned_u64 to;
	__aligned_u64 count;
	__u32 width;
	__u32 value;
	__u32 device;
	__u32 flags;
	__aligned_u64 rows;
	__aligned_u64 pitch;
	struct memcast_progress progress;
};

/* A team's replica is mapped there, not its window. */
#define MEMCAST_ADDRESS_REPLICA	(1U << 31)

/**
 * struct memcast_address_info - ioctl(MEMCAST_ADDRESS_INFO)
 * @address: anywhere inside a reservation
 * @out_reservation: where that starts
 * @out_reservation_bytes: its size
 * @out_mapping: where the mapping around @address starts
 * @out_mapping_bytes: its size; 0: there is no mapping, and all fields of it are 0
 * @out_object: number of the mapped object, the same wherever that is mapped; no
 *	other object gets it before the module is loaded again
 * @out_offset: bytes into the object, where the mapping starts
 * @out_type: enum memcast_type
 * @out_handle_types: as created
 * @out_flags: a memory's, as created; a team's: mask of MEMCAST_ADDRESS_REPLICA
 * @out_location: a memory's, as created; a replica's: of its member; a window's: of
 *	the first member; MEMCAST_LOCATION_ELSEWHERE if it is another host's
 * @out_location_id: likewise
 * @reserved: 0
 * @device: ordinal of the device for @out_access, or MEMCAST_DEVICE_NONE
 * @out_access: enum memcast_access: what @device may do with the mapping
 * @out_any: likewise: the most that any device may do
 * @padding: 0
 * @out_heap: the heap of a block; 0: none
 * @out_block_flags: as given to MEMCAST_BLOCK_ALLOC, _REGISTER or _SET
 * @out_number: number of the mapping or block; no other gets it before the module is
 *	loaded again
 *
 * In a heap each block counts as a mapping in a reservation of its own, and a
 * block's number is not its memory's. So does a registered range, @out_type 0.
 */
struct memcast_address_info {
	struct memcast_header header;
	__aligned_u64 address;
	__aligned_u64 out_reservation;
	__aligned_u64 out_reservation_bytes;
	__aligned_u64 out_mapping;
	__aligned_u64 out_mapping_bytes;
	__aligned_u64 out_object;
	__aligned_u64 out_offset;
	__u32 out_type;
	__u32 out_handle_types;
	__u32 out_flags;
	__u32 out_location;
	__u32 out_location_id;
	__u32 reserved;
	__u32 device;
	__u32 out_access;
	__u32 out_any;
	__u32 padding;
	__u32 out_heap;
	__u32 out_block_flags;
	__aligned_u64 out_number;
};

/* Check a store, not a load. */
#define MEMCAST_CHECK_STORE	(1U << 0)
/* Check all bytes of the mapping at the address, and of a window the replicas of all members. */
#define MEMCAST_CHECK_WHOLE	(1U << 1)

/**
 * struct memcast_address_check - ioctl(MEMCAST_ADDRESS_CHECK)
 * @address: in a reservation
 * @flags: mask of MEMCAST_CHECK_…
 * @reserved: 0
 *
 * Answers EFAULT if a load or store of the caller's would be a fault, and says why:
 * whether memory is not mapped, accessible or bound, and which process took it away.
 * A store to a window counts as one to its replicas.
 */
struct memcast_address_check {
	struct memcast_header header;
	__aligned_u64 address;
	__u32 flags;
	__u32 reserved;
};

/*
 * Heaps: blocks of any size. A heap maps memory of its own as it needs it, in
 * reservations that only it changes; small blocks share a chunk. Heaps belong to
 * the client and end with it. Blocks are aligned to MEMCAST_BLOCK_ALIGN bytes.
 * A new block holds zeros, or bytes that the same client left there.
 */
#define MEMCAST_BLOCK_ALIGN	512

/* Blocks may be bound to teams, if they are whole chunks. */
#define MEMCAST_HEAP_POOL	(1U << 0)
/* Only in answers, of heaps of MEMCAST_HEAP_IMPORT: blocks come from MEMCAST_BLOCK_IMPORT. */
#define MEMCAST_HEAP_IMPORTED	(1U << 1)
/*
 * Of the host's memory, and no pool: blocks stay mapped if the process's host is lost, until the
 * process ends. So code can share words with other processes of its host, and never meets SIGBUS.
 */
#define MEMCAST_HEAP_LASTING	(1U << 2)

/* Number of a device's default pool, which exists from the start, and stays */
#define MEMCAST_HEAP_DEFAULT(device)	((device) + 1U)

/**
 * struct memcast_heap_create - ioctl(MEMCAST_HEAP_CREATE)
 * @location: enum memcast_location
 * @location_id: device ordinal or node
 * @handle_types: 0, or MEMCAST_HANDLE_FD: other processes can import the heap
 * @flags: MEMCAST_HEAP_POOL or MEMCAST_HEAP_LASTING; without the former all devices of the
 *	client may access the heap
 * @limit: bytes that it may take; 0: no limit
 * @out_heap: the new heap. Of a pool, the pool's device may access it; the CPU may, if
 *	the heap has no device
 * @reserved: 0
 */
struct memcast_heap_create {
	struct memcast_header header;
	__u32 location;
	__u32 location_id;
	__u32 handle_types;
	__u32 flags;
	__aligned_u64 limit;
	__u32 out_heap;
	__u32 reserved;
};

/* End the blocks that are left, too. */
#define MEMCAST_HEAP_FORCE	(1U << 0)

/**
 * struct memcast_heap_destroy - ioctl(MEMCAST_HEAP_DESTROY)
 * @heap: is unknown to calls from now on, and ends with its last block
 * @flags: mask of MEMCAST_HEAP_FORCE
 */
struct memcast_heap_destroy {
	struct memcast_header header;
	__u32 heap;
	__u32 flags;
};

/**
 * struct memcast_heap_info - ioctl(MEMCAST_HEAP_INFO)
 * @heap: number of the heap
 * @out_location: as created
 * @out_location_id: as created
 * @out_handle_types: as created
 * @out_flags: as created
 * @out_options: as set
 * @out_threshold: as set
 * @out_taken: bytes of memory that it has
 * @out_taken_high: the most of @out_taken since this was set to 0
 * @out_used: bytes of that in blocks
 * @out_used_high: the most of @out_used since this was set to 0
 * @device: ordinal of the device for @out_access, or MEMCAST_DEVICE_NONE
 * @out_access: enum memcast_access: what @device may do
 * @out_host: likewise: what the host may do
 * @reserved: 0
 */
struct memcast_heap_info {
	struct memcast_header header;
	__u32 heap;
	__u32 out_location;
	__u32 out_location_id;
	__u32 out_handle_types;
	__u32 out_flags;
	__u32 out_options;
	__aligned_u64 out_threshold;
	__aligned_u64 out_taken;
	__aligned_u64 out_taken_high;
	__aligned_u64 out_used;
	__aligned_u64 out_used_high;
	__u32 device;
	__u32 out_access;
	__u32 out_host;
	__u32 reserved;
};

enum memcast_heap_setting {
	MEMCAST_HEAP_THRESHOLD		= 1,	/* bytes kept though unused */
	MEMCAST_HEAP_OPTIONS		= 2,	/* 32 bits for the caller */
	MEMCAST_HEAP_TAKEN_HIGH		= 3,	/* only to 0 */
	MEMCAST_HEAP_USED_HIGH		= 4,	/* only to 0 */
};

/**
 * struct memcast_heap_set - ioctl(MEMCAST_HEAP_SET)
 * @heap: number of the heap
 * @setting: enum memcast_heap_setting
 * @value: its new value
 */
struct memcast_heap_set {
	struct memcast_header header;
	__u32 heap;
	__u32 setting;
	__aligned_u64 value;
};

/**
 * struct memcast_heap_access - ioctl(MEMCAST_HEAP_ACCESS)
 * @heap: number of the heap
 * @count: length of the array, 1 to 2 * MEMCAST_MAX_DEVICES
 * @entries: array of struct memcast_access_entry; a device keeps access to its
 *	own memory
 *
 * Sets the access to all blocks that the heap has and will have.
 */
struct memcast_heap_access {
	struct memcast_header header;
	__u32 heap;
	__u32 count;
	__aligned_u64 entries;
};

/* Instead of one heap: all in which blocks ended by MEMCAST_BLOCK_NOW, down to their thresholds */
#define MEMCAST_TRIM_FREED	(1U << 0)
/* Instead of one heap: all heaps, of all that is unused */
#define MEMCAST_TRIM_ALL	(1U << 1)

/**
 * struct memcast_heap_trim - ioctl(MEMCAST_HEAP_TRIM)
 * @heap: number of the heap, which gives unused memory back; with a flag: 0
 * @flags: MEMCAST_TRIM_FREED, MEMCAST_TRIM_ALL, or 0
 * @keep: bytes of memory that the heap keeps at least, blocks included, if it has them; with a
 *	flag: 0
 */
struct memcast_heap_trim {
	struct memcast_header header;
	__u32 heap;
	__u32 flags;
	__aligned_u64 keep;
};

/**
 * struct memcast_block_alloc - ioctl(MEMCAST_BLOCK_ALLOC)
 * @heap: number of the heap
 * @flags: any, for MEMCAST_ADDRESS_INFO to report
 * @bytes: size
 * @out_address: where the block starts
 */
struct memcast_block_alloc {
	struct memcast_header header;
	__u32 heap;
	__u32 flags;
	__aligned_u64 bytes;
	__aligned_u64 out_address;
};

/**
 * struct memcast_block_register - ioctl(MEMCAST_BLOCK_REGISTER)
 * @address: of memory of the caller's that is in no reservation
 * @bytes: size
 * @flags: any, for MEMCAST_ADDRESS_INFO to report
 * @heap: number of a heap, with which MEMCAST_HEAP_FORCE ends the range; 0: none
 * @access: 0, or MEMCAST_ACCESS_READ of memory that need not be writable
 * @padding: 0
 *
 * For copies and fills the range is memory that devices may access.
 */
struct memcast_block_register {
	struct memcast_header header;
	__aligned_u64 address;
	__aligned_u64 bytes;
	__u32 flags;
	__u32 heap;
	__u32 access;
	__u32 padding;
};

/**
 * struct memcast_block_set - ioctl(MEMCAST_BLOCK_SET)
 * @address: anywhere in a block, in a registered range or in a mapping, whose flags are 0
 *	at first
 * @flags: new values of its flags
 * @mask: which flags to set
 */
struct memcast_block_set {
	struct memcast_header header;
	__aligned_u64 address;
	__u32 flags;
	__u32 mask;
};

#define MEMCAST_IPC_KEY_SIZE	16

/**
 * struct memcast_ipc_export - ioctl(MEMCAST_IPC_EXPORT)
 * @address: anywhere in a block that MEMCAST_BLOCK_ALLOC gave, not a pool's
 * @out_key: the block's IPC handle; the same each time, and it ends with the block
 */
struct memcast_ipc_export {
	struct memcast_header header;
	__aligned_u64 address;
	__u8 out_key[MEMCAST_IPC_KEY_SIZE];
};

/**
 * struct memcast_ipc_open - ioctl(MEMCAST_IPC_OPEN)
 * @key: from MEMCAST_IPC_EXPORT, in another process of the same host, user and user
 *	namespace (else ENOENT, as if there was no such block); EEXIST for a process with the
 *	exporter's number in another PID namespace, as hardware takes it for the exporter
 * @out_offset: where the block starts in its memory, for MEMCAST_BLOCK_MAP
 * @out_bytes: its size
 * @out_handle: a new handle for the memory
 * @flags: 0, or MEMCAST_IPC_ALIVE
 */
struct memcast_ipc_open {
	struct memcast_header header;
	__u8 key[MEMCAST_IPC_KEY_SIZE];
	__aligned_u64 out_offset;
	__aligned_u64 out_bytes;
	__u32 out_handle;
	__u32 flags;
};

/* EPERM, not ENOENT, for a process that may not open a block that is there */
#define MEMCAST_IPC_ALIVE		(1U << 0)

/**
 * struct memcast_block_map - ioctl(MEMCAST_BLOCK_MAP)
 * @heap: number of a heap that is no pool; its devices may access the block
 * @handle: a memory
 * @offset: bytes into the memory, any number
 * @bytes: how much of it
 * @flags: any, for MEMCAST_ADDRESS_INFO to report
 * @reserved: 0
 * @out_address: where the new block starts, aligned as @offset is
 */
struct memcast_block_map {
	struct memcast_header header;
	__u32 heap;
	__u32 handle;
	__aligned_u64 offset;
	__aligned_u64 bytes;
	__u32 flags;
	__u32 reserved;
	__aligned_u64 out_address;
};

#define MEMCAST_BLOCK_HOST		(1U << 0)	/* a block of a host heap, not a pool */
#define MEMCAST_BLOCK_REGISTERED	(1U << 1)	/* a registered range */
#define MEMCAST_BLOCK_LATER		(1U << 2)	/* only announce the end of the block */
/* end a block with an announced end; a pool keeps its memory until MEMCAST_HEAP_TRIM */
#define MEMCAST_BLOCK_NOW		(1U << 3)
#define MEMCAST_BLOCK_KEEP		(1U << 4)	/* take the announcement back */

/**
 * struct memcast_block_free - ioctl(MEMCAST_BLOCK_FREE)
 * @address: where a block starts
 * @flags: mask of MEMCAST_BLOCK_…: the kind that the block must be of, and what to do
 * @reserved: 0
 */
struct memcast_block_free {
	struct memcast_header header;
	__aligned_u64 address;
	__u32 flags;
	__u32 reserved;
};

/**
 * struct memcast_heap_export - ioctl(MEMCAST_HEAP_EXPORT)
 * @heap: one that was created with a handle type
 * @handle_type: MEMCAST_HANDLE_FD
 * @out_fd: stands for the heap, close-on-exec; it keeps no memory of the heap alive
 * @reserved: 0
 */
struct memcast_heap_export {
	struct memcast_header header;
	__u32 heap;
	__u32 handle_type;
	__s32 out_fd;
	__u32 reserved;
};

/**
 * struct memcast_heap_import - ioctl(MEMCAST_HEAP_IMPORT)
 * @handle_type: MEMCAST_HANDLE_FD
 * @fd: from MEMCAST_HEAP_EXPORT, here or in another process of this host
 * @out_heap: a heap for blocks of that heap
 * @reserved: 0
 */
struct memcast_heap_import {
	struct memcast_header header;
	__u32 handle_type;
	__s32 fd;
	__u32 out_heap;
	__u32 reserved;
};

/**
 * struct memcast_block_export - ioctl(MEMCAST_BLOCK_EXPORT)
 * @address: where a block of a heap with a handle type starts
 * @out_object: number of its memory
 * @out_offset: bytes into the memory, where the block starts
 * @out_bytes: its size
 */
struct memcast_block_export {
	struct memcast_header header;
	__aligned_u64 address;
	__aligned_u64 out_object;
	__aligned_u64 out_offset;
	__aligned_u64 out_bytes;
};

/**
 * struct memcast_block_import - ioctl(MEMCAST_BLOCK_IMPORT)
 * @heap: number of an imported heap
 * @flags: any, for MEMCAST_ADDRESS_INFO to report
 * @object: from MEMCAST_BLOCK_EXPORT
 * @offset: likewise
 * @bytes: likewise
 * @out_address: where the block is in this process
 */
struct memcast_block_import {
	struct memcast_header header;
	__u32 heap;
	__u32 flags;
	__aligned_u64 object;
	__aligned_u64 offset;
	__aligned_u64 bytes;
	__aligned_u64 out_address;
};

/**
 * struct memcast_export_range - ioctl(MEMCAST_EXPORT_RANGE)
 * @address: of mapped memory, a multiple of the page size
 * @bytes: likewise; also over adjacent mappings, of one device's memory: up to 262,144
 * @flags: 0
 * @out_fd: a new dma-buf of the range, close-on-exec. It stands for these bytes, not
 *	for a handle: MEMCAST_IMPORT takes it only with MEMCAST_IMPORT_FOREIGN.
 */
struct memcast_export_range {
	struct memcast_header header;
	__aligned_u64 address;
	__aligned_u64 bytes;
	__u32 flags;
	__s32 out_fd;
};

/**
 * struct memcast_client_list - ioctl(MEMCAST_CLIENT_LIST)
 * @key: of any client, from its fdinfo (else ENOENT)
 * @out_fd: to read() the lines from that are described above, from the first to the last once;
 *	close-on-exec. Numbers of devices are the listed client's, those of processes the reader's.
 * @reserved: 0
 */
struct memcast_client_list {
	struct memcast_header header;
	__aligned_u64 key;
	__s32 out_fd;
	__u32 reserved;
};

/**
 * struct memcast_client_protect - ioctl(MEMCAST_CLIENT_PROTECT)
 * @key: protection key (pkeys(7)) of what heaps map of devices' memory from now on; 0: none
 * @reserved: 0
 *
 * EINVAL if the machine has no such key. Whether the process has allocated it is not checked.
 */
struct memcast_client_protect {
	struct memcast_header header;
	__u32 key;
	__u32 reserved;
};

enum memcast_ioctl_nr {
	MEMCAST_NR_BASE = 0x80,
	MEMCAST_NR_SYSTEM_INFO = MEMCAST_NR_BASE,
	MEMCAST_NR_DEVICE_INFO,
	MEMCAST_NR_HANDLE_INFO,
	MEMCAST_NR_HANDLE_RELEASE,
	MEMCAST_NR_HANDLE_RETAIN,
	MEMCAST_NR_EXPORT,
	MEMCAST_NR_IMPORT,
	MEMCAST_NR_MEMORY_CREATE,
	MEMCAST_NR_TEAM_CREATE,
	MEMCAST_NR_TEAM_ADD,
	MEMCAST_NR_BIND_MEMORY,
	MEMCAST_NR_BIND_ADDRESS,
	MEMCAST_NR_UNBIND,
	MEMCAST_NR_RESERVATION_FREE,
	MEMCAST_NR_MAP,
	MEMCAST_NR_UNMAP,
	MEMCAST_NR_SET_ACCESS,
	MEMCAST_NR_GET_ACCESS,
	MEMCAST_NR_COPY,
	MEMCAST_NR_FILL,
	MEMCAST_NR_CHANNEL,
	MEMCAST_NR_ADDRESS_INFO,
	MEMCAST_NR_HEAP_CREATE,
	MEMCAST_NR_HEAP_DESTROY,
	MEMCAST_NR_HEAP_INFO,
	MEMCAST_NR_HEAP_SET,
	MEMCAST_NR_HEAP_ACCESS,
	MEMCAST_NR_HEAP_TRIM,
	MEMCAST_NR_BLOCK_ALLOC,
	MEMCAST_NR_BLOCK_REGISTER,
	MEMCAST_NR_BLOCK_FREE,
	MEMCAST_NR_EXPORT_RANGE,
	MEMCAST_NR_HEAP_EXPORT,
	MEMCAST_NR_HEAP_IMPORT,
	MEMCAST_NR_BLOCK_EXPORT,
	MEMCAST_NR_BLOCK_IMPORT,
	MEMCAST_NR_BLOCK_MAP,
	MEMCAST_NR_TEAM_WAIT,
	MEMCAST_NR_TEAM_MEMBERS,
	MEMCAST_NR_ADDRESS_CHECK,
	MEMCAST_NR_BLOCK_SET,
	MEMCAST_NR_IPC_EXPORT,
	MEMCAST_NR_IPC_OPEN,
	MEMCAST_NR_CLIENT_LIST,
	MEMCAST_NR_CLIENT_PROTECT,
	MEMCAST_NR_TEAM_COUNT,
};

/* _IO() has no size in it: a command whose struct grows keeps its number. */
#define MEMCAST_IOCTL(command)	_IO(MEMCAST_IOC_MAGIC, MEMCAST_NR_##command)

#define MEMCAST_SYSTEM_INFO		MEMCAST_IOCTL(SYSTEM_INFO)
#define MEMCAST_DEVICE_INFO		MEMCAST_IOCTL(DEVICE_INFO)
#define MEMCAST_HANDLE_INFO		MEMCAST_IOCTL(HANDLE_INFO)
#define MEMCAST_HANDLE_RELEASE		MEMCAST_IOCTL(HANDLE_RELEASE)
#define MEMCAST_HANDLE_RETAIN		MEMCAST_IOCTL(HANDLE_RETAIN)
#define MEMCAST_EXPORT			MEMCAST_IOCTL(EXPORT)
#define MEMCAST_IMPORT			MEMCAST_IOCTL(IMPORT)
#define MEMCAST_MEMORY_CREATE		MEMCAST_IOCTL(MEMORY_CREATE)
#define MEMCAST_TEAM_CREATE		MEMCAST_IOCTL(TEAM_CREATE)
#define MEMCAST_TEAM_ADD		MEMCAST_IOCTL(TEAM_ADD)
#define MEMCAST_BIND_MEMORY		MEMCAST_IOCTL(BIND_MEMORY)
#define MEMCAST_BIND_ADDRESS		MEMCAST_IOCTL(BIND_ADDRESS)
#define MEMCAST_UNBIND			MEMCAST_IOCTL(UNBIND)
#define MEMCAST_RESERVATION_FREE	MEMCAST_IOCTL(RESERVATION_FREE)
#define MEMCAST_MAP			MEMCAST_IOCTL(MAP)
#define MEMCAST_UNMAP			MEMCAST_IOCTL(UNMAP)
#define MEMCAST_SET_ACCESS		MEMCAST_IOCTL(SET_ACCESS)
#define MEMCAST_GET_ACCESS		MEMCAST_IOCTL(GET_ACCESS)
#define MEMCAST_COPY			MEMCAST_IOCTL(COPY)
#define MEMCAST_FILL			MEMCAST_IOCTL(FILL)
#define MEMCAST_CHANNEL			MEMCAST_IOCTL(CHANNEL)
#define MEMCAST_ADDRESS_INFO		MEMCAST_IOCTL(ADDRESS_INFO)
#define MEMCAST_HEAP_CREATE		MEMCAST_IOCTL(HEAP_CREATE)
#define MEMCAST_HEAP_DESTROY		MEMCAST_IOCTL(HEAP_DESTROY)
#define MEMCAST_HEAP_INFO		MEMCAST_IOCTL(HEAP_INFO)
#define MEMCAST_HEAP_SET		MEMCAST_IOCTL(HEAP_SET)
#define MEMCAST_HEAP_ACCESS		MEMCAST_IOCTL(HEAP_ACCESS)
#define MEMCAST_HEAP_TRIM		MEMCAST_IOCTL(HEAP_TRIM)
#define MEMCAST_BLOCK_ALLOC		MEMCAST_IOCTL(BLOCK_ALLOC)
#define MEMCAST_BLOCK_REGISTER		MEMCAST_IOCTL(BLOCK_REGISTER)
#define MEMCAST_BLOCK_FREE		MEMCAST_IOCTL(BLOCK_FREE)
#define MEMCAST_EXPORT_RANGE		MEMCAST_IOCTL(EXPORT_RANGE)
#define MEMCAST_HEAP_EXPORT		MEMCAST_IOCTL(HEAP_EXPORT)
#define MEMCAST_HEAP_IMPORT		MEMCAST_IOCTL(HEAP_IMPORT)
#define MEMCAST_BLOCK_EXPORT		MEMCAST_IOCTL(BLOCK_EXPORT)
#define MEMCAST_BLOCK_IMPORT		MEMCAST_IOCTL(BLOCK_IMPORT)
#define MEMCAST_BLOCK_MAP		MEMCAST_IOCTL(BLOCK_MAP)
#define MEMCAST_TEAM_WAIT		MEMCAST_IOCTL(TEAM_WAIT)
#define MEMCAST_TEAM_MEMBERS		MEMCAST_IOCTL(TEAM_MEMBERS)
#define MEMCAST_ADDRESS_CHECK		MEMCAST_IOCTL(ADDRESS_CHECK)
#define MEMCAST_BLOCK_SET		MEMCAST_IOCTL(BLOCK_SET)
#define MEMCAST_IPC_EXPORT		MEMCAST_IOCTL(IPC_EXPORT)
#define MEMCAST_IPC_OPEN		MEMCAST_IOCTL(IPC_OPEN)
#define MEMCAST_CLIENT_LIST		MEMCAST_IOCTL(CLIENT_LIST)
#define MEMCAST_CLIENT_PROTECT		MEMCAST_IOCTL(CLIENT_PROTECT)
#define MEMCAST_TEAM_COUNT		MEMCAST_IOCTL(TEAM_COUNT)

#endif /* _UAPI_MEMCAST_H */
