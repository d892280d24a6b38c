// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reservations: an address range of one process. One VMA, never split, with a
 * tree of mappings inside; the page tables are only that tree's cache. A mapping may go
 * on behind the reservation's end, in a second VMA that the process puts there: the tail.
 */
#include "core/compat.h"
#include "map.h"

static const struct vm_operations_struct reservation_ops, tail_ops;

static void reservation_free(struct kref *kref)
{
	struct mc_reservation *reservation =
		container_of(kref, struct mc_reservation, kref);

	mc_free(reservation->client->account, reservation, sizeof(*reservation));
	atomic_long_dec(&mc_stats.reservations);
}

/* Lets go of the struct, which does not end the reservation. */
void mc_reservation_put(struct mc_reservation *reservation)
{
	kref_put(&reservation->kref, reservation_free);
}

/*
 * mremap() copies the VMA, and moves its page-table entries to the copy, before it asks whether the
 * VMA may be moved; then it moves them back. The copy stays if there is no memory to remove it
 * again: then it shows no pages.
 */
static bool is_copy(const struct vm_area_struct *vma)
{
	const struct mc_reservation *reservation = vma->vm_private_data;

	return vma->vm_start != (vma->vm_ops == &tail_ops ? reservation->end : reservation->start);
}

/*
 * A copy is being made. While mremap() moves a PMD entry it is in neither place, and a zap by
 * another thread would miss it. So the entries go before mremap() can move them: it holds mmap_lock
 * and the VMA's lock for writing until it has ended, so that no fault brings them back before.
 */
static void reservation_open(struct vm_area_struct *vma)
{
	struct mc_reservation *reservation = vma->vm_private_data;

	kref_get(&reservation->kref);
	if (is_copy(vma))
		mc_reservation_zap(reservation, reservation->start,
				   READ_ONCE(reservation->reach) - 1);
}

static bool begins_before(struct rb_node *node, const struct rb_node *other)
{
	const struct mc_reservation *reservation =
		rb_entry(node, struct mc_reservation, of_client);

	lockdep_assert_held(&reservation->client->reservations_lock);
	return reservation->start < rb_entry(other, struct mc_reservation, of_client)->start;
}

/*
 * Takes a reservation out of its client's tree: last, as who ends the client finds there what to
 * undo. A copy that stayed may have been moved to the address of the VMA, which has gone before.
 * Return: has the client none any more?
 */
static bool reservation_unlink(struct mc_reservation *reservation)
{
	struct mc_client *client = reservation->client;
	bool none;

	spin_lock(&client->reservations_lock);
	if (!RB_EMPTY_NODE(&reservation->of_client))
		rb_erase(&reservation->of_client, &client->reservations);
	RB_CLEAR_NODE(&reservation->of_client);
	none = RB_EMPTY_ROOT(&client->reservations);
	spin_unlock(&client->reservations_lock);
	return none;
}

/* The VMA is gone; copies and calls under way may still hold the struct. */
static void reservation_close(struct vm_area_struct *vma)
{
	struct mc_reservation *reservation = vma->vm_private_data;
	/* all of the address space goes: an exit or exec(), maybe of a process without an fd */
	bool exiting = !atomic_read(&vma->vm_mm->mm_users);
	LIST_HEAD(ended);

	if (!is_copy(vma)) {
		mc_mappings_undo(reservation, &ended);
		if (exiting)
			mc_client_end_objects(reservation->client, &ended);
		else
			mc_objects_end(&ended);
		if (reservation_unlink(reservation) && exiting)
			mc_client_end(reservation->client);
	}
	mc_reservation_put(reservation);
}

/* The tail is gone, and so is the mapping that went on in it. */
static void tail_close(struct vm_area_struct *vma)
{
	struct mc_reservation *reservation = vma->vm_private_data;

	if (!is_copy(vma))
		mc_mappings_cut(reservation);
	mc_reservation_put(reservation);
}

static bool is_reservation(const struct vm_area_struct *vma)
{
	return vma->vm_ops == &reservation_ops || vma->vm_ops == &tail_ops;
}

/*
 * Return: the reservation of a VMA of the client's process, also of a tail; or NULL. With
 * mmap_lock.
 */
static struct mc_reservation *reservation_of(struct mc_client *client,
					     const struct vm_area_struct *vma)
{
	lockdep_assert_held(&client->mm->mmap_lock);
	if (!is_reservation(vma) || vma->vm_file->private_data != client || is_copy(vma))
		return NULL;
	return vma->vm_private_data;
}

