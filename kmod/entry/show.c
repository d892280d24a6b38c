// SPDX-License-Identifier: GPL-2.0-only
/*
 * fdinfo: what a client holds, in /proc/PID/fdinfo/FD, for readers who may know. The format is
 * a part of the interface: include/uapi/memcast.h.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/ktime.h>
#include <linux/pid.h>
#include "entry.h"
#include "vm.h"

/* The most bindings or ranges in a line, and of both in a file; those left out are counted */
#define MEMBER_BINDINGS	64
#define MEMORY_RANGES	256
#define FILE_PIECES	16384

/* One reading of the fdinfo */
struct show {
	struct seq_file *out;
	struct mc_client *client;
	unsigned int left;	/* of FILE_PIECES */
	u64 last;		/* number of the object whose pieces were shown last */
};

static void show_team(struct seq_file *out, const struct mc_client *client,
		      struct mc_team *team)
{
	bool ended = false;
	u32 i;

	down_read(&team->lock);
	seq_printf(out, " devices %u members", team->devices);
	for (i = 0; i < team->joined; i++)
		seq_printf(out, " %u:%llu", mc_device_ordinal(client, team->member[i].device->id),
			   team->member[i].bound);
	seq_puts(out, " joined");
	for (i = 0; i < team->joined; i++)
		seq_printf(out, " %d", pid_vnr(team->member[i].joined_by.pid));
	for (i = 0; i < team->joined; i++) {
		if (!mc_process_has_ended(&team->member[i].joined_by))
			continue;
		seq_printf(out, "%s %u", ended ? "" : " ended",
			   mc_device_ordinal(client, team->member[i].device->id));
		ended = true;
	}
	up_read(&team->lock);
	seq_printf(out, " writes %lld", atomic64_read(&team->writes));
}

/* Prints an object's line, without the newline. */
static void show_object(struct seq_file *out, const struct mc_client *client, const char *how,
			struct mc_object *object)
{
	bool team = object->type == MEMCAST_TYPE_TEAM;

	seq_printf(out, "memcast-%s:\t%s %llu bytes %llu", how,
		   team ? "team" : "memory", object->number, object->bytes);
	if (team)
		show_team(out, client, mc_team(object));
	else if (mc_memory(object)->foreign)
		seq_puts(out, " foreign");
	else if (mc_memory(object)->device)
		seq_printf(out, " device %u",
			   mc_device_ordinal(client, mc_memory(object)->device->id));
	else
		seq_puts(out, " host");
}

/*
 * Return: the object of a handle, its struct held; or NULL. A reader of fdinfo is no user of the
 * object, which would outlive its last user otherwise.
 * @named: also of a handle without references, which only names what is mapped
 */
static struct mc_object *handle_struct(struct mc_client *client, unsigned long id, bool named)
{
	struct mc_object *object = NULL;
	struct mc_handle *handle;

	xa_lock(&client->handles);
	handle = xa_load(&client->handles, id);
	if (handle && (handle->refs || named)) {
		object = handle->object;
		kref_get(&object->kref);
	}
	xa_unlock(&client->handles);
	return object;
}

static void show_handles(struct show *show)
{
	struct mc_client *client = show->client;
	struct mc_handle *handle;
	unsigned long id;

	/* the handle itself may go at any time: only its place counts */
	xa_for_each(&client->handles, id, handle) {
		struct mc_object *object = handle_struct(client, id, false);

		if (!object)
			continue;
		show_object(show->out, client, "handle", object);
		seq_putc(show->out, '\n');
		mc_object_forget(object);
		if (seq_has_overflowed(show->out))
			return;
		cond_resched();
	}
}

/* ---- pieces: bindings of teams, and places of memories in their pools */

/* Return: how many chunks from @first on follow each other in the memory and in the pool. */
static unsigned long chunks_in_a_row(const struct mc_memory *memory, unsigned long first)
{
	unsigned long place = mc_chunk_place(memory->chunk[first]), n = 1;

	while (first + n < memory->chunks && mc_chunk_place(memory->chunk[first + n]) == place + n)
		if (++n % 64 == 0)
			cond_resched();
	return n;
}

/*
 * The memory may end meanwhile: its chunks stay the pool's, and the struct says where they were.
 * A client is not told where in another host's pool a memory lies.
 */
static void show_chunks(struct show *show, const struct mc_memory *memory)
{
	unsigned int left = min(show->left, MEMORY_RANGES);
	unsigned long first, n;

	if (mc_lazy() || !memory->device || memory->foreign ||
	    !mc_memory_is_local(show->client, memory))
		return;
	seq_printf(show->out, "memcast-chunks:\tmemory %llu", memory->object.number);
	for (first = 0; first < memory->chunks && left; first += n, left--, show->left--) {
		unsigned long place = mc_chunk_place(memory->chunk[first]);

		n = chunks_in_a_row(memory, first);
		seq_printf(show->out, " %lu-%lu", place, place + n - 1);
		cond_resched();
	}
	if (first < memory->chunks)
		seq_printf(show->out, " more %lu", memory->chunks - first);
	seq_putc(show->out, '\n');
}

