/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints: what happens to which object. Events name objects (memories and teams) by their
 * numbers, which no other object gets before the module is loaded again; memcast-smi shows them.
 * docs/tracing.md says how to read events. Fields are added at an event's end, and none goes.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM memcast

#if !defined(_MC_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _MC_TRACE_H

#include <linux/tracepoint.h>

/* A device joins a team; @joined: how many devices have joined now */
TRACE_EVENT(memcast_join,
	    TP_PROTO(u64 team, u32 device, u32 joined, u32 devices),
	    TP_ARGS(team, device, joined, devices),
	    TP_STRUCT__entry(__field(u64, team)
			     __field(u32, device)
			     __field(u32, joined)
			     __field(u32, devices)),
	    TP_fast_assign(__entry->team = team;
			   __entry->device = device;
			   __entry->joined = joined;
			   __entry->devices = devices;),
	    TP_printk("team=%llu device=%u joined=%u devices=%u",
		      __entry->team, __entry->device, __entry->joined, __entry->devices)
);

/* A call begins to wait for a team's members */
TRACE_EVENT(memcast_wait,
	    TP_PROTO(u64 team, u32 command, u32 joined, u32 devices),
	    TP_ARGS(team, command, joined, devices),
	    TP_STRUCT__entry(__field(u64, team)
			     __field(u32, command)
			     __field(u32, joined)
			     __field(u32, devices)),
	    TP_fast_assign(__entry->team = team;
			   __entry->command = command;
			   __entry->joined = joined;
			   __entry->devices = devices;),
	    TP_printk("team=%llu command=%#x joined=%u devices=%u",
		      __entry->team, __entry->command, __entry->joined, __entry->devices)
);

/* A call no longer waits; @error: 0: the team is complete, or a negative errno */
TRACE_EVENT(memcast_wait_end,
	    TP_PROTO(u64 team, int error),
	    TP_ARGS(team, error),
	    TP_STRUCT__entry(__field(u64, team)
			     __field(int, error)),
	    TP_fast_assign(__entry->team = team;
			   __entry->error = error;),
	    TP_printk("team=%llu error=%d", __entry->team, __entry->error)
);

DECLARE_EVENT_CLASS(memcast_binding,
		    TP_PROTO(u64 team, u32 device, u64 memory, u64 offset, u64 memory_offset,
			     u64 bytes),
		    TP_ARGS(team, device, memory, offset, memory_offset, bytes),
		    TP_STRUCT__entry(__field(u64, team)
				     __field(u64, memory)
				     __field(u64, offset)
				     __field(u64, memory_offset)
				     __field(u64, bytes)
				     __field(u32, device)),
		    TP_fast_assign(__entry->team = team;
				   __entry->memory = memory;
				   __entry->offset = offset;
				   __entry->memory_offset = memory_offset;
				   __entry->bytes = bytes;
				   __entry->device = device;),
		    TP_printk("team=%llu device=%u memory=%llu offset=%#llx memory_offset=%#llx bytes=%#llx",
			      __entry->team, __entry->device, __entry->memory, __entry->offset,
			      __entry->memory_offset, __entry->bytes)
);

/* A range of a memory is bound to a range of a team */
DEFINE_EVENT(memcast_binding, memcast_bind,
	     TP_PROTO(u64 team, u32 device, u64 memory, u64 offset, u64 memory_offset,
		      u64 bytes),
	     TP_ARGS(team, device, memory, offset, memory_offset, bytes)
);

/* A binding ends: by a call, or because its memory or its team has ended */
DEFINE_EVENT(memcast_binding, memcast_unbind,
	     TP_PROTO(u64 team, u32 device, u64 memory, u64 offset, u64 memory_offset,
		      u64 bytes),
	     TP_ARGS(team, device, memory, offset, memory_offset, bytes)
);

/* A memory has ended or is lost, and with it its bindings in a range of a team */
TRACE_EVENT(memcast_evict,
	    TP_PROTO(u64 team, u64 memory, u64 offset, u64 bytes),
	    TP_ARGS(team, memory, offset, bytes),
	    TP_STRUCT__entry(__field(u64, team)
			     __field(u64, memory)
			     __field(u64, offset)
			     __field(u64, bytes)),
	    TP_fast_assign(__entry->team = team;
			   __entry->memory = memory;
			   __entry->offset = offset;
			   __entry->bytes = bytes;),
	    TP_printk("team=%llu memory=%llu offset=%#llx bytes=%#llx",
		      __entry->team, __entry->memory, __entry->offset, __entry->bytes)
);

DECLARE_EVENT_CLASS(memcast_mapping,
		    TP_PROTO(u64 object, u64 address, u64 offset, u64 bytes),
		    TP_ARGS(object, address, offset, bytes),
		    TP_STRUCT__entry(__field(u64, object)
				     __field(u64, address)
				     __field(u64, offset)
				     __field(u64, bytes)),
		    TP_fast_assign(__entry->object = object;
				   __entry->address = address;
				   __entry->offset = offset;
				   __entry->bytes = bytes;),
		    TP_printk("object=%llu address=%#llx offset=%#llx bytes=%#llx",
			      __entry->object, __entry->address, __entry->offset, __entry->bytes)
);