/* Return: the reservation around an address, held, or NULL. Takes mmap_lock. */
struct mc_reservation *mc_reservation_find(struct mc_client *client,
					   u64 address)
{
	struct mc_reservation *reservation = NULL;
	struct vm_area_struct *vma;

	if (address >= TASK_SIZE_MAX)
		return NULL;
	mmap_read_lock(client->mm);
	vma = vma_lookup(client->mm, address);
	if (vma)
		reservation = reservation_of(client, vma);
	if (reservation)
		kref_get(&reservation->kref);
	mmap_read_unlock(client->mm);
	return reservation;
}

/* As mc_reservation_find(), for a call: an error with the reason instead of NULL. */
struct mc_reservation *mc_reservation_at(struct mc_call *call, u64 address)
{
	struct mc_reservation *reservation = mc_reservation_find(call->client, address);

	return reservation ?: ERR_PTR(mc_fail(call, -EINVAL, "%#llx is not in a reservation",
					      address));
}

/* Is any byte of the range in a reservation? Takes mmap_lock. */
bool mc_reservation_in(struct mc_client *client, u64 address, u64 bytes)
{
	u64 end = address + bytes;
	struct vm_area_struct *vma;
	bool found = false;

	mmap_read_lock(client->mm);
	while (!found && address < end) {
		vma = find_vma(client->mm, address);
		if (!vma || vma->vm_start >= end)
			break;
		found = is_reservation(vma);
		address = vma->vm_end;
		cond_resched();
	}
	mmap_read_unlock(client->mm);
	return found;
}

/* Return: the reservation around all of a range, held; or an error. Takes mmap_lock. */
struct mc_reservation *mc_reservation_over(struct mc_call *call, u64 address,
					   u64 bytes)
{
	struct mc_reservation *reservation;
	int ret;

	ret = mc_check_range(call, NULL, address, bytes,
			     TASK_SIZE_MAX, PAGE_SIZE);
	if (ret)
		return ERR_PTR(ret);
	reservation = mc_reservation_at(call, address);
	if (IS_ERR(reservation))
		return reservation;
	if (!mc_reservation_reaches(reservation, address, bytes)) {
		mc_reservation_put(reservation);
		return ERR_PTR(mc_fail(call, -EINVAL,
				       "%llu bytes from %#llx leave the reservation",
				       bytes, address));
	}
	return reservation;
}

/* As mc_reservation_over(), for callers that change mappings: a heap's reservation is refused. */
struct mc_reservation *mc_reservation_around(struct mc_call *call, u64 address,
					     u64 bytes)
{
	struct mc_reservation *reservation = mc_reservation_over(call, address, bytes);

	if (IS_ERR(reservation) || !READ_ONCE(reservation->of_heap))
		return reservation;
	mc_reservation_put(reservation);
	return ERR_PTR(mc_fail(call, -EINVAL, "what is at %#llx is a heap's", address));
}

/*
 * Takes the lock for writing, for callers that change what is not a heap's: a heap may have claimed
 * the reservation since mc_reservation_around() looked. Return: 0, or an error, without the lock.
 */
int mc_reservation_lock(struct mc_call *call, struct mc_reservation *reservation, u64 address)
{
	down_write(&reservation->lock);
	if (likely(!reservation->of_heap))
		return 0;
	up_write(&reservation->lock);
	return mc_fail(call, -EINVAL, "what is at %#llx is a heap's", address);
}

/*
 * The file's addresses: a VMA that is as long as a chunk begins at a multiple of one, if there is
 * room for that. Linux's function aligns to a PMD entry, and only what is as long as that.
 */
unsigned long mc_reservation_place(struct file *file, unsigned long hint, unsigned long bytes,
				   unsigned long pgoff, unsigned long flags)
{
	unsigned long place;

	if (!MC_CHUNK_IS_PMD && !hint && bytes >= MC_CHUNK_SIZE && bytes < TASK_SIZE_MAX) {
		place = thp_get_unmapped_area(file, 0, bytes + MC_CHUNK_SIZE - PAGE_SIZE, 0, flags);
		if (!IS_ERR_VALUE(place))
			return ALIGN(place, MC_CHUNK_SIZE);
	}
	return thp_get_unmapped_area(file, hint, bytes, pgoff, flags);
}

