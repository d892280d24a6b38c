// SPDX-License-Identifier: GPL-2.0-only
/* Devices: one pool each, and attributes in /sys/class/memcast. */
#define pr_fmt(fmt) "memcast: " fmt

#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/nodemask.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include "core/compat.h"
#include "device.h"

static unsigned int devices = 4;
module_param(devices, uint, 0444);
MODULE_PARM_DESC(devices, "number of emulated devices, 1 to 576 (default 4)");
static_assert(MEMCAST_MAX_DEVICES == 576, "the words above, and docs/install/by-hand.md");
static_assert(MC_CHUNK_SIZE == MEMCAST_GRANULARITY);

/* What an H100 with 80 GB gives programs, in whole chunks: profiles/h100.profile */
#define MC_POOL_MIB	81078

static unsigned long pool_mib[MEMCAST_MAX_DEVICES] = { MC_POOL_MIB };
static unsigned int pools_given;
module_param_array(pool_mib, ulong, &pools_given, 0444);
MODULE_PARM_DESC(pool_mib, "memory of each device in MiB, even; the last is repeated for the others (default 81078, of lazy pools only)");

static int nodes[MEMCAST_MAX_DEVICES];
static unsigned int nodes_given;
module_param_array(nodes, int, &nodes_given, 0444);
MODULE_PARM_DESC(nodes, "NUMA node of each device, repeated for the others (default: all nodes in turn)");

unsigned int mc_device_count;
static struct mc_device *mc_devices[MEMCAST_MAX_DEVICES];

MC_SHOW(uuid, "%pUb", &mc_device_of(dev)->uuid);
MC_SHOW(host, "%u", mc_device_of(dev)->host->number);
MC_SHOW(numa_node, "%d", dev_to_node(dev));
MC_SHOW(pool_bytes, "%lu", READ_ONCE(mc_device_of(dev)->pool.total) << MC_CHUNK_SHIFT);
MC_SHOW(free_bytes, "%lu", READ_ONCE(mc_device_of(dev)->pool.free) << MC_CHUNK_SHIFT);

/* The machine's memory that a pool has: all that it promises, or the chunks that were touched. */
static ssize_t taken_bytes_show(struct device *dev, struct device_attribute *attr,
				char *buf)
{
	const struct mc_pool *pool = &mc_device_of(dev)->pool;
	unsigned long chunks = mc_lazy() ? atomic_long_read(&pool->taken) : pool->total;

	return sysfs_emit(buf, "%lu\n", chunks << MC_CHUNK_SHIFT);
}
static DEVICE_ATTR_RO(taken_bytes);

static struct attribute *mc_device_attrs[] = {
	&dev_attr_uuid.attr,
	&dev_attr_host.attr,
	&dev_attr_numa_node.attr,
	&dev_attr_pool_bytes.attr,
	&dev_attr_free_bytes.attr,
	&dev_attr_taken_bytes.attr,
	&dev_attr_fabric_state.attr,
	NULL
};
ATTRIBUTE_GROUPS(mc_device);

static struct class mc_class = {
	.name = "memcast",
	.dev_groups = mc_device_groups,
};

static void device_release(struct device *dev)
{
	kfree(mc_device_of(dev));
}

/* A device has the same UUID every time, as a real one has: tests may contain it. */
static void device_uuid(struct mc_device *device)
{
	/* version 8, "whatever you like", of the UUIDs */
	static const u8 base[16] = "memcas\x80t\x80";

	memcpy(&device->uuid, base, sizeof(base));
	device->uuid.b[14] = device->id >> 8;
	device->uuid.b[15] = device->id;
}

static unsigned long device_pool_mib(u32 id)
{
	return pool_mib[min(id, pools_given ? pools_given - 1 : 0)];
}

static int device_node(u32 id)
{
	int node, i = 0;

	if (nodes_given)
		return nodes[id % nodes_given];
	for_each_node_state(node, N_MEMORY)
		if (i++ == id % num_node_state(N_MEMORY))
			return node;
	return 0;
}

static struct mc_device *device_create_one(u32 id)
{
	unsigned long mib = device_pool_mib(id);
	int node = device_node(id);
	struct mc_device *device;
	int ret;

	if (!mib || mib % 2 || mib > ULONG_MAX >> 20) {
		pr_err("pool_mib=%lu: must be even and more than 0\n", mib);
		return ERR_PTR(-EINVAL);
	}
	if (node < 0 || node >= MAX_NUMNODES || !node_state(node, N_MEMORY)) {
		pr_err("nodes: node %d of device %u has no memory\n", node, id);
		return ERR_PTR(-EINVAL);
	}

