/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * memcast: the interface of /dev/memcast.
 *
 * With the module's parameter "hosts" above 1 there is a /dev/memcast-host/N for each host as
 * well: the same interface, to devices of that host alone, which begin at 0.
 *
 * An open file is a client: a table of handles, for the process that opened it. They
 * are released when that process ends, even if another one has an fd of the file.
 * Objects are memories and teams; they live as long as a handle, a mapping or an
 * exported fd shows them.
 * A reservation is an mmap() of the file (MAP_SHARED, read and write, offset 0,
 * the address a multiple of MEMCAST_GRANULARITY); mappings are put inside it.
 *
 * What a client holds stands in /proc/PID/fdinfo/FD, for those who may look there:
 *
 *   memcast-client:	NUMBER
 *   memcast-host:	HOST first DEVICE of DEVICES, of a host's file only: its device N is
 *			device (N + DEVICE) % DEVICES of the machine
 *   memcast-handle:	OBJECT, a line for each handle
 *   memcast-mapping:	OBJECT, a line for each mapping, those of heaps as well
 *   memcast-wait:	OBJECT waits PID COMMAND MILLISECONDS, a line for each call that
 *			waits for a team's members: BIND_MEMORY, BIND_ADDRESS or MAP
 *   memcast-bindings:	team NUMBER device DEVICE AT:MEMORY:FROM:BYTES... [more BYTES], a line
 *			for each member that has any: BYTES at AT of the team are those at FROM of
 *			memory MEMORY. Of 64 bindings in a line on only their bytes together
 *			are told, as "more"
 *   memcast-chunks:	memory NUMBER FIRST-LAST... [more CHUNKS], a line for each memory of a
 *			device: where in its pool the memory's chunks of 2 MiB lie, in the order
 *			of the memory's bytes, 256 ranges at most. Lazy pools have no places,
 *			and those in pools of other hosts are not told
 *
 * Bindings and ranges together are 16384 at most in a file; the others count as "more".
 *
 * Readers who are another user than the client's, and do not have CAP_SYS_PTRACE, get
 * the first line only. An OBJECT is one of these, with numbers as in struct
 * memcast_address_info, sizes in bytes, DEVICE:BOUND for each device that has joined, and
 * PID of the process that added it (0: one that the reader cannot see) in the same order;
 * the devices are named once more of which that process has ended, if there are any.
 * WRITES counts what copies and fills have written to the team's windows, each piece of at
 * most 2 MiB once, however many replicas there are:
 *
 *   memory NUMBER bytes BYTES device DEVICE
 *   memory NUMBER bytes BYTES host|foreign
 *   team NUMBER bytes BYTES devices DEVICES members DEVICE:BOUND... joined PID...
 *	[ended DEVICE...] writes WRITES, in one line
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
 *   ETIME            the call has waited for so long that it should say so
 *   ENOENT           no such handle, or it is of the other type
 *   EBADF            not an fd, or not one that memcast exported on this host
 *   ENODEV           no such device, or it is not a member of the team
 *   EALREADY         the device is in the team already
 *   EEXIST           the range, or a part of it, is registered already; the memory
 *                    is the caller's own
 *   ENOMEM           the pool (or the machine) has not enough memory, or the caller's
 *                    user has all that a user may take of the machine's
 *   EPERM            not permitted (IMEX channels, read-only dma-bufs)
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
 * What ioctl() returns for a copy or fill of a window that was done, but left out a member
 * that has nothing bound there. The reason (struct memcast_header) names the first such
 * member. All other commands that succeed return 0.
 */
#define MEMCAST_MISSED		1

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

/* Where memory is, and who accesses it. */
enum memcast_location {
	MEMCAST_LOCATION_DEVICE		= 1,
	MEMCAST_LOCATION_HOST		= 2,
	MEMCAST_LOCATION_HOST_NUMA	= 3,
	/* told only: on another host of the rack, with MEMCAST_DEVICE_NONE for its number */
	MEMCAST_LOCATION_ELSEWHERE	= 5,
};