/* Return: a reservation of all of a VMA, or an error. */
static struct mc_reservation *reservation_new(struct mc_client *client,
					      const struct vm_area_struct *vma)
{
	struct mc_reservation *reservation =
		mc_alloc(NULL, client->account, sizeof(*reservation));

	if (!reservation)
		return ERR_PTR(-ENOMEM);
	kref_init(&reservation->kref);
	reservation->client = client;
	reservation->start = vma->vm_start;
	reservation->end = vma->vm_end;
	reservation->reach = vma->vm_end;
	init_rwsem(&reservation->lock);
	reservation->mappings = RB_ROOT_CACHED;
	spin_lock(&client->reservations_lock);
	rb_add(&reservation->of_client, &client->reservations, begins_before);
	spin_unlock(&client->reservations_lock);
	atomic_long_inc(&mc_stats.reservations);
	return reservation;
}

/* Return: the reservation that ends where a VMA begins, which is its tail now; or an error. */
static struct mc_reservation *tail_new(struct mc_client *client, const struct vm_area_struct *vma)
{
	struct vm_area_struct *before = vma_lookup(vma->vm_mm, vma->vm_start - 1);
	struct mc_reservation *reservation = before ? reservation_of(client, before) : NULL;
	bool good;

	if (!reservation)
		return ERR_PTR(-EINVAL);
	down_write(&reservation->lock);
	/* a heap has no mapping but its own; @before may be another tail */
	good = reservation->end == vma->vm_start && reservation->reach == reservation->end &&
	       !reservation->of_heap && !reservation->dead;
	if (good) {
		WRITE_ONCE(reservation->reach, vma->vm_end);
		kref_get(&reservation->kref);
	}
	up_write(&reservation->lock);
	return good ? reservation : ERR_PTR(-EINVAL);
}

/*
 * The file's mmap(): makes a reservation, which is all of the VMA; or (MEMCAST_MMAP_TAIL) the tail
 * of one. With mmap_lock.
 */
int mc_reservation_mmap(struct file *file, struct vm_area_struct *vma)
{
	const unsigned long access = VM_SHARED | VM_READ | VM_WRITE;
	unsigned long pgoff = vma->vm_pgoff & ~(MEMCAST_MMAP_TAIL >> PAGE_SHIFT);
	/* a multiple of a chunk, as addresses are aligned as offsets are */
	unsigned long key = pgoff >> MC_CHUNK_ORDER;
	struct mc_client *client = file->private_data;
	struct mc_reservation *reservation;
	bool tail = vma->vm_pgoff != pgoff;

	if (client->mm != vma->vm_mm)
		return -ESRCH;
	if (READ_ONCE(client->lost))
		return -EHOSTDOWN;
	if (mc_vma_wants_exec(vma) || (vma->vm_flags & access) != access ||
	    pgoff != key << MC_CHUNK_ORDER || !mc_key_exists(key) ||
	    !IS_ALIGNED(vma->vm_start, MC_CHUNK_SIZE))
		return -EINVAL;
	reservation = tail ? tail_new(client, vma) : reservation_new(client, vma);
	if (IS_ERR(reservation))
		return PTR_ERR(reservation);

	mc_vma_set_key(vma, key);
	vma->vm_pgoff = vma->vm_start >> PAGE_SHIFT;
	/* VM_IO: else MADV_DOFORK could undo VM_DONTCOPY */
	mc_vma_flags(vma, VM_PFNMAP | VM_IO | VM_DONTEXPAND | VM_DONTCOPY |
		     VM_DONTDUMP, VM_EXEC | VM_MAYEXEC);
	vma->vm_private_data = reservation;
	vma->vm_ops = tail ? &tail_ops : &reservation_ops;
	return 0;
}

/* MEMCAST_CLIENT_PROTECT: the protection key of what heaps map of devices' memory. */
int mc_client_protect(struct mc_call *call)
{
	struct memcast_client_protect *protect = call->arg;

	if (protect->reserved)
		return mc_fail(call, -EINVAL, "reserved field is not zero");
	if (!mc_key_exists(protect->key))
		return mc_fail(call, -EINVAL, "the machine has no protection key %u", protect->key);
	WRITE_ONCE(call->client->protection, protect->key);
	return 0;
}

static int reservation_retire(struct mc_call *call,
			      struct mc_reservation *reservation)
{
	struct memcast_reservation_free *free = call->arg;
	int ret;

