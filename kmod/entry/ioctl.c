// SPDX-License-Identifier: GPL-2.0-only
/*
 * The way in: every verb's argument comes into the kernel here, once, and goes
 * to the handler in the file of the object that the verb is about.
 */
#include <linux/nospec.h>
#include <linux/uaccess.h>
#include "device.h"
#include "entry.h"

union mc_argument {
	struct memcast_header header;
	struct memcast_system_info system_info;
	struct memcast_device_info device_info;
	struct memcast_handle_info handle_info;
	struct memcast_handle_release handle_release;
	struct memcast_handle_retain handle_retain;
	struct memcast_export export;
	struct memcast_import import;
	struct memcast_export_range export_range;
	struct memcast_memory_create memory_create;
	struct memcast_team_create team_create;
	struct memcast_team_add team_add;
	struct memcast_bind_memory bind_memory;
	struct memcast_bind_address bind_address;
	struct memcast_unbind unbind;
	struct memcast_reservation_free reservation_free;
	struct memcast_map map;
	struct memcast_unmap unmap;
	struct memcast_set_access set_access;
	struct memcast_get_access get_access;
	struct memcast_copy copy;
	struct memcast_fill fill;
	struct memcast_channel channel;
	struct memcast_address_info address_info;
	struct memcast_heap_create heap_create;
	struct memcast_heap_destroy heap_destroy;
	struct memcast_heap_info heap_info;
	struct memcast_heap_set heap_set;
	struct memcast_heap_access heap_access;
	struct memcast_heap_trim heap_trim;
	struct memcast_block_alloc block_alloc;
	struct memcast_block_register block_register;
	struct memcast_block_free block_free;
	struct memcast_heap_export heap_export;
	struct memcast_heap_import heap_import;
	struct memcast_block_export block_export;
	struct memcast_block_import block_import;
	struct memcast_block_map block_map;
	struct memcast_team_wait team_wait;
	struct memcast_team_members team_members;
	struct memcast_address_check address_check;
	struct memcast_block_set block_set;
	struct memcast_ipc_export ipc_export;
	struct memcast_ipc_open ipc_open;
};

struct mc_verb {
	int (*handler)(struct mc_call *call);
	u32 bytes;		/* today's argument */
	u32 least;		/* that of the first version */
	bool multicast;		/* not without that */
};

