// SPDX-License-Identifier: GPL-2.0-only
/*
 * memcast: emulated multicast devices.
 *
 * main.c is the module and the file; a call goes from there to ioctl.c, then to
 * the source of the object that it is about. See docs/architecture.md.
 */
#define pr_fmt(fmt) "memcast: " fmt
#include <linux/miscdevice.h>
#include <linux/module.h>
#include "entry.h"
#include "map/map.h"

static int mc_open(struct inode *inode, struct file *file)
{
	struct mc_client *client = mc_client_create(inode);

	if (IS_ERR(client))
		return PTR_ERR(client);
	file->private_data = client;
	file->f_mapping = &client->mapping;
	return 0;
}

static int mc_flush(struct file *file, fl_owner_t id)
{
	mc_client_closed(file->private_data);
	return 0;
}

static int mc_file_release(struct inode *inode, struct file *file)
{
	mc_client_destroy(file->private_data);
	return 0;
}

static const struct file_operations mc_fops = {
	.owner = THIS_MODULE,
	.open = mc_open,
	.flush = mc_flush,
	.release = mc_file_release,
	.unlocked_ioctl = mc_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = mc_reservation_mmap,
	.get_unmapped_area = mc_reservation_place,
	.llseek = noop_llseek,
	.show_fdinfo = mc_client_show,
};

/* Its fops come last, in mc_init(): until then open() answers ENODEV. */
static struct miscdevice mc_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "memcast",
	.mode = 0666,
	.groups = mc_lose_groups,
};

static int __init mc_init(void)
{
	int ret;

	ret = mc_fabric_init();
	if (ret)
		return ret;
	ret = mc_devices_init();
	if (ret)
		goto exit_fabric;
	mc_stats_init();
	/*
	 * A process that has opened a file keeps the module, but not one that fails to load: its
	 * functions would be gone. So no file can be opened before the last step that can fail,
	 * which is mc_host_files_init().
	 */
	ret = mc_channels_init();
	if (ret)
		goto exit_devices;
	ret = misc_register(&mc_misc);
	if (ret)
		goto exit_channels;
	ret = mc_host_files_init(&mc_fops);
	if (ret)
		goto deregister;
	mc_channels_publish();
	/* release: who opens the file finds all that was made before */
	smp_store_release(&mc_misc.fops, &mc_fops);
	pr_info("version " __stringify(MC_VERSION) ", %u device%s, %u host%s, /dev/memcast\n",
		mc_device_count, mc_device_count == 1 ? "" : "s",
		mc_host_count(), mc_host_count() == 1 ? "" : "s");
	return 0;

deregister:
	misc_deregister(&mc_misc);
exit_channels:
	mc_channels_exit();
exit_devices:
	mc_stats_exit();
	mc_devices_exit();
exit_fabric:
	mc_fabric_exit();
	return ret;
}
module_init(mc_init);

static void __exit mc_exit(void)
{
	mc_host_files_exit();
	misc_deregister(&mc_misc);
	mc_channels_exit();
	mc_stats_exit();
	mc_devices_exit();
	mc_fabric_exit();
	mc_accounts_exit();
}
module_exit(mc_exit);

MODULE_DESCRIPTION("Emulated multicast devices");
MODULE_AUTHOR("The memcast authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(__stringify(MC_VERSION));
/* As MODULE_IMPORT_NS() has it, which takes a string in some kernels and a name in others */
MODULE_INFO(import_ns, "DMA_BUF");