	device = kzalloc(sizeof(*device), GFP_KERNEL);
	if (!device)
		return ERR_PTR(-ENOMEM);
	device->id = id;
	device->host = mc_host_of_device(id);
	device_uuid(device);
	device_initialize(&device->dev);
	device->dev.class = &mc_class;
	device->dev.release = device_release;
	/* a device reaches all addresses that a CPU reaches, in segments of any size */
	device->dev.dma_parms = &device->dma;
	dma_set_max_seg_size(&device->dev, UINT_MAX);
	dma_coerce_mask_and_coherent(&device->dev, DMA_BIT_MASK(64));
	mc_device_set_coherent(&device->dev);
	set_dev_node(&device->dev, node);

	ret = mc_pool_init(&device->pool, mib << 20 >> MC_CHUNK_SHIFT, node);
	if (ret) {
		pr_err("device %u: node %d cannot give %lu MiB in chunks of 2 MiB; try a smaller pool_mib or fewer devices\n",
		       id, node, mib);
		goto put_device;
	}
	ret = dev_set_name(&device->dev, "memcast%u", id);
	if (ret)
		goto destroy_pool;
	ret = device_add(&device->dev);
	if (ret)
		goto destroy_pool;
	return device;

destroy_pool:
	mc_pool_destroy(&device->pool);
put_device:
	put_device(&device->dev);
	return ERR_PTR(ret);
}

/* Return: the device that has this number of the machine's, or NULL. Devices stay: no lock. */
struct mc_device *mc_device_find(u32 id)
{
	if (id >= mc_device_count)
		return NULL;
	return mc_devices[array_index_nospec(id, mc_device_count)];
}

/*
 * Return: the device that a call names by its client's number, or an error that the call has
 * the reason of.
 */
struct mc_device *mc_find_device(struct mc_call *call, u32 id)
{
	const struct mc_host *host = call->client->host;

	if (likely(id < host->devices))
		return mc_device_find(host->first + array_index_nospec(id, host->devices));
	return ERR_PTR(mc_fail(call, -ENODEV, "no device %u: there are %u", id,
			       host->devices));
}

/* Makes all devices and takes their pools. Return: 0, or an error; then there are no devices. */
int mc_devices_init(void)
{
	int ret;

	if (!devices || devices > MEMCAST_MAX_DEVICES) {
		pr_err("devices=%u: must be 1 to %u\n", devices,
		       MEMCAST_MAX_DEVICES);
		return -EINVAL;
	}
	/* a value too many is the user's slip, and would be ignored silently */
	if (pools_given > devices || nodes_given > devices) {
		pr_err("devices=%u, but %u values of pool_mib and %u of nodes: at most one for each device\n",
		       devices, pools_given, nodes_given);
		return -EINVAL;
	}

	ret = mc_hosts_divide(devices);
	if (ret)
		return ret;
	ret = mc_lazy_init(pools_given);
	if (ret)
		goto free_hosts;
	ret = class_register(&mc_class);
	if (ret)
		goto exit_lazy;

	while (mc_device_count < devices) {
		struct mc_device *device = device_create_one(mc_device_count);

		if (IS_ERR(device)) {
			mc_devices_exit();
			return PTR_ERR(device);
		}
		mc_devices[mc_device_count++] = device;
	}
	return 0;

exit_lazy:
	mc_lazy_exit();
free_hosts:
	mc_hosts_free();
	return ret;
}

/* Removes all devices and gives their pools back. No object uses a chunk any more. */
void mc_devices_exit(void)
{
	while (mc_device_count) {
		struct mc_device *device = mc_devices[--mc_device_count];

		device_del(&device->dev);
		mc_pool_destroy(&device->pool);
		put_device(&device->dev);
	}
	class_unregister(&mc_class);
	mc_lazy_exit();
	mc_hosts_free();
}

/* MEMCAST_DEVICE_INFO: a device's node, pool, UUID and flags. */
int mc_device_info(struct mc_call *call)
{
	struct memcast_device_info *info = call->arg;
	struct mc_device *device;
	struct mc_pool *pool;

	if (info->reserved)
		return mc_fail(call, -EINVAL, "reserved field is not zero");
	device = mc_find_device(call, info->device);
	if (IS_ERR(device))
		return PTR_ERR(device);

	pool = &device->pool;
	info->out_node = dev_to_node(&device->dev);
	spin_lock(&pool->lock);
	info->out_pool_bytes = (u64)pool->total << MC_CHUNK_SHIFT;
	info->out_free_bytes = (u64)pool->free << MC_CHUNK_SHIFT;
	spin_unlock(&pool->lock);
	export_uuid(info->out_uuid, &device->uuid);
	info->out_flags = mc_fabric_multicast() ? MEMCAST_DEVICE_MULTICAST : 0;
	if (mc_channels_exist())
		info->out_flags |= MEMCAST_DEVICE_FABRIC;
	return mc_respond(call);
}