/* @_last: the last field of the first version */
#define VERB(_verb, _handler, _arg, _last, ...)				\
	[MEMCAST_NR_##_verb - MEMCAST_NR_BASE] = {			\
		.handler = _handler,					\
		.bytes = sizeof(struct memcast_##_arg) +		\
			 BUILD_BUG_ON_ZERO(sizeof(struct memcast_##_arg) \
					   > sizeof(union mc_argument)), \
		.least = offsetofend(struct memcast_##_arg, _last),	\
		__VA_ARGS__						\
	}

static const struct mc_verb mc_verbs[] = {
	VERB(SYSTEM_INFO, mc_system_info, system_info, out_recommended),
	VERB(DEVICE_INFO, mc_device_info, device_info, reserved),
	VERB(HANDLE_INFO, mc_handle_info, handle_info, out_joined),
	VERB(HANDLE_RELEASE, mc_release, handle_release, reserved),
	VERB(HANDLE_RETAIN, mc_retain, handle_retain, handle),
	VERB(EXPORT, mc_export, export, out_fd),
	VERB(IMPORT, mc_import, import, out_handle),
	VERB(MEMORY_CREATE, mc_memory_create, memory_create, reserved),
	VERB(TEAM_CREATE, mc_team_create, team_create, out_handle, .multicast = true),
	VERB(TEAM_ADD, mc_team_add, team_add, device, .multicast = true),
	VERB(BIND_MEMORY, mc_bind_memory, bind_memory, bytes, .multicast = true),
	VERB(BIND_ADDRESS, mc_bind_address, bind_address, reserved, .multicast = true),
	VERB(UNBIND, mc_unbind, unbind, bytes, .multicast = true),
	VERB(RESERVATION_FREE, mc_reservation_free, reservation_free, bytes),
	VERB(MAP, mc_map, map, reserved),
	VERB(UNMAP, mc_unmap, unmap, bytes),
	VERB(SET_ACCESS, mc_set_access, set_access, reserved),
	VERB(GET_ACCESS, mc_get_access, get_access, reserved),
	VERB(COPY, mc_copy, copy, flags),
	VERB(FILL, mc_fill, fill, flags),
	VERB(CHANNEL, mc_open_channel, channel, reserved),
	VERB(ADDRESS_INFO, mc_address_info, address_info, padding),
	VERB(HEAP_CREATE, mc_heap_create, heap_create, reserved),
	VERB(HEAP_DESTROY, mc_heap_destroy, heap_destroy, flags),
	VERB(HEAP_INFO, mc_heap_info, heap_info, reserved),
	VERB(HEAP_SET, mc_heap_set, heap_set, value),
	VERB(HEAP_ACCESS, mc_heap_access, heap_access, entries),
	VERB(HEAP_TRIM, mc_heap_trim, heap_trim, keep),
	VERB(BLOCK_ALLOC, mc_block_alloc, block_alloc, out_address),
	VERB(BLOCK_REGISTER, mc_block_register, block_register, reserved),
	VERB(BLOCK_FREE, mc_block_free, block_free, reserved),
	VERB(EXPORT_RANGE, mc_export_range, export_range, out_fd),
	VERB(HEAP_EXPORT, mc_heap_export, heap_export, reserved),
	VERB(HEAP_IMPORT, mc_heap_import, heap_import, reserved),
	VERB(BLOCK_EXPORT, mc_block_export, block_export, out_bytes),
	VERB(BLOCK_IMPORT, mc_block_import, block_import, out_address),
	VERB(BLOCK_MAP, mc_block_map, block_map, out_address),
	VERB(TEAM_WAIT, mc_team_wait, team_wait, since),
	VERB(TEAM_MEMBERS, mc_team_members, team_members, out_joined),
	VERB(ADDRESS_CHECK, mc_address_check, address_check, reserved),
	VERB(BLOCK_SET, mc_block_set, block_set, mask),
	VERB(IPC_EXPORT, mc_ipc_export, ipc_export, out_key),
	VERB(IPC_OPEN, mc_ipc_open, ipc_open, reserved),
};

int mc_system_info(struct mc_call *call)
{
	struct memcast_system_info *info = call->arg;

	info->out_abi = MEMCAST_ABI_VERSION;
	info->out_devices = mc_device_count;
	info->out_granularity = MC_CHUNK_SIZE;
	info->out_recommended = mc_fabric_recommended();
	return mc_respond(call);
}

static void give_reason(const struct mc_call *call,
			const struct memcast_header *header)
{
	size_t bytes = min_t(size_t, header->reason_size,
			     strlen(call->reason) + 1);
	char __user *to = u64_to_user_ptr(header->reason);

	/* best effort: the error itself is the answer */
	if (!header->reason || !bytes || copy_to_user(to, call->reason, bytes - 1))
		return;
	put_user('\0', to + bytes - 1);
}

long mc_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct mc_call call = { .client = file->private_data, .file = file };
	union mc_argument argument = {};
	const struct mc_verb *verb;
	u32 bytes;
	int ret;

	if (_IOC_TYPE(cmd) != MEMCAST_IOC_MAGIC || _IOC_NR(cmd) < MEMCAST_NR_BASE ||
	    _IOC_NR(cmd) - MEMCAST_NR_BASE >= ARRAY_SIZE(mc_verbs) ||
	    cmd != _IO(MEMCAST_IOC_MAGIC, _IOC_NR(cmd)))
		return -ENOTTY;
	/* after fork() the addresses of a call would mean another process's */
	if (call.client->mm != current->mm || READ_ONCE(call.client->ended))
		return -ESRCH;

	verb = &mc_verbs[array_index_nospec(_IOC_NR(cmd) - MEMCAST_NR_BASE,
					    ARRAY_SIZE(mc_verbs))];
	call.user = (void __user *)arg;
	if (get_user(bytes, (u32 __user *)call.user))
		return -EFAULT;
	if (bytes < verb->least)
		return -EINVAL;
	if (bytes > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(&argument, verb->bytes, call.user, bytes);
	if (ret)
		return ret;

	call.arg = &argument;
	call.bytes = min(bytes, verb->bytes);
	if (verb->multicast && !mc_fabric_multicast())
		ret = mc_fail(&call, -EOPNOTSUPP,
			      "no device can multicast (parameter multicast)");
	else
		ret = verb->handler(&call);
	if (ret == -ENOMEM && !call.reason[0])
		mc_fail(&call, ret, "the kernel is out of memory");
	if (ret)
		give_reason(&call, &argument.header);
	return ret;
}
