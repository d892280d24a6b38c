// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hosts: the devices are divided among them, and each has a file of its own. A process that
 * opens that file sees the host's devices as 0 and up, and of other hosts what the fabric
 * carries, as if a network were between them.
 *
 * The module's own numbers of devices are the machine's. A client's numbers are in its
 * arguments, its answers and the words it reads, and are translated where those are read and
 * written. A client counts the devices of other hosts behind its own, as a team names them as
 * members: its device N is device (N + first) % devices of the machine.
 */
#define pr_fmt(fmt) "memcast: " fmt

#include <linux/cdev.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include "core/compat.h"
#include "host.h"

static unsigned int hosts = 1;
module_param(hosts, uint, 0444);
MODULE_PARM_DESC(hosts, "hosts that the devices are divided among evenly, each with a file /dev/memcast-host/N (default 1: no such files)");

/*
 * A client of /dev/memcast has all devices. Where there are several hosts it is on none of
 * them, so that a program that was meant for a host's file, and opened this one, is refused
 * what the host's programs share, and its author finds the mistake.
 */
struct mc_host mc_machine = {
	.number = MC_NO_HOST,
	.lock = __MUTEX_INITIALIZER(mc_machine.lock),
	.clients = LIST_HEAD_INIT(mc_machine.clients),
	.keys = RB_ROOT,
	.objects_lock = __SPIN_LOCK_UNLOCKED(mc_machine.objects_lock),
	.objects = LIST_HEAD_INIT(mc_machine.objects),
	.lost_objects = LIST_HEAD_INIT(mc_machine.lost_objects),
	.members = LIST_HEAD_INIT(mc_machine.members),
	.lost_members = LIST_HEAD_INIT(mc_machine.lost_members),
};

static struct mc_host *mc_hosts;	/* NULL: the machine is the only one */
static dev_t host_files;
static struct cdev host_cdev;

/* Return: how many hosts there are. */
u32 mc_host_count(void)
{
	return hosts;
}

/* Return: the host of that number, or NULL. */
struct mc_host *mc_host_find(u32 number)
{
	if (number >= hosts)
		return NULL;
	return mc_hosts ? &mc_hosts[array_index_nospec(number, hosts)] : &mc_machine;
}

/* Return: the host that a device of the machine is on. */
struct mc_host *mc_host_of_device(u32 device)
{
	return mc_host_find(device / (mc_machine.devices / hosts));
}

/* Return: the host that a file is of; the machine, if the file is /dev/memcast. */
struct mc_host *mc_host_of_file(const struct inode *inode)
{
	if (!mc_hosts || imajor(inode) != MAJOR(host_files))
		return &mc_machine;
	return mc_host_find(iminor(inode)) ?: &mc_machine;
}

static int compare_key(const void *key, const struct rb_node *node)
{
	u64 other = rb_entry(node, struct mc_client, by_key)->key;

	return *(const u64 *)key < other ? -1 : *(const u64 *)key > other;
}

static bool has_less(struct rb_node *node, const struct rb_node *other)
{
	return compare_key(&rb_entry(node, struct mc_client, by_key)->key, other) < 0;
}

/*
 * Puts a new client on a host, where walks find it from now on. Takes the host's lock.
 * Return: 0, or -EHOSTDOWN: the host is lost.
 */
int mc_host_enter(struct mc_host *host, struct mc_client *client)
{
	int ret = 0;

	client->host = host;
	mutex_lock(&host->lock);
	client->round = host->round;
	if (READ_ONCE(host->lost)) {
		ret = -EHOSTDOWN;
	} else {
		list_add_tail(&client->of_host, &host->clients);
		rb_add(&client->by_key, &host->keys, has_less);
	}
	mutex_unlock(&host->lock);
	return ret;
}

/* Takes a client off its host. Takes the host's lock. */
void mc_host_leave(struct mc_client *client)
{
	mutex_lock(&client->host->lock);
	list_del(&client->of_host);
	rb_erase(&client->by_key, &client->host->keys);
	mutex_unlock(&client->host->lock);
}

