// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists of what a client holds: a file whose text a reader gets piece by piece, by a cursor. The
 * reader's user pays for the file's buffer, which has a fixed size, however much the client holds.
 * include/uapi/memcast.h describes the lines.
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/ktime.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include "entry.h"
#include "map/map.h"

/* The most bindings or ranges in a line; those left out are counted */
#define MEMBER_BINDINGS	64
#define MEMORY_RANGES	256

/*
 * Text that a file has at a time: more than the longest line, of a team with all devices, and so
 * much that the struct is 32 KiB at most. With a byte more it would cost, and be charged, 64.
 */
#define LIST_BYTES	(SZ_32K - 256)
static_assert(MEMCAST_MAX_DEVICES * 48 < LIST_BYTES);

/* Kinds of lines, in the order in which they are listed */
enum stage { WAITS, HANDLES, MAPPINGS, PIECES, NO_STAGE };

struct mc_list {
	struct mc_client *client;	/* that is listed; holds the struct */
	struct mc_account *account;	/* of the client that opened the list */
	struct mutex lock;		/* protects what follows */
	/* the cursor: a line's kind, and its place among those of that kind */
	enum stage stage;
	u64 at;
	u64 last;		/* number of the object whose pieces were listed last */
	bool full;		/* the next line had no room */
	size_t from, used;	/* the bytes of the text that are not read yet */
	char text[LIST_BYTES];
};

static_assert(sizeof(struct mc_list) <= SZ_32K);

/* Adds to a line. Without room it notes so, and the line comes at the next time. */
__printf(2, 3)
static void print(struct mc_list *list, const char *format, ...)
{
	size_t room = LIST_BYTES - list->used, bytes;
	va_list args;

	va_start(args, format);
	bytes = vsnprintf(list->text + list->used, room, format, args);
	va_end(args);
	list->full |= bytes >= room;
	list->used += list->full ? 0 : bytes;
}

/* Ends a line, or lines, that began at @begin. Return: did all of it have room? Else it goes. */
static bool keep(struct mc_list *list, size_t begin)
{
	if (list->full)
		list->used = begin;
	return !list->full;
}

/* Has the listing to stop here, with the cursor at the next line? */
static bool must_stop(const struct mc_list *list)
{
	return list->full || fatal_signal_pending(current);
}

static void print_team(struct mc_list *list, struct mc_team *team)
{
	const struct mc_client *client = list->client;
	bool ended = false;
	u32 i;

	down_read(&team->lock);
	print(list, " devices %u members", team->devices);
	for (i = 0; i < team->joined; i++)
		print(list, " %u:%llu", mc_device_ordinal(client, team->member[i].device->id),
		      team->member[i].bound);
	print(list, " joined");
	for (i = 0; i < team->joined; i++)
		print(list, " %d", pid_vnr(team->member[i].joined_by.pid));
	for (i = 0; i < team->joined; i++) {
		if (!mc_process_has_ended(&team->member[i].joined_by))
			continue;
		print(list, "%s %u", ended ? "" : " ended",
		      mc_device_ordinal(client, team->member[i].device->id));
		ended = true;
	}
	up_read(&team->lock);
	print(list, " writes %lld multimem %lld", atomic64_read(&team->writes),
	      atomic64_read(&team->multimem));
}

