// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters in /sys/kernel/debug/memcast/, for tests and for the curious: "stats" of the whole
 * module, and "users": the machine's memory that each user has taken.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include "core.h"

struct mc_stats mc_stats;
static struct dentry *mc_debugfs;

static int stats_show(struct seq_file *file, void *unused)
{
#define SHOW(name)	seq_printf(file, #name " %ld\n", \
				   atomic_long_read(&mc_stats.name))
	SHOW(pmd_faults);
	SHOW(pte_faults);
	SHOW(bad_faults);
	SHOW(clients);
	SHOW(memories);
	SHOW(teams);
	SHOW(bindings);
	SHOW(reservations);
	SHOW(mappings);
	SHOW(blocks);
	SHOW(foreign);
	SHOW(staging_pages);
#undef SHOW
	seq_printf(file, "charged_bytes %ld\n", mc_accounts_used());
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stats);

static int users_show(struct seq_file *file, void *unused)
{
	mc_accounts_show(file);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(users);

/* Makes the files in debugfs. The module works without them, so no error is reported. */
void mc_stats_init(void)
{
	mc_debugfs = debugfs_create_dir("memcast", NULL);
	debugfs_create_file("stats", 0444, mc_debugfs, NULL, &stats_fops);
	debugfs_create_file("users", 0444, mc_debugfs, NULL, &users_fops);
}

/* Removes the files from debugfs; waits for readers. */
void mc_stats_exit(void)
{
	debugfs_remove(mc_debugfs);
}
