/* SPDX-License-Identifier: GPL-2.0-only */
/* Hosts: which devices a client sees, and by which numbers. */
#ifndef _MC_HOST_H
#define _MC_HOST_H

#include <linux/fs.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>
#include "core/core.h"

#define MC_NO_HOST	(~0U)

struct mc_host {
	u32 number;			/* MC_NO_HOST: the machine, where there are several */
	u32 first, devices;		/* which of the machine's devices it has */
	struct mutex lock;		/* protects clients, keys and round */
	struct list_head clients;	/* by mc_client.of_host */
	struct rb_root keys;		/* of clients, by mc_client.by_key */
	u64 round;			/* number of the last walk through clients */
	bool lost;			/* and has not returned; lockless */
	spinlock_t objects_lock;	/* protects what follows; orders lost and objects */
	struct list_head objects;	/* that are lost with it, by mc_object.of_place */
	struct list_head lost_objects;	/* lost, with bindings still to be undone */
	struct list_head members;	/* of teams: its devices, by mc_member.of_host */
	struct list_head lost_members;	/* lost, with bindings still to be undone */
};

extern struct mc_host mc_machine;

u32 mc_host_count(void);
struct mc_host *mc_host_find(u32 number);
struct mc_host *mc_host_of_device(u32 device);
struct mc_host *mc_host_of_file(const struct inode *inode);
int mc_host_enter(struct mc_host *host, struct mc_client *client);
void mc_host_leave(struct mc_client *client);
u64 mc_host_begin_round(struct mc_host *host);
struct mc_client *mc_host_find_client(u64 key);
struct mc_client *mc_host_next_client(struct mc_host *host, u64 round);
int mc_fail_lost(struct mc_call *call);
int mc_fail_lost_host(struct mc_call *call, const struct mc_host *host);
int mc_hosts_divide(u32 devices);
void mc_hosts_free(void);
int mc_host_files_init(const struct file_operations *fops);
void mc_host_files_exit(void);

/* Is a device of the machine one of the host's? mc_machine has all. */
static inline bool mc_host_has(const struct mc_host *host, u32 device)
{
	return device - host->first < host->devices;
}

/* Is a client of @host told where an object of @owner is? mc_machine sees all hosts. */
static inline bool mc_host_sees(const struct mc_host *host, const struct mc_host *owner)
{
	return host == owner || host == &mc_machine;
}

/* Return: the client's ordinal of a device of the machine. Other hosts' come behind its own. */
static inline u32 mc_device_ordinal(const struct mc_client *client, u32 device)
{
	u32 first = client->host->first;

	return device >= first ? device - first : device + mc_machine.devices - first;
}

/* Fills in the location of an object on a device of the machine, as a client is told it. */
static inline void mc_device_tell_location(const struct mc_client *client, u32 device,
					   u32 *location, u32 *id)
{
	bool here = mc_host_has(client->host, device);

	*location = here ? MEMCAST_LOCATION_DEVICE : MEMCAST_LOCATION_ELSEWHERE;
	*id = here ? mc_device_ordinal(client, device) : MEMCAST_DEVICE_NONE;
}

/* ---- words that a client reads ---- */

#define MC_WORDS	32

const char *mc_host_words(const struct mc_host *host, char text[MC_WORDS]);
const char *mc_device_words(const struct mc_client *client, u32 device, char text[MC_WORDS]);

/* Defines a read-only attribute of a device in sysfs: a line that sysfs_emit() makes. */
#define MC_SHOW(name, format, value)							\
static ssize_t name##_show(struct device *dev, struct device_attribute *attr, char *buf) \
{											\
	return sysfs_emit(buf, format "\n", value);					\
}											\
static DEVICE_ATTR_RO(name)

#endif /* _MC_HOST_H */