/* Prints an object's line, without the newline. */
static void print_object(struct mc_list *list, const char *how, struct mc_object *object)
{
	bool team = object->type == MEMCAST_TYPE_TEAM;

	print(list, "memcast-%s:\t%s %llu bytes %llu", how, team ? "team" : "memory",
	      object->number, object->bytes);
	if (team)
		print_team(list, mc_team(object));
	else if (mc_memory(object)->foreign)
		print(list, " foreign");
	else if (mc_memory(object)->device)
		print(list, " device %u",
		      mc_device_ordinal(list->client, mc_memory(object)->device->id));
	else
		print(list, " host");
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

static void list_waits(struct mc_list *list)
{
	struct mc_client *client = list->client;
	struct mc_wait *wait;
	u64 place = 0;

	mutex_lock(&client->wait_lock);
	list_for_each_entry(wait, &client->waits, list) {
		s64 ms = ktime_ms_delta(ktime_get(), wait->since);
		size_t begin = list->used;

		if (must_stop(list))
			break;
		cond_resched();
		if (place++ < list->at)
			continue;
		print_object(list, "wait", &wait->team->object);
		print(list, " waits %d %s %lld\n", pid_vnr(wait->pid), wait_name(wait->command),
		      max_t(s64, ms, 0));
		if (keep(list, begin))
			list->at = place;
	}
	mutex_unlock(&client->wait_lock);
}

/*
 * Return: the object of a handle, its struct held; or NULL. A reader of the list is no user of the
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

static void list_handles(struct mc_list *list)
{
	struct mc_handle *handle;
	unsigned long id;

	/* the handle itself may go at any time: only its place counts */
	xa_for_each_start(&list->client->handles, id, handle, list->at) {
		struct mc_object *object = handle_struct(list->client, id, false);
		size_t begin = list->used;

		if (object) {
			print_object(list, "handle", object);
			print(list, "\n");
			mc_object_forget(object);
		}
		if (keep(list, begin))
			list->at = id + 1;
		if (must_stop(list))
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
static void print_chunks(struct mc_list *list, const struct mc_memory *memory)
{
	unsigned int left = MEMORY_RANGES;
	unsigned long first, n;

	if (mc_lazy() || !memory->device || memory->foreign ||
	    !mc_memory_is_local(list->client, memory))
		return;
	print(list, "memcast-chunks:\tmemory %llu", memory->object.number);
	for (first = 0; first < memory->chunks && left; first += n, left--) {
		unsigned long place = mc_chunk_place(memory->chunk[first]);

		n = chunks_in_a_row(memory, first);
		print(list, " %lu-%lu", place, place + n - 1);
		cond_resched();
	}
	if (first < memory->chunks)
		print(list, " more %lu", memory->chunks - first);
	print(list, "\n");
}

static void print_bindings(struct mc_list *list, const struct mc_team *team,
			   struct mc_member *member)
{
	struct interval_tree_node *node;
	unsigned int left = MEMBER_BINDINGS;
	u64 bound = member->bound;

	lockdep_assert_held(&team->lock);
	if (!bound)
		return;
	print(list, "memcast-bindings:\tteam %llu device %u", team->object.number,
	      mc_device_ordinal(list->client, member->device->id));
	for (node = interval_tree_iter_first(&member->bindings, 0, ULONG_MAX); node && left;
	     node = interval_tree_iter_next(node, 0, ULONG_MAX), left--) {
		struct mc_binding *binding = container_of(node, struct mc_binding, range);
		unsigned long bytes = node->last - node->start + 1;

		print(list, " %lu:%llu:%lu:%lu", node->start, binding->memory->object.number,
		      binding->memory_offset, bytes);
		bound -= bytes;
	}
	if (bound)
		print(list, " more %llu", bound);
	print(list, "\n");
}

/* Lists a team's members from one on. Return: the one that had no room; or how many there are. */
static u32 list_bindings(struct mc_list *list, struct mc_team *team, u32 member)
{
	down_read(&team->lock);
	for (; member < team->joined; member++) {
		size_t begin = list->used;

		print_bindings(list, team, &team->member[member]);
		if (!keep(list, begin))
			break;
		cond_resched();
	}
	up_read(&team->lock);
	return member;
}

/* A place among the pieces: a handle, and a member of its team */
#define PIECE(id, member)	((u64)(id) << 10 | (member))
#define PIECE_ID(at)		((at) >> 10)
#define PIECE_MEMBER(at)	((at) & 1023)
static_assert(MEMCAST_MAX_DEVICES < 1024);

/* Lists the pieces of all objects with handles: once, where handles of one follow each other. */
static void list_pieces(struct mc_list *list)
{
	struct mc_handle *handle;
	unsigned long id;

	xa_for_each_start(&list->client->handles, id, handle, PIECE_ID(list->at)) {
		struct mc_object *object = handle_struct(list->client, id, true);
		u32 member = id == PIECE_ID(list->at) ? PIECE_MEMBER(list->at) : 0;
		size_t begin = list->used;

		if (object && (member || object->number != list->last)) {
			if (object->type == MEMCAST_TYPE_TEAM)
				member = list_bindings(list, mc_team(object), member);
			else
				print_chunks(list, mc_memory(object));
			if (list->full && object->type == MEMCAST_TYPE_MEMORY)
				keep(list, begin);
			if (!list->full)
				list->last = object->number;
		}
		if (object)
			mc_object_forget(object);
		list->at = list->full ? PIECE(id, member) : PIECE(id + 1, 0);
		if (must_stop(list))
			return;
		cond_resched();
	}
}

static void list_reservation(struct mc_list *list, struct mc_reservation *reservation)
{
	struct interval_tree_node *node;

	down_read(&reservation->lock);
	for (node = interval_tree_iter_first(&reservation->mappings, list->at, ULONG_MAX);
	     node && !must_stop(list); node = interval_tree_iter_next(node, list->at, ULONG_MAX)) {
		struct mc_mapping *mapping = container_of(node, struct mc_mapping, va);
		size_t begin = list->used;

		print_object(list, "mapping", mapping->object);
		print(list, "\n");
		/* a memory that a heap maps has no handle: its pieces come here */
		if (!mapping->handle && mapping->object->number != list->last)
			print_chunks(list, mc_memory(mapping->object));
		if (!keep(list, begin))
			break;
		if (!mapping->handle)
			list->last = mapping->object->number;
		list->at = node->last + 1;
		cond_resched();
	}
	up_read(&reservation->lock);
}

static void list_mappings(struct mc_list *list)
{
	struct mc_reservation *reservation;
	unsigned long from = list->at;

	while (!must_stop(list) && (reservation = mc_reservation_next(list->client, from))) {
		list_reservation(list, reservation);
		from = READ_ONCE(reservation->reach);
		mc_reservation_put(reservation);
		cond_resched();
	}
}

/* Fills the text with the lines from the cursor on. Return: 0, or -EINTR. */
static int list_fill(struct mc_list *list)
{
	lockdep_assert_held(&list->lock);
	list->from = 0;
	list->used = 0;
	list->full = false;
	while (list->stage < NO_STAGE) {
		if (list->stage == WAITS)
			list_waits(list);
		else if (list->stage == HANDLES)
			list_handles(list);
		else if (list->stage == MAPPINGS)
			list_mappings(list);
		else
			list_pieces(list);
		if (must_stop(list))
			break;
		list->stage++;
		list->at = 0;
	}
	WARN_ON_ONCE(list->full && !list->used);
	return fatal_signal_pending(current) ? -EINTR : 0;
}

static ssize_t list_read(struct file *file, char __user *to, size_t bytes, loff_t *offset)
{
	struct mc_list *list = file->private_data;
	ssize_t ret = 0;

	if (mutex_lock_killable(&list->lock))
		return -EINTR;
	if (list->from == list->used)
		ret = list_fill(list);
	if (!ret) {
		ret = min(bytes, list->used - list->from);
		if (copy_to_user(to, list->text + list->from, ret))
			ret = -EFAULT;
		else
			list->from += ret;
	}
	mutex_unlock(&list->lock);
	return ret;
}

static void list_free(struct mc_list *list)
{
	struct mc_account *account = list->account;

	mc_client_put(list->client);
	mc_free_large(account, list, sizeof(*list));
	mc_uncharge(account, MC_FILE_BYTES);
}

static int list_release(struct inode *inode, struct file *file)
{
	list_free(file->private_data);
	return 0;
}

static const struct file_operations list_fops = {
	.owner = THIS_MODULE,
	.read = list_read,
	.release = list_release,
};

/* Return: a list of a client, whose struct it takes over, also if this fails; or an error. */
static struct mc_list *list_new(struct mc_call *call, struct mc_client *client)
{
	struct mc_account *account = call->client->account;
	struct mc_list *list;

	if (mc_charge(call, account, MC_FILE_BYTES)) {
		mc_client_put(client);
		return ERR_PTR(-ENOMEM);
	}
	list = mc_alloc_large(call, sizeof(*list));
	if (!list) {
		mc_uncharge(account, MC_FILE_BYTES);
		mc_client_put(client);
		return ERR_PTR(-ENOMEM);
	}
	mutex_init(&list->lock);
	list->account = account;
	list->client = client;
	return list;
}

/* MEMCAST_CLIENT_LIST: an fd, to read what a client holds. */
int mc_client_list(struct mc_call *call)
{
	struct memcast_client_list *arg = call->arg;
	struct mc_client *client;
	struct mc_list *list;
	struct file *file;
	int fd, ret;

	if (arg->reserved)
		return mc_fail(call, -EINVAL, "reserved field is not zero");
	client = mc_host_find_client(arg->key);
	if (!client)
		return mc_fail(call, -ENOENT, "no client has this key: its file was closed");
	list = list_new(call, client);
	if (IS_ERR(list))
		return PTR_ERR(list);
	file = anon_inode_getfile("memcast-list", &list_fops, list, O_RDONLY);
	if (IS_ERR(file)) {
		list_free(list);
		return mc_fail(call, -ENOMEM, "the machine has no free file (errno %ld)",
			       -PTR_ERR(file));
	}
	fd = get_unused_fd_flags(O_CLOEXEC);
	ret = fd < 0 ? mc_fail(call, -ENOMEM, "the process has no free fd (errno %d)", -fd) : 0;
	if (!ret) {
		arg->out_fd = fd;
		ret = mc_respond(call);
		if (ret)
			put_unused_fd(fd);
	}
	if (ret)
		fput(file);
	else
		fd_install(fd, file);
	return ret;
}