/* Begins a walk through the clients of a host. Return: its number, for mc_host_next_client(). */
u64 mc_host_begin_round(struct mc_host *host)
{
	u64 round;

	mutex_lock(&host->lock);
	round = ++host->round;
	mutex_unlock(&host->lock);
	return round;
}

/**
 * mc_host_next_client() - go through the clients of a host without a lock
 * @host: the host
 * @round: from mc_host_begin_round(); the next walk begins when this one has ended
 *
 * Clients that come meanwhile are left out.
 *
 * Return: a client, held, that was not given in this round; or NULL.
 */
struct mc_client *mc_host_next_client(struct mc_host *host, u64 round)
{
	struct mc_client *client;

	mutex_lock(&host->lock);
	client = list_first_entry_or_null(&host->clients, struct mc_client, of_host);
	if (client && client->round == round)
		client = NULL;
	if (client) {
		client->round = round;
		list_move_tail(&client->of_host, &host->clients);
		kref_get(&client->kref);
	}
	mutex_unlock(&host->lock);
	return client;
}

static struct mc_client *find_client_on(struct mc_host *host, u64 key)
{
	struct mc_client *client = NULL;
	struct rb_node *node;

	mutex_lock(&host->lock);
	node = rb_find(&key, &host->keys, compare_key);
	if (node) {
		client = rb_entry(node, struct mc_client, by_key);
		kref_get(&client->kref);
	}
	mutex_unlock(&host->lock);
	return client;
}

/* Return: the client with a key, on any host, its struct held; or NULL. Takes the hosts' locks. */
struct mc_client *mc_host_find_client(u64 key)
{
	struct mc_client *client = find_client_on(&mc_machine, key);
	u32 i;

	for (i = 0; mc_hosts && i < hosts && !client; i++)
		client = find_client_on(&mc_hosts[i], key);
	return client;
}

/* Return: -EHOSTDOWN, with the reason: the caller's host was lost. */
int mc_fail_lost(struct mc_call *call)
{
	char words[MC_WORDS];

	return mc_fail(call, -EHOSTDOWN,
		       "%s was lost, and with it all that this process had of its devices",
		       mc_host_words(call->client->host, words));
}

/*
 * Fails a call that needs a lost host's device. A client of the machine keeps the other hosts'.
 * Return: -EHOSTDOWN, or -ENODEV if the host is not the caller's; with the reason.
 */
int mc_fail_lost_host(struct mc_call *call, const struct mc_host *host)
{
	char words[MC_WORDS];

	/* a client of the lost host may not be marked yet */
	if (READ_ONCE(call->client->lost) || call->client->host == host)
		return mc_fail_lost(call);
	return mc_fail(call, -ENODEV, "%s was lost, and its devices with it",
		       mc_host_words(host, words));
}

/* Writes "host 3", or the words for the machine. Return: @text. */
const char *mc_host_words(const struct mc_host *host, char text[MC_WORDS])
{
	if (host->number == MC_NO_HOST)
		snprintf(text, MC_WORDS, "the machine (/dev/memcast)");
	else
		snprintf(text, MC_WORDS, "host %u", host->number);
	return text;
}

/* Writes "device 2" as the client counts devices, or "device 2 of host 1". Return: @text. */
const char *mc_device_words(const struct mc_client *client, u32 device, char text[MC_WORDS])
{
	const struct mc_host *host = mc_host_of_device(device);

	if (mc_host_has(client->host, device))
		snprintf(text, MC_WORDS, "device %u", mc_device_ordinal(client, device));
	else
		snprintf(text, MC_WORDS, "device %u of host %u", device - host->first,
			 host->number);
	return text;
}

/**
 * mc_hosts_divide() - make the hosts, before there are devices
 * @devices: how many there are going to be
 *
 * Return: 0, or an error whose reason is in the log.
 */
