/* SPDX-License-Identifier: GPL-2.0-only */
/* Entry: the file, its clients, and the table of commands. */
#ifndef _MC_ENTRY_H
#define _MC_ENTRY_H

#include <linux/fs.h>
#include <linux/seq_file.h>
#include "core/core.h"

/* ---- client.c ---- */

struct mc_client *mc_client_create(struct inode *inode);
void mc_client_closed(struct mc_client *client);
void mc_client_leave(struct mc_client *client, bool host_lost);
void mc_client_destroy(struct mc_client *client);
void mc_client_put(struct mc_client *client);
void mc_client_show(struct seq_file *out, struct file *file);

/* ---- host_loss.c ---- */

extern const struct attribute_group *mc_lose_groups[];

/* ---- ioctl.c ---- */

long mc_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

#endif /* _MC_ENTRY_H */
