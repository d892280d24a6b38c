// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls: every command's argument is copied into the kernel here, once, and goes
 * to the handler in the folder that the command is about.
 */
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/uaccess.h>
#include "device/device.h"
#include "entry.h"

static unsigned int recommended_mib = MC_CHUNK_SIZE >> 20;
module_param(recommended_mib, uint, 0644);
MODULE_PARM_DESC(recommended_mib, "recommended granularity of teams in MiB, even (default 2; Hopper has 512)");

union mc_argument {
	struct memcast_header header;
#define COMMAND(_struct, ...)	struct memcast_##_struct _struct; MC_ROW_END
#include "core/commands.h"
};

enum needs { NOTHING, MULTICAST, NO_HOST };

struct mc_command {
	int (*handler)(struct mc_call *call);
	u32 bytes;		/* size of the argument today */
	u32 least;		/* size of its first version */
	enum needs needs;
};

static const struct mc_command mc_commands[] = {
#define COMMAND(_struct, _name, _last, _needs)				\
	[MEMCAST_NR_##_name - MEMCAST_NR_BASE] = {			\
		.handler = mc_##_struct,				\
		.bytes = sizeof(struct memcast_##_struct),		\
		.least = offsetofend(struct memcast_##_struct, _last),	\
		.needs = _needs,					\
	},
#include "core/commands.h"
};

/* MEMCAST_SYSTEM_INFO: the numbers of devices and hosts, and the granularities. */
int mc_system_info(struct mc_call *call)
{
	const struct mc_host *host = call->client->host;
	struct memcast_system_info *info = call->arg;

	info->out_abi = MEMCAST_ABI_VERSION;
	info->out_devices = host->devices;
	info->out_granularity = MC_CHUNK_SIZE;
	info->out_recommended = ALIGN((u64)READ_ONCE(recommended_mib) << 20 ?: MC_CHUNK_SIZE,
				      MC_CHUNK_SIZE);
	info->out_first = host->first;
	info->out_host = host->number;
	info->out_hosts = mc_host_count();
	info->out_machine = mc_machine.devices;
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

/* Was the client's host lost, and does the command not answer all the same? */
static bool is_lost(const struct mc_client *client, const struct mc_command *command)
{
	return READ_ONCE(client->lost) && command->needs != NO_HOST;
}

/*
 * The file's ioctl(): one call, from the argument in user space to its answer there. Return: 0,
 * MEMCAST_MISSED, MEMCAST_UNMAPPED, or an errno, whose reason is where the argument asks for it.
 */
long mc_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct mc_call call = { .client = file->private_data, .file = file };
	union mc_argument argument = {};
	const struct mc_command *command;
	u32 bytes;
	int ret;

	if (_IOC_TYPE(cmd) != MEMCAST_IOC_MAGIC || _IOC_NR(cmd) < MEMCAST_NR_BASE ||
	    _IOC_NR(cmd) - MEMCAST_NR_BASE >= ARRAY_SIZE(mc_commands) ||
	    cmd != _IO(MEMCAST_IOC_MAGIC, _IOC_NR(cmd)))
		return -ENOTTY;
	/* after fork() a call would mean addresses of another process */
	if (call.client->mm != current->mm ||
	    (READ_ONCE(call.client->ended) && !READ_ONCE(call.client->lost)))
		return -ESRCH;

	command = &mc_commands[array_index_nospec(_IOC_NR(cmd) - MEMCAST_NR_BASE,
						  ARRAY_SIZE(mc_commands))];
	call.user = (void __user *)arg;
	if (get_user(bytes, (u32 __user *)call.user))
		return -EFAULT;
	if (bytes < command->least)
		return -EINVAL;
	if (bytes > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(&argument, command->bytes, call.user, bytes);
	if (ret)
		return ret;

	call.arg = &argument;
	call.bytes = min(bytes, command->bytes);
	if (command->needs == MULTICAST && !mc_fabric_multicast())
		ret = mc_fail(&call, -EOPNOTSUPP,
			      "no device can multicast (parameter multicast)");
	else if (is_lost(call.client, command))
		ret = -EHOSTDOWN;
	else
		ret = command->handler(&call);
	/* the handler may have failed with another error because the host was lost meanwhile */
	if (ret < 0 && is_lost(call.client, command))
		ret = mc_fail_lost(&call);
	if (ret == -ENOMEM && !call.reason[0])
		mc_fail(&call, ret, "the kernel is out of memory");
	if (ret)
		give_reason(&call, &argument.header);
	return ret;
}