int mc_hosts_divide(u32 devices)
{
	u32 i;

	if (!hosts || devices % hosts) {
		pr_err("hosts=%u: %u devices cannot be divided among them evenly\n", hosts,
		       devices);
		return -EINVAL;
	}
	mc_machine.devices = devices;
	if (hosts == 1) {
		mc_machine.number = 0;
		return 0;
	}
	mc_hosts = kcalloc(hosts, sizeof(*mc_hosts), GFP_KERNEL);
	if (!mc_hosts)
		return -ENOMEM;
	for (i = 0; i < hosts; i++) {
		struct mc_host *host = &mc_hosts[i];

		host->number = i;
		host->devices = devices / hosts;
		host->first = i * host->devices;
		mutex_init(&host->lock);
		INIT_LIST_HEAD(&host->clients);
		host->keys = RB_ROOT;
		spin_lock_init(&host->objects_lock);
		INIT_LIST_HEAD(&host->objects);
		INIT_LIST_HEAD(&host->lost_objects);
		INIT_LIST_HEAD(&host->members);
		INIT_LIST_HEAD(&host->lost_members);
	}
	return 0;
}

/* Frees the hosts. Their files are gone, and so are all clients. */
void mc_hosts_free(void)
{
	kfree(mc_hosts);
	mc_hosts = NULL;
}

/* ---- files ---- */

MC_SHOW(first_device, "%u", ((struct mc_host *)dev_get_drvdata(dev))->first);
MC_SHOW(devices, "%u", ((struct mc_host *)dev_get_drvdata(dev))->devices);

static struct attribute *mc_host_attrs[] = {
	&dev_attr_first_device.attr,
	&dev_attr_devices.attr,
	NULL
};
ATTRIBUTE_GROUPS(mc_host);

/* Names the node of a host's file, which all users may open, as /dev/memcast. */
static char *host_node(mc_devnode_const struct device *dev, umode_t *mode)
{
	if (mode)
		*mode = 0666;
	return kasprintf(GFP_KERNEL, "memcast-host/%u", MINOR(dev->devt));
}

static struct class host_class = {
	.name = "memcast-host",
	.dev_groups = mc_host_groups,
	.devnode = host_node,
};

static void nodes_remove(u32 count)
{
	while (count)
		device_destroy(&host_class, host_files + --count);
}

/**
 * mc_host_files_init() - make the files of the hosts
 * @fops: the operations of /dev/memcast, which are theirs too
 *
 * Programs can open them when this returns 0, so it is the last step of init that can fail.
 *
 * Return: 0, or an error; then there are no files.
 */
int mc_host_files_init(const struct file_operations *fops)
{
	u32 count = 0;
	int ret;

	if (!mc_hosts)
		return 0;
	ret = alloc_chrdev_region(&host_files, 0, hosts, "memcast-host");
	if (ret)
		return ret;
	ret = class_register(&host_class);
	if (ret)
		goto unregister_region;
	for (; count < hosts; count++) {
		struct device *dev = device_create(&host_class, NULL, host_files + count,
						   &mc_hosts[count], "host%u", count);

		ret = PTR_ERR_OR_ZERO(dev);
		if (ret)
			goto remove_nodes;
	}
	/* until then open() of a node answers ENXIO */
	cdev_init(&host_cdev, fops);
	host_cdev.owner = fops->owner;
	ret = cdev_add(&host_cdev, host_files, hosts);
	if (!ret)
		return 0;

remove_nodes:
	nodes_remove(count);
	class_unregister(&host_class);
unregister_region:
	unregister_chrdev_region(host_files, hosts);
	return ret;
}

/* Removes the files of the hosts. An open one keeps the module, so none is open. */
void mc_host_files_exit(void)
{
	if (!mc_hosts)
		return;
	cdev_del(&host_cdev);
	nodes_remove(hosts);
	class_unregister(&host_class);
	unregister_chrdev_region(host_files, hosts);
}