/* What an object can be exported as: a mask. */
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
 * @out_devices: number of devices that the client sees: 0 to so many
 * @out_granularity: bytes; sizes and offsets are multiples of it
 * @out_recommended: bytes; what teams are best rounded up to
 * @out_first: which of the machine's devices the client's device 0 is
 * @out_host: whose file it is; MEMCAST_DEVICE_NONE of /dev/memcast where there are several
 * @out_hosts: how many there are
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
 * @out_free_bytes: what of it is free now
 * @out_uuid: its UUID, in the order it is printed
 * @out_flags: MEMCAST_DEVICE_…: what it can do
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

/* The memory's owner asked for RDMA capability, or for compression; kept and reported. */
#define MEMCAST_MEMORY_RDMA		(1U << 0)
#define MEMCAST_MEMORY_COMPRESSIBLE	(1U << 1)
/* It is for the tiles of arrays alone: MEMCAST_MAP takes none. */
#define MEMCAST_MEMORY_TILES		(1U << 2)

/**
 * struct memcast_memory_create - ioctl(MEMCAST_MEMORY_CREATE)
 * @location: enum memcast_location; of HOST it becomes HOST_NUMA, wherever it lies
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
 * @handle: gives one reference back. Without any, and without a mapping that
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
 * @out_joined: a team's: how many have joined; MEMCAST_TEAM_MEMBERS says who
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
 * @out_fabric: for MEMCAST_HANDLE_FABRIC; the object's, the same each time. It
 *	does not keep the object alive.
 */
struct memcast_export {
	struct memcast_header header;
	__u32 handle;
	__u32 handle_type;
	__u32 flags;
	__s32 out_fd;
	__u8 out_fabric[MEMCAST_FABRIC_HANDLE_SIZE];
};

/* Other drivers' dma-bufs too. */
#define MEMCAST_IMPORT_FOREIGN	(1U << 0)

#define MEMCAST_DEVICE_NONE	(~0U)

/**
 * struct memcast_import - ioctl(MEMCAST_IMPORT)
 * @handle_type: MEMCAST_HANDLE_…
 * @fd: a dma-buf that MEMCAST_EXPORT gave, here or in another process of this host; with
 *	MEMCAST_IMPORT_FOREIGN any other dma-buf too
 * @fabric: for MEMCAST_HANDLE_FABRIC, instead of @fd
 * @flags: mask of MEMCAST_IMPORT_…
 * @out_handle: a new handle for its object
 * @device: with MEMCAST_IMPORT_FOREIGN: ordinal of the device that a foreign
 *	dma-buf counts as memory of, or MEMCAST_DEVICE_NONE for the host's
 * @reserved: 0
 * @bytes: with MEMCAST_IMPORT_FOREIGN: 0, or what it must have at least, and it
 *	must be a memory
 *
 * A foreign dma-buf becomes a memory that shows its pages, in the granularity of
 * a page; each import makes a new one. It keeps the buffer and its exporter, and
 * is exported as the same dma-buf again. Taken are buffers of pages that the
 * exporter lets CPUs map and write.
 *
 * Copies and fills wait for the buffer's fences and tell its exporter of the
 * access, as DMA_BUF_IOCTL_SYNC does; who loads and stores by himself does that
 * by himself, through the fd.
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
 *	New objects with MEMCAST_HANDLE_FABRIC are the lowest channel's; they can
 *	be imported by clients that have opened it.
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
 * @device: ordinal; joins for good. The last one completes the team.
 */
struct memcast_team_add {
	struct memcast_header header;
	__u32 team;
	__u32 device;
};

/* Of BIND_MEMORY, BIND_ADDRESS and MAP: answer EAGAIN if the team is not complete. */
#define MEMCAST_NO_WAIT	(1U << 30)

/* The caller has said who is missing: wait on without ETIME. */
#define MEMCAST_WAIT_SAID	(1U << 0)