	ret = mc_reservation_lock(call, reservation, free->address);
	if (ret)
		return ret;
	if (free->address != reservation->start ||
	    free->bytes != reservation->end - reservation->start)
		ret = mc_fail(call, -EINVAL,
			      "the reservation there is %#lx, %lu bytes",
			      reservation->start,
			      reservation->end - reservation->start);
	else if (reservation->retiring || reservation->dead)
		ret = mc_fail(call, -EINVAL, "the reservation has been freed");
	else if (!(free->flags & MEMCAST_FREE_MAPPED) &&
		 !RB_EMPTY_ROOT(&reservation->mappings.rb_root))
		ret = mc_fail(call, -EINVAL, "something is still mapped in it");
	else
		reservation->retiring = true;
	up_write(&reservation->lock);
	return ret;
}

/* munmap() has failed: the reservation goes on as before, as a failed call changes nothing. */
static int reservation_stays(struct mc_call *call,
			     struct mc_reservation *reservation, int error)
{
	down_write(&reservation->lock);
	reservation->retiring = false;
	up_write(&reservation->lock);
	return mc_fail(call, error == -EPERM ? -EINVAL : error,
		       "munmap() refused (errno %d)", -error);
}

/* MEMCAST_RESERVATION_FREE: unmap a whole reservation, or change nothing. */
int mc_reservation_free(struct mc_call *call)
{
	struct memcast_reservation_free *free = call->arg;
	struct mc_reservation *reservation;
	int ret, error;

	if (free->flags & ~MEMCAST_FREE_MAPPED || free->reserved)
		return mc_fail(call, -EINVAL, "unknown flags or reserved fields");
	reservation = mc_reservation_at(call, free->address);
	if (IS_ERR(reservation))
		return PTR_ERR(reservation);
	ret = reservation_retire(call, reservation);
	if (!ret) {
		error = vm_munmap(free->address, free->bytes);
		if (error)
			ret = reservation_stays(call, reservation, error);
	}
	mc_reservation_put(reservation);
	return ret;
}

static int reaches_to(const void *from, const struct rb_node *node)
{
	const struct mc_reservation *reservation =
		rb_entry(node, struct mc_reservation, of_client);

	lockdep_assert_held(&reservation->client->reservations_lock);
	return READ_ONCE(reservation->reach) <= *(const unsigned long *)from;
}

/*
 * Return: the first reservation of a client that reaches behind an address, held; or NULL. The
 * client is held. Its process may hold mmap_lock for ever, so this does without it: the VMA may be
 * about to come, or have gone, and then nothing is mapped there.
 */
struct mc_reservation *mc_reservation_next(struct mc_client *client, unsigned long from)
{
	struct mc_reservation *reservation = NULL;
	struct rb_node *node;

	spin_lock(&client->reservations_lock);
	node = rb_find_first(&from, &client->reservations, reaches_to);
	if (node) {
		reservation = rb_entry(node, struct mc_reservation, of_client);
		kref_get(&reservation->kref);
	}
	spin_unlock(&client->reservations_lock);
	return reservation;
}

/*
 * Removes all mappings of a client that has ended, or (@host_lost) all that go with its host; no
 * call of it that is under way makes another, nor does one in a reservation that comes meanwhile.
 * The caller ends the client once more, for what was mapped. It waits for no program.
 */
void mc_client_unmap(struct mc_client *client, bool host_lost)
{
	struct mc_reservation *reservation;
	unsigned long from = 0;
	LIST_HEAD(ended);

	while ((reservation = mc_reservation_next(client, from))) {
		if (!host_lost || !READ_ONCE(reservation->lasting))
			mc_mappings_undo(reservation, &ended);
		from = READ_ONCE(reservation->reach);
		mc_reservation_put(reservation);
		cond_resched();
	}
	mc_client_end_objects(client, &ended);
}

static int may_split(struct vm_area_struct *vma, unsigned long address)
{
	return -EINVAL;
}

static int no_mremap(struct vm_area_struct *vma)
{
	return -EINVAL;
}

static const struct vm_operations_struct reservation_ops = {
	.open = reservation_open,
	.close = reservation_close,
	.may_split = may_split,
	.mremap = no_mremap,
	.fault = mc_fault,
#ifdef MC_HUGE_FAULT_ORDER
	.huge_fault = mc_huge_fault,
#endif
	.pfn_mkwrite = mc_pfn_mkwrite,
	.access = mc_vma_access,
};

static const struct vm_operations_struct tail_ops = {
	.open = reservation_open,
	.close = tail_close,
	.may_split = may_split,
	.mremap = no_mremap,
	.fault = mc_fault,
#ifdef MC_HUGE_FAULT_ORDER
	.huge_fault = mc_huge_fault,
#endif
	.pfn_mkwrite = mc_pfn_mkwrite,
	.access = mc_vma_access,
};
