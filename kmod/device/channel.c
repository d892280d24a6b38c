// SPDX-License-Identifier: GPL-2.0-only
/*
 * IMEX channels: device nodes that do nothing. A process that can open one may
 * exchange fabric handles with others that can.
 */
#define pr_fmt(fmt) "memcast: " fmt

#include <linux/file.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "device.h"

static unsigned int imex_channels;
module_param(imex_channels, uint, 0444);
MODULE_PARM_DESC(imex_channels, "number of /dev/memcast-imex/channelN, 0 to 64 (default 0)");

static unsigned short imex_mode = 0666;

/* sysfs shows the mode in octal, as permissions are written. */
static int mode_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%#o\n", imex_mode);
}

static const struct kernel_param_ops mode_ops = {
	.set = param_set_ushort,
	.get = mode_get,
};
module_param_cb(imex_mode, &mode_ops, &imex_mode, 0444);
MODULE_PARM_DESC(imex_mode, "permissions of the channel nodes (default 0666; udev may change them)");

struct mc_channel {
	struct miscdevice misc;
	char name[32], nodename[32];
};

static struct mc_channel *mc_channels;
static unsigned int mc_channel_count;

static const struct file_operations mc_channel_fops = {
	.owner = THIS_MODULE,
	.llseek = noop_llseek,
};

static int channel_register(struct mc_channel *channel, unsigned int id)
{
	snprintf(channel->name, sizeof(channel->name), "memcast-imex-channel%u", id);
	snprintf(channel->nodename, sizeof(channel->nodename),
		 "memcast-imex/channel%u", id);
	channel->misc.minor = MISC_DYNAMIC_MINOR;
	channel->misc.name = channel->name;
	channel->misc.nodename = channel->nodename;
	channel->misc.mode = imex_mode;
	return misc_register(&channel->misc);
}

/*
 * Makes the nodes of the IMEX channels; open() of one answers ENODEV until mc_channels_publish().
 * Return: 0, or an error; then there are no nodes.
 */
int mc_channels_init(void)
{
	int ret;

	if (imex_channels > MEMCAST_MAX_CHANNELS || imex_mode & ~0666) {
		pr_err("imex_channels=%u, imex_mode=%#o: at most %u channels, and a mode within 0666\n",
		       imex_channels, imex_mode, MEMCAST_MAX_CHANNELS);
		return -EINVAL;
	}
	mc_channels = kcalloc(imex_channels, sizeof(*mc_channels), GFP_KERNEL);
	if (!mc_channels)
		return -ENOMEM;
	while (mc_channel_count < imex_channels) {
		ret = channel_register(&mc_channels[mc_channel_count],
				       mc_channel_count);
		if (ret) {
			mc_channels_exit();
			return ret;
		}
		mc_channel_count++;
	}
	return 0;
}

/* Lets programs open the nodes. The module's init cannot fail any more: see mc_init(). */
void mc_channels_publish(void)
{
	unsigned int i;

	for (i = 0; i < mc_channel_count; i++)
		/* release: as mc_misc's in mc_init() */
		smp_store_release(&mc_channels[i].misc.fops, &mc_channel_fops);
}

/* Removes the nodes. An open file of one keeps the module, so none is open. */
void mc_channels_exit(void)
{
	while (mc_channel_count)
		misc_deregister(&mc_channels[--mc_channel_count].misc);
	kfree(mc_channels);
}

/* Can programs exchange fabric handles at all? */
bool mc_channels_exist(void)
{
	return mc_channel_count;
}

/* Return: the number of the channel that a file is of, or -1. misc_open() has noted the device. */
static int file_channel(struct file *file)
{
	struct mc_channel *channel;

	if (file->f_op != &mc_channel_fops)
		return -1;
	channel = container_of(file->private_data, struct mc_channel, misc);
	return channel - mc_channels;
}

/* MEMCAST_CHANNEL: note that the client has opened an IMEX channel, whose fd it passes. */
int mc_channel(struct mc_call *call)
{
	struct memcast_channel *arg = call->arg;
	struct mc_client *client = call->client;
	struct file *file;
	int channel;

	if (arg->reserved)
		return mc_fail(call, -EINVAL, "reserved field is not zero");
	file = fget(arg->fd);
	channel = file ? file_channel(file) : -1;
	if (file)
		fput(file);
	if (channel < 0)
		return mc_fail(call, -EBADF, "fd %d is not an IMEX channel", arg->fd);

	xa_lock(&client->handles);
	WRITE_ONCE(client->channels, client->channels | BIT_ULL(channel));
	xa_unlock(&client->handles);
	return 0;
}