/**
 * struct memcast_team_wait - ioctl(MEMCAST_TEAM_WAIT)
 * @team: handle
 * @command: MEMCAST_NR_BIND_MEMORY, _BIND_ADDRESS or _MAP: which command waits; it stands in
 *	the client's fdinfo
 * @flags: mask of MEMCAST_WAIT_…
 * @reserved: 0
 * @since: 0, and the module writes when the wait began (nanoseconds, CLOCK_MONOTONIC)
 *	before it waits; or what it wrote, to go on with that wait
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
 * @device: ordinal; device N of another host has a number behind the client's own:
 *	out_first + that, modulo out_machine (struct memcast_system_info), is the machine's
 * @pid: of the process that added it; 0: one that the caller cannot see
 * @flags: mask of MEMCAST_MEMBER_…
 * @reserved: 0
 * @name: of that process when it did so, up to the first NUL
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
 * @count: entries that there is room for, MEMCAST_MAX_DEVICES at most; the module
 *	writes how many there are now
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

/* bind for the device that the memory is on */
#define MEMCAST_DEVICE_OF_MEMORY	(~0U)

/**
 * struct memcast_bind_memory - ioctl(MEMCAST_BIND_MEMORY)
 * @team: handle; the call waits until it is complete
 * @device: ordinal, or MEMCAST_DEVICE_OF_MEMORY
 * @memory: handle
 * @flags: MEMCAST_NO_WAIT, or 0
 * @team_offset: bytes; where in the team
 * @memory_offset: bytes; what of the memory
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
 * @team_offset: bytes; where in the team
 * @address: the memory mapped here, over adjacent mappings too: up to 1,048,576
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
 * @team_offset: bytes
 * @bytes: with @team_offset, one or several whole adjacent bindings
 */
struct memcast_unbind {
	struct memcast_header header;
	__u32 team;
	__u32 device;
	__aligned_u64 team_offset;
	__aligned_u64 bytes;
};

/* Together with what is mapped in it. */
#define MEMCAST_FREE_MAPPED	(1U << 0)

/**
 * struct memcast_reservation_free - ioctl(MEMCAST_RESERVATION_FREE)
 * @address: start of a reservation
 * @bytes: its size, as given to mmap()
 * @flags: MEMCAST_FREE_MAPPED, or 0
 * @reserved: 0
 *
 * As munmap(), but, without the flag, only if nothing is mapped in it.
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
/* Of a window: no plain loads and stores, only what ioctls do. A memory has none. */
#define MEMCAST_MAP_STRICT	(1U << 1)
/*
 * As the driver API has it: a memory only as a whole (else EOPNOTSUPP), chunks of it at
 * multiples of MEMCAST_GRANULARITY; a window only from the team's beginning.
 */
#define MEMCAST_MAP_WHOLE	(1U << 2)

/**
 * struct memcast_map - ioctl(MEMCAST_MAP)
 * @handle: a memory or a team; the call waits until a team is complete
 * @flags: mask of MEMCAST_MAP_… and MEMCAST_NO_WAIT
 * @address: inside one reservation, nothing mapped there yet
 * @bytes: multiple of the granularity
 * @offset: bytes into the object
 * @member: with MEMCAST_MAP_REPLICA: whose, counted in the order of joining
 * @reserved: 0
 *
 * Nobody has access before MEMCAST_SET_ACCESS.
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
 * @bytes: with @address, a range in a reservation that cuts no mapping in two; where
 *	nothing is mapped in it, there is nothing to undo
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
 * @out_handle: a handle of what is mapped there, with one more reference; or @handle
 * @handle: 0, or a handle that gets one more reference, instead of @address
 */
struct memcast_handle_retain {
	struct memcast_header header;
	__aligned_u64 address;
	__u32 out_handle;
	__u32 handle;
};

#define MEMCAST_COPY_TO_DEVICE		(1U << 0)	/* to: mapped or registered */
#define MEMCAST_COPY_FROM_DEVICE	(1U << 1)	/* from: likewise */
#define MEMCAST_COPY_CHECK		(1U << 2)	/* check only, copy nothing */
#define MEMCAST_COPY_PEER		(1U << 3)	/* from_device reads */