static void show_member(struct show *show, const struct mc_team *team, struct mc_member *member)
{
	unsigned int left = min(show->left, MEMBER_BINDINGS);
	struct interval_tree_node *node;
	u64 bound = member->bound;

	lockdep_assert_held(&team->lock);
	if (!bound)
		return;
	seq_printf(show->out, "memcast-bindings:\tteam %llu device %u", team->object.number,
		   mc_device_ordinal(show->client, member->device->id));
	for (node = interval_tree_iter_first(&member->bindings, 0, ULONG_MAX); node && left;
	     node = interval_tree_iter_next(node, 0, ULONG_MAX), left--, show->left--) {
		struct mc_binding *binding = container_of(node, struct mc_binding, range);
		unsigned long bytes = node->last - node->start + 1;

		seq_printf(show->out, " %lu:%llu:%lu:%lu", node->start,
			   binding->memory->object.number, binding->memory_offset, bytes);
		bound -= bytes;
	}
	if (bound)
		seq_printf(show->out, " more %llu", bound);
	seq_putc(show->out, '\n');
}

static void show_bindings(struct show *show, struct mc_team *team)
{
	u32 i;

	down_read(&team->lock);
	for (i = 0; i < team->joined && !seq_has_overflowed(show->out); i++) {
		show_member(show, team, team->member + i);
		cond_resched();
	}
	up_read(&team->lock);
}

/* Prints the pieces of an object: once, for handles of it that were made one after the other. */
static void show_pieces(struct show *show, struct mc_object *object)
{
	if (object->number == show->last)
		return;
	show->last = object->number;
	if (object->type == MEMCAST_TYPE_TEAM)
		show_bindings(show, mc_team(object));
	else
		show_chunks(show, mc_memory(object));
}

/* Prints the pieces of all objects with handles, after the lines that say what the objects are. */
static void show_handles_pieces(struct show *show)
{
	struct mc_handle *handle;
	unsigned long id;

	xa_for_each(&show->client->handles, id, handle) {
		struct mc_object *object = handle_struct(show->client, id, true);

		if (!object)
			continue;
		show_pieces(show, object);
		mc_object_forget(object);
		if (seq_has_overflowed(show->out))
			return;
		cond_resched();
	}
}

/* Prints the mappings of a reservation. Return: has the output room for more? */
static bool show_reservation(struct mc_reservation *reservation, void *data)
{
	struct interval_tree_node *node;
	struct show *show = data;

	down_read(&reservation->lock);
	for (node = interval_tree_iter_first(&reservation->mappings, 0, ULONG_MAX);
	     node && !seq_has_overflowed(show->out);
	     node = interval_tree_iter_next(node, 0, ULONG_MAX)) {
		struct mc_mapping *mapping = container_of(node, struct mc_mapping, va);

		show_object(show->out, reservation->client, "mapping", mapping->object);
		seq_putc(show->out, '\n');
		/* an object that a heap maps has no handle: its pieces come here */
		if (!mapping->handle)
			show_pieces(show, mapping->object);
		cond_resched();
	}
	up_read(&reservation->lock);
	return !seq_has_overflowed(show->out);
}

static const char *wait_name(u32 command)
{
	switch (command) {
	case MEMCAST_NR_BIND_MEMORY:
		return "BIND_MEMORY";
	case MEMCAST_NR_BIND_ADDRESS:
		return "BIND_ADDRESS";
	default:
		return "MAP";
	}
}

static void show_waits(struct seq_file *out, struct mc_client *client)
{
	struct mc_wait *wait;

	mutex_lock(&client->wait_lock);
	list_for_each_entry(wait, &client->waits, list) {
		s64 ms = ktime_ms_delta(ktime_get(), wait->since);

		if (seq_has_overflowed(out))
			break;
		show_object(out, client, "wait", &wait->team->object);
		seq_printf(out, " waits %d %s %lld\n", pid_vnr(wait->pid),
			   wait_name(wait->command), max_t(s64, ms, 0));
		cond_resched();
	}
	mutex_unlock(&client->wait_lock);
}

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

/* The file's show_fdinfo(): prints what the client holds, as far as the reader may know. */
void mc_client_show(struct seq_file *out, struct file *file)
{
	struct mc_client *client = file->private_data;
	struct show show = { .out = out, .client = client, .left = FILE_PIECES };

	seq_printf(out, "memcast-client:\t%llu\n", client->number);
	if (!may_look(out, file))
		return;
	/* devices have the host's numbers; those of a client of the machine have the machine's */
	if (client->host != &mc_machine)
		seq_printf(out, "memcast-host:\t%u first %u of %u\n", client->host->number,
			   client->host->first, mc_machine.devices);
	show_waits(out, client);
	show_handles(&show);
	mc_client_each_reservation(client, show_reservation, &show);
	show_handles_pieces(&show);
}