/* An object, from @offset on, is mapped at an address */
DEFINE_EVENT(memcast_mapping, memcast_map,
	     TP_PROTO(u64 object, u64 address, u64 offset, u64 bytes),
	     TP_ARGS(object, address, offset, bytes)
);

DEFINE_EVENT(memcast_mapping, memcast_unmap,
	     TP_PROTO(u64 object, u64 address, u64 offset, u64 bytes),
	     TP_ARGS(object, address, offset, bytes)
);

/* Page-table entries are removed: the next access faults, and finds what is mapped then */
TRACE_EVENT(memcast_zap,
	    TP_PROTO(u64 address, u64 bytes),
	    TP_ARGS(address, bytes),
	    TP_STRUCT__entry(__field(u64, address)
			     __field(u64, bytes)),
	    TP_fast_assign(__entry->address = address;
			   __entry->bytes = bytes;),
	    TP_printk("address=%#llx bytes=%#llx", __entry->address, __entry->bytes)
);

/* A processor touches an address without a page-table entry; @object: mapped there, or 0 */
TRACE_EVENT(memcast_fault,
	    TP_PROTO(u64 address, u64 object, bool write, bool huge, u32 result),
	    TP_ARGS(address, object, write, huge, result),
	    TP_STRUCT__entry(__field(u64, address)
			     __field(u64, object)
			     __field(bool, write)
			     __field(bool, huge)
			     __field(u32, result)),
	    TP_fast_assign(__entry->address = address;
			   __entry->object = object;
			   __entry->write = write;
			   __entry->huge = huge;
			   __entry->result = result;),
	    TP_printk("address=%#llx object=%llu write=%d huge=%d result=%#x", __entry->address,
		      __entry->object, __entry->write, __entry->huge, __entry->result)
);

/* A copy has ended; @error: 0 or a negative errno */
TRACE_EVENT(memcast_copy,
	    TP_PROTO(u64 to, u64 from, u64 bytes, u64 rows, u32 device, int error),
	    TP_ARGS(to, from, bytes, rows, device, error),
	    TP_STRUCT__entry(__field(u64, to)
			     __field(u64, from)
			     __field(u64, bytes)
			     __field(u64, rows)
			     __field(u32, device)
			     __field(int, error)),
	    TP_fast_assign(__entry->to = to;
			   __entry->from = from;
			   __entry->bytes = bytes;
			   __entry->rows = rows;
			   __entry->device = device;
			   __entry->error = error;),
	    TP_printk("to=%#llx from=%#llx bytes=%#llx rows=%llu device=%u error=%d", __entry->to,
		      __entry->from, __entry->bytes, __entry->rows, __entry->device, __entry->error)
);

/* A fill has ended; @bytes: of each row; @error: 0 or a negative errno */
TRACE_EVENT(memcast_fill,
	    TP_PROTO(u64 to, u64 bytes, u64 rows, u32 device, int error),
	    TP_ARGS(to, bytes, rows, device, error),
	    TP_STRUCT__entry(__field(u64, to)
			     __field(u64, bytes)
			     __field(u64, rows)
			     __field(u32, device)
			     __field(int, error)),
	    TP_fast_assign(__entry->to = to;
			   __entry->bytes = bytes;
			   __entry->rows = rows;
			   __entry->device = device;
			   __entry->error = error;),
	    TP_printk("to=%#llx bytes=%#llx rows=%llu device=%u error=%d", __entry->to,
		      __entry->bytes, __entry->rows, __entry->device, __entry->error)
);

DECLARE_EVENT_CLASS(memcast_handle,
		    TP_PROTO(u64 object, u64 bytes, u32 handle_type),
		    TP_ARGS(object, bytes, handle_type),
		    TP_STRUCT__entry(__field(u64, object)
				     __field(u64, bytes)
				     __field(u32, handle_type)),
		    TP_fast_assign(__entry->object = object;
				   __entry->bytes = bytes;
				   __entry->handle_type = handle_type;),
		    TP_printk("object=%llu bytes=%#llx handle_type=%u",
			      __entry->object, __entry->bytes, __entry->handle_type)
);

/* An object is exported as an fd or a fabric handle */
DEFINE_EVENT(memcast_handle, memcast_export,
	     TP_PROTO(u64 object, u64 bytes, u32 handle_type),
	     TP_ARGS(object, bytes, handle_type)
);

/* An object is imported; a dma-buf of another driver becomes a new one */
DEFINE_EVENT(memcast_handle, memcast_import,
	     TP_PROTO(u64 object, u64 bytes, u32 handle_type),
	     TP_ARGS(object, bytes, handle_type)
);

#endif /* _MC_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH core
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
