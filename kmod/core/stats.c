// SPDX-License-Identifier: GPL-2.0-only
/* Counters, for tests and for the curious: /sys/kernel/debug/memcast/stats. */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include "private.h"

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
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stats);

void mc_stats_init(void)
{
	mc_debugfs = debugfs_create_dir("memcast", NULL);
	debugfs_create_file("stats", 0444, mc_debugfs, NULL, &stats_fops);
}

void mc_stats_exit(void)
{
	debugfs_remove(mc_debugfs);
}
