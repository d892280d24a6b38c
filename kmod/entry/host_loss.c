// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loss and return of hosts: as if the plug of a host was pulled while the rack goes on.
 * docs/architecture.md, "Losing a host", has the reasons for the order of the steps.
 */
#define pr_fmt(fmt) "memcast: " fmt

#include <linux/bitmap.h>
#include <linux/mutex.h>
#include "dmabuf/dmabuf.h"
#include "entry.h"
#include "map/map.h"

/* Held while hosts are lost and return, one at a time; outermost. */
static DEFINE_MUTEX(lose_lock);

/* Calls @act for each client of a host, which is held meanwhile. */
static void each_client(struct mc_host *host, void (*act)(struct mc_client *client))
{
	u64 round = mc_host_begin_round(host);
	struct mc_client *client;

	while ((client = mc_host_next_client(host, round))) {
		act(client);
		mc_client_put(client);
		cond_resched();
	}
}

/* Marks a client: from now on none of its calls begins, and its faults show no page. */
static void mark_client(struct mc_client *client)
{
	WRITE_ONCE(client->lost, true);
}

/* Empties the client's page tables: a fault brings back all but lost memory. */
static void zap_client(struct mc_client *client)
{
	unmap_mapping_range(&client->mapping, 0, 0, 1);
}

/* Ends the client's waits, and takes its mappings and handles. */
static void strip_client(struct mc_client *client)
{
	mc_waits_wake(client);
	zap_client(client);
	mc_client_leave(client, true);
}

static void lose(struct mc_host *host)
{
	u32 i;

	lockdep_assert_held(&lose_lock);
	WRITE_ONCE(host->lost, true);
	each_client(host, mark_client);
	mc_objects_mark(host);
	mc_buffers_mark(host);
	/* after this, faults that did not see a mark have inserted their page-table entries */
	synchronize_srcu(&mc_loss_srcu);
	mc_members_undo(host);
	mc_objects_undo(host);
	each_client(host, strip_client);
	for (i = 0; i < mc_host_count(); i++)
		if (mc_host_find(i) != host)
			each_client(mc_host_find(i), zap_client);
	if (host != &mc_machine)
		each_client(&mc_machine, zap_client);
	mc_buffers_zap();
	pr_info("host %u was lost\n", host->number);
}

/* Clients from before the loss stay lost; new ones find the host empty. */
static void bring_back(struct mc_host *host)
{
	lockdep_assert_held(&lose_lock);
	WRITE_ONCE(host->lost, false);
	pr_info("host %u has returned\n", host->number);
}

static ssize_t change(const char *buf, size_t count, bool lost)
{
	struct mc_host *host;
	u32 number;
	int ret = kstrtouint(buf, 0, &number);

	if (ret)
		return ret;
	host = mc_host_find(number);
	if (!host)
		return -ENODEV;
	mutex_lock(&lose_lock);
	if (host->lost != lost)
		(lost ? lose : bring_back)(host);
	mutex_unlock(&lose_lock);
	return count;
}

static ssize_t lose_host_store(struct device *dev, struct device_attribute *attr,
			       const char *buf, size_t count)
{
	return change(buf, count, true);
}
static DEVICE_ATTR_WO(lose_host);

static ssize_t return_host_store(struct device *dev, struct device_attribute *attr,
				 const char *buf, size_t count)
{
	return change(buf, count, false);
}
static DEVICE_ATTR_WO(return_host);

static ssize_t lost_hosts_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	DECLARE_BITMAP(lost, MEMCAST_MAX_DEVICES);
	u32 i;

	bitmap_zero(lost, MEMCAST_MAX_DEVICES);
	for (i = 0; i < mc_host_count(); i++)
		if (READ_ONCE(mc_host_find(i)->lost))
			__set_bit(i, lost);
	return sysfs_emit(buf, "%*pbl\n", MEMCAST_MAX_DEVICES, lost);
}
static DEVICE_ATTR_RO(lost_hosts);

static struct attribute *lose_attrs[] = {
	&dev_attr_lose_host.attr,
	&dev_attr_return_host.attr,
	&dev_attr_lost_hosts.attr,
	NULL
};

static const struct attribute_group lose_group = { .attrs = lose_attrs };

/* Attributes of /sys/class/misc/memcast, the device of the module's file */
const struct attribute_group *mc_lose_groups[] = { &lose_group, NULL };