/**
 * struct memcast_copy - ioctl(MEMCAST_COPY)
 * @to: address, mapped or any other of the caller's
 * @from: address, mapped or any other of the caller's
 * @bytes: how much of each row; any number
 * @device: ordinal; must have access to what is mapped
 * @flags: mask of MEMCAST_COPY_…
 * @rows: how many; 0 is 1
 * @to_pitch: bytes from one row to the next; @bytes at least, if @rows is over 1
 * @from_pitch: likewise
 * @from_device: with MEMCAST_COPY_PEER: ordinal; must have access to what is
 *	mapped at @from, instead of @device
 * @reserved: 0
 *
 * A window is read from its first bound member; written, it reaches every
 * replica; where a member has none, ioctl() returns MEMCAST_MISSED. All rows of
 * both sides are checked before anything is written. A row of 4 or 8 bytes at
 * multiples of its size is read and written at once, after all that the caller
 * wrote before.
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
};

#define MEMCAST_FILL_CHECK	(1U << 0)	/* check only, fill nothing */

/**
 * struct memcast_fill - ioctl(MEMCAST_FILL)
 * @to: mapped or registered address, a multiple of @width
 * @count: elements of each row
 * @width: bytes of an element: 1, 2 or 4
 * @value: the element, zero above @width
 * @device: ordinal; must have access to what is mapped
 * @flags: mask of MEMCAST_FILL_…
 * @rows: how many; 0 is 1
 * @pitch: bytes from one row to the next, a multiple of @width; as long as a row
 *	at least, if @rows is over 1
 *
 * A fill of a window reaches every replica; where a member has none, ioctl()
 * returns MEMCAST_MISSED.
 * All rows are checked before anything is written. Those of registered memory, and
 * what is between them, are in one registered range.
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
};

/* A team is mapped there, but a replica of it, not its window. */
#define MEMCAST_ADDRESS_REPLICA	(1U << 31)

/**
 * struct memcast_address_info - ioctl(MEMCAST_ADDRESS_INFO)
 * @address: anywhere inside a reservation
 * @out_reservation: where that starts
 * @out_reservation_bytes: its size
 * @out_mapping: where the mapping around @address starts
 * @out_mapping_bytes: its size; 0: nothing is mapped there, and 0 what follows
 * @out_object: a number of what is mapped, the same wherever that is mapped; no
 *	other object gets it before the module is loaded again
 * @out_offset: bytes; where in the object the mapping starts
 * @out_type: enum memcast_type
 * @out_handle_types: as created
 * @out_flags: a memory's, as created; a team's: mask of MEMCAST_ADDRESS_REPLICA
 * @out_location: a memory's, as created; that of a replica's or of a window's
 *	first member; MEMCAST_LOCATION_ELSEWHERE if it is another host's
 * @out_location_id: likewise
 * @reserved: 0
 * @device: ordinal, or MEMCAST_DEVICE_NONE: whose access is asked for
 * @out_access: enum memcast_access: what @device may do with the mapping
 * @out_any: the most that any device may
 * @padding: 0
 * @out_heap: of which heap; 0: of none
 * @out_block_flags: as given to MEMCAST_BLOCK_ALLOC, _REGISTER or _SET
 * @out_number: of the mapping or block; no other gets it before the module is loaded again
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

/* A store, not a load. */
#define MEMCAST_CHECK_STORE	(1U << 0)

/**
 * struct memcast_address_check - ioctl(MEMCAST_ADDRESS_CHECK)
 * @address: in a reservation
 * @flags: mask of MEMCAST_CHECK_…
 * @reserved: 0
 *
 * Answers EFAULT where a load or store of the caller's would be a fault, and says why:
 * what is not mapped, allowed or bound, and who took it away. A store to a window
 * counts as one to its replicas.
 */
struct memcast_address_check {
	struct memcast_header header;
	__aligned_u64 address;
	__u32 flags;
	__u32 reserved;
};

