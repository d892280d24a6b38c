// SPDX-License-Identifier: GPL-2.0-only
/*
 * fdinfo: how much a client holds, in /proc/PID/fdinfo/FD, for readers who may know. The format is
 * a part of the interface: include/uapi/memcast.h.
 *
 * The text is short whatever the client holds: the kernel keeps all of it as long as a reader has
 * the file open. list.c lists what the client holds.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include "entry.h"
#include "device/host.h"

/*
 * A process that was sent the fd finds it in its own /proc/self/fdinfo/. Only the user
 * who opened the file, and tracers of other users' processes, see what the client holds.
 */
static bool may_look(const struct seq_file *out, const struct file *file)
{
	const struct cred *reader = out->file->f_cred, *opener = file->f_cred;

	return (uid_eq(reader->euid, opener->euid) && uid_eq(reader->euid, opener->uid)) ||
	       file_ns_capable(out->file, opener->user_ns, CAP_SYS_PTRACE);
}

/* The file's show_fdinfo(): prints how much the client holds, as far as the reader may know. */
void mc_client_show(struct seq_file *out, struct file *file)
{
	struct mc_client *client = file->private_data;

	seq_printf(out, "memcast-client:\t%llu\n", client->number);
	if (!may_look(out, file))
		return;
	/* devices have the host's numbers; those of a client of the machine have the machine's */
	if (client->host != &mc_machine)
		seq_printf(out, "memcast-host:\t%u first %u of %u\n", client->host->number,
			   client->host->first, mc_machine.devices);
	seq_printf(out, "memcast-key:\t%llu\n", client->key);
	seq_printf(out, "memcast-handles:\t%lu\n", READ_ONCE(client->handle_count));
	seq_printf(out, "memcast-mappings:\t%ld\n", atomic_long_read(&client->mapping_count));
	seq_printf(out, "memcast-waits:\t%u\n", READ_ONCE(client->wait_count));
}