/*
 * Heaps: blocks of any size. A heap maps memory of its own as it needs it, in
 * reservations that only it changes; small blocks share a chunk. Heaps are the
 * client's and end with it. Blocks are aligned to MEMCAST_BLOCK_ALIGN bytes.
 * A new block holds zeros, or bytes that the same client left there.
 */
#define MEMCAST_BLOCK_ALIGN	512

/* Blocks may be bound to teams, if they are whole chunks. */
#define MEMCAST_HEAP_POOL	(1U << 0)
/* Blocks come from MEMCAST_BLOCK_IMPORT only; MEMCAST_HEAP_IMPORT's have it. */
#define MEMCAST_HEAP_IMPORTED	(1U << 1)

/* The heaps of these numbers are there from the start, and stay. */
#define MEMCAST_HEAP_DEFAULT(device)	((device) + 1U)

/**
 * struct memcast_heap_create - ioctl(MEMCAST_HEAP_CREATE)
 * @location: enum memcast_location
 * @location_id: device ordinal or node
 * @handle_types: mask of MEMCAST_HANDLE_…, of its memory
 * @flags: mask of MEMCAST_HEAP_…; without: every device may access it
 * @limit: bytes that it may take; 0: all there are
 * @out_heap: the new heap. Its own device may access it; the CPU, if there is none
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

/* Also end the blocks that are left. */
#define MEMCAST_HEAP_FORCE	(1U << 0)

/**
 * struct memcast_heap_destroy - ioctl(MEMCAST_HEAP_DESTROY)
 * @heap: ends for calls now, and for good with its last block
 * @flags: mask of MEMCAST_HEAP_FORCE
 */
struct memcast_heap_destroy {
	struct memcast_header header;
	__u32 heap;
	__u32 flags;
};

/**
 * struct memcast_heap_info - ioctl(MEMCAST_HEAP_INFO)
 * @heap: which
 * @out_location: as created
 * @out_location_id: as created
 * @out_handle_types: as created
 * @out_flags: as created
 * @out_options: as set
 * @out_threshold: as set
 * @out_taken: bytes of memory it has
 * @out_taken_high: the most since that was set to 0
 * @out_used: bytes of it in blocks
 * @out_used_high: the most since that was set to 0
 * @device: ordinal, or MEMCAST_DEVICE_NONE: whose access is asked for
 * @out_access: enum memcast_access: what @device may do
 * @out_host: what the host may
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
	MEMCAST_HEAP_OPTIONS		= 2,	/* the caller's 32 bits: kept */
	MEMCAST_HEAP_TAKEN_HIGH		= 3,	/* 0 */
	MEMCAST_HEAP_USED_HIGH		= 4,	/* 0 */
};

/**
 * struct memcast_heap_set - ioctl(MEMCAST_HEAP_SET)
 * @heap: which
 * @setting: enum memcast_heap_setting
 * @value: what to set it to
 */
struct memcast_heap_set {
	struct memcast_header header;
	__u32 heap;
	__u32 setting;
	__aligned_u64 value;
};

/**
 * struct memcast_heap_access - ioctl(MEMCAST_HEAP_ACCESS)
 * @heap: which
 * @count: length of the array, 1 to 2 * MEMCAST_MAX_DEVICES
 * @entries: array of struct memcast_access_entry; a device keeps access to its
 *	own memory
 *
 * For all that the heap has and will have.
 */
struct memcast_heap_access {
	struct memcast_header header;
	__u32 heap;
	__u32 count;
	__aligned_u64 entries;
};

/**
 * struct memcast_heap_trim - ioctl(MEMCAST_HEAP_TRIM)
 * @heap: gives back memory that is not used
 * @reserved: 0
 * @keep: bytes that it has at least afterwards, if it has them now
 */
struct memcast_heap_trim {
	struct memcast_header header;
	__u32 heap;
	__u32 reserved;
	__aligned_u64 keep;
};

/**
 * struct memcast_block_alloc - ioctl(MEMCAST_BLOCK_ALLOC)
 * @heap: from which
 * @flags: any, to be told by MEMCAST_ADDRESS_INFO
 * @bytes: how much
 * @out_address: where it is
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
 * @address: memory of the caller's that no reservation has
 * @bytes: how much
 * @flags: any, to be told by MEMCAST_ADDRESS_INFO
 * @reserved: 0
 * @access: 0, or MEMCAST_ACCESS_READ of memory that need not be writable
 * @padding: 0
 *
 * Copies and fills take it for memory that devices may access.
 */
struct memcast_block_register {
	struct memcast_header header;
	__aligned_u64 address;
	__aligned_u64 bytes;
	__u32 flags;
	__u32 reserved;
	__u32 access;
	__u32 padding;
};

/**
 * struct memcast_block_set - ioctl(MEMCAST_BLOCK_SET)
 * @address: anywhere in a block, in a registered range or in a mapping, whose flags are 0
 *	at first
 * @flags: what to set of its flags
 * @mask: which of them
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
 * @out_key: for other processes; the same each time, and it ends with the block
 */
struct memcast_ipc_export {
	struct memcast_header header;
	__aligned_u64 address;
	__u8 out_key[MEMCAST_IPC_KEY_SIZE];
};

/**
 * struct memcast_ipc_open - ioctl(MEMCAST_IPC_OPEN)
 * @key: what MEMCAST_IPC_EXPORT gave, in another process of the same host and user, and the
 *	same user and process namespaces (else ENOENT, as if there were none)
 * @out_offset: where the block starts in its memory, for MEMCAST_BLOCK_MAP
 * @out_bytes: its size
 * @out_handle: a new handle for the memory
 * @reserved: 0
 */
struct memcast_ipc_open {
	struct memcast_header header;
	__u8 key[MEMCAST_IPC_KEY_SIZE];
	__aligned_u64 out_offset;
	__aligned_u64 out_bytes;
	__u32 out_handle;
	__u32 reserved;
};

/**
 * struct memcast_block_map - ioctl(MEMCAST_BLOCK_MAP)
 * @heap: which, not a pool: its devices may access the block
 * @handle: a memory
 * @offset: bytes into the memory, any number
 * @bytes: how much of it
 * @flags: any, to be told by MEMCAST_ADDRESS_INFO
 * @reserved: 0
 * @out_address: where a new block shows it, with the memory's alignment
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

#define MEMCAST_BLOCK_HOST		(1U << 0)	/* one on the host, not a pool's */
#define MEMCAST_BLOCK_REGISTERED	(1U << 1)	/* a registered range */
#define MEMCAST_BLOCK_LATER		(1U << 2)	/* only say that it will be freed */
#define MEMCAST_BLOCK_NOW		(1U << 3)	/* what was said: now */
#define MEMCAST_BLOCK_KEEP		(1U << 4)	/* what was said: not after all */

/**
 * struct memcast_block_free - ioctl(MEMCAST_BLOCK_FREE)
 * @address: where a block starts
 * @flags: mask of MEMCAST_BLOCK_…: of which kind it must be, and when
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
 * @out_fd: stands for the heap, close-on-exec; keeps none of its memory
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
 * @fd: what MEMCAST_HEAP_EXPORT gave, here or in another process of this host
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
 * @out_offset: where in that it starts
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
 * @heap: an imported one
 * @flags: any, to be told by MEMCAST_ADDRESS_INFO
 * @object: as MEMCAST_BLOCK_EXPORT said
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
 * @address: mapped to memory, a multiple of the page size
 * @bytes: likewise; over adjacent mappings too, of one device's memory: up to 262,144
 * @flags: 0
 * @out_fd: a new dma-buf of it, close-on-exec. It stands for these bytes, not
 *	for a handle: MEMCAST_IMPORT takes it as foreign, if at all.
 */
struct memcast_export_range {
	struct memcast_header header;
	__aligned_u64 address;
	__aligned_u64 bytes;
	__u32 flags;
	__s32 out_fd;
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
};

/* _IO(): a struct that grows keeps its number. */
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

#endif /* _UAPI_MEMCAST_H */
