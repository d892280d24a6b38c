// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accounts: the machine's memory that each user takes by way of the module. That is
 * host memory, the pages of teams' dma-bufs, and the structs behind whatever a call
 * makes. Devices' pools do not count: they were taken when the module was loaded, or (lazy
 * ones) have a limit of their own.
 *
 * All of it is charged to memory cgroups as well, but an ordinary user of most machines
 * has no limit there. Nobody can swap this memory out, and killing the process that
 * caused it may not free it, as it can be shared; so without a limit here the kernel
 * would kill other programs for want of memory.
 *
 * An account takes a little more than is needed, its credit, so that most charges look
 * at nothing else. Accounts stay until the module goes: there are as many as users.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/module.h>
#include <linux/user_namespace.h>
#include "core.h"

static unsigned long host_max_mib;
module_param(host_max_mib, ulong, 0644);
MODULE_PARM_DESC(host_max_mib, "MiB that all programs together may take outside of the pools (default 0: three quarters of what the pools leave)");

static unsigned long host_user_mib;
module_param(host_user_mib, ulong, 0644);
MODULE_PARM_DESC(host_user_mib, "MiB of these that one user may take who has not CAP_IPC_LOCK (default 0: half of what the pools leave)");

unsigned long mc_pool_pages, mc_pool_most = ULONG_MAX;

/* Protects the list, which only grows. */
static DEFINE_MUTEX(accounts_lock);
static LIST_HEAD(accounts);
static atomic_long_t all_taken;

/* Return: the bytes that one user may take; with @unlimited: that all users may take together. */
static unsigned long limit(bool unlimited)
{
	unsigned long mib = unlimited ? READ_ONCE(host_max_mib) : READ_ONCE(host_user_mib);
	unsigned long pools = min(READ_ONCE(mc_pool_pages), READ_ONCE(mc_pool_most));
	unsigned long pages = totalram_pages();

	if (mib)
		return min(mib, (unsigned long)LONG_MAX >> 20) << 20;
	return (pages - min(pages, pools)) / 4 * (unlimited ? 3 : 2) << PAGE_SHIFT;
}

static bool add_below(atomic_long_t *sum, unsigned long bytes, unsigned long limit)
{
	long now = atomic_long_read(sum);

	do {
		if (now > limit || bytes > limit - now)
			return false;
	} while (!atomic_long_try_cmpxchg(sum, &now, now + bytes));
	return true;
}

static int refuse(struct mc_call *call, const char *takers, const char *parameter,
		  const atomic_long_t *sum, unsigned long limit, unsigned long bytes)
{
	if (!call)
		return -ENOMEM;
	return mc_fail(call, -ENOMEM,
		       "%lu bytes are too many: %s have %lu of %lu MiB of the machine's memory (parameter %s)",
		       bytes, takers, atomic_long_read(sum) >> 20, limit >> 20, parameter);
}

static int take(struct mc_call *call, struct mc_account *account, unsigned long bytes)
{
	unsigned long most = limit(false);

	/* the user's limit first: a user who is over it must not be in the way of others */
	if (account->unlimited)
		atomic_long_add(bytes, &account->taken);
	else if (!add_below(&account->taken, bytes, most))
		return refuse(call, "this user's programs", "host_user_mib",
			      &account->taken, most, bytes);
	most = limit(true);
	if (add_below(&all_taken, bytes, most))
		return 0;
	atomic_long_sub(bytes, &account->taken);
	return refuse(call, "all programs", "host_max_mib", &all_taken, most, bytes);
}

/* As mc_charge(), where the account's credit does not suffice. */
int mc_charge_more(struct mc_call *call, struct mc_account *account, unsigned long bytes)
{
	int ret = mc_check_left(call);

	/* This also bounds what the kernel takes uncharged, such as nodes of xarrays. */
	if (ret)
		return ret;
	if (!take(NULL, account, bytes + MC_CREDIT)) {
		atomic_long_add(MC_CREDIT, &account->credit);
		return 0;
	}
	ret = take(call, account, bytes);
	/* other threads may have given back, or taken, since */
	return ret && mc_charge_credit(account, bytes) ? 0 : ret;
}

/* Gives the part of an account's credit above @keep bytes back. */
void mc_uncharge_more(struct mc_account *account, long keep)
{
	long credit = atomic_long_read(&account->credit);

	do {
		if (credit <= keep)
			return;
	} while (!atomic_long_try_cmpxchg(&account->credit, &credit, keep));
	atomic_long_sub(credit - keep, &all_taken);
	atomic_long_sub(credit - keep, &account->taken);
}

/*
 * kvzalloc() asks kmalloc() first, which rounds up to a slab's size or to a power of two
 * pages. Where kmalloc() has none, it takes single pages; they are charged as if it had.
 */
static unsigned long large_cost(unsigned long bytes)
{
	return bytes > KMALLOC_MAX_SIZE ? PAGE_ALIGN(bytes) : roundup_pow_of_two(bytes);
}

/* As mc_alloc(), for a struct with an array. mc_free_large() takes the same number of bytes. */
void *mc_alloc_large(struct mc_call *call, unsigned long bytes)
{
	struct mc_account *account = call->client->account;
	void *memory;

	/* kvzalloc() would warn; the pages of 1 TiB of foreign memory need that much */
	if (bytes > INT_MAX || mc_charge(call, account, large_cost(bytes)))
		return NULL;
	memory = kvzalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!memory)
		mc_uncharge(account, large_cost(bytes));
	return memory;
}

/* Frees what mc_alloc_large() gave, and takes it off the account. @bytes are the same. */
void mc_free_large(struct mc_account *account, void *memory, unsigned long bytes)
{
	kvfree(memory);
	mc_uncharge(account, large_cost(bytes));
}

/**
 * mc_check_left() - leave the machine a sixteenth of its memory
 * @call: for the reason if it fails, or NULL
 *
 * Callers ask before each charge, and before each chunk of a long allocation. Limits do not
 * help where other programs have taken most of the memory: the kernel would kill one of them.
 *
 * Return: 0, or -ENOMEM.
 */
int mc_check_left(struct mc_call *call)
{
	unsigned long left = si_mem_available();

	if (left > totalram_pages() / 16)
		return 0;
	return call ? mc_fail(call, -ENOMEM,
			      "the machine has only %lu MiB of memory left for all its programs",
			      left >> (20 - PAGE_SHIFT)) : -ENOMEM;
}

/* Return: 2^@order pages, charged to the account; or NULL. */
struct page *mc_pages_alloc(struct mc_account *account, gfp_t flags, unsigned int order)
{
	struct page *page;

	if (mc_check_left(NULL) || mc_charge(NULL, account, PAGE_SIZE << order))
		return NULL;
	page = alloc_pages(flags, order);
	if (!page)
		mc_uncharge(account, PAGE_SIZE << order);
	return page;
}

/*
 * Return: the user that pays for the current process: in user namespaces, the one who made the
 * outermost. Else a user who makes namespaces would have the limits of all users in them.
 */
static kuid_t payer(void)
{
	const struct user_namespace *namespace = current_user_ns();
	kuid_t user = current_uid();

	for (; namespace->parent; namespace = namespace->parent)
		user = namespace->owner;
	return user;
}

static struct mc_account *account_find(kuid_t user, bool unlimited)
{
	struct mc_account *account;

	lockdep_assert_held(&accounts_lock);
	list_for_each_entry(account, &accounts, list)
		if (uid_eq(account->user, user) && account->unlimited == unlimited)
			return account;
	return NULL;
}

/* Return: the account of the current process's user, which stays until the module goes; or NULL. */
struct mc_account *mc_account_get(void)
{
	/* most users lack it: that is no event for the audit log, nor use of a privilege */
	bool unlimited = has_capability_noaudit(current, CAP_IPC_LOCK);
	kuid_t user = payer();
	struct mc_account *account;

	mutex_lock(&accounts_lock);
	account = account_find(user, unlimited);
	if (!account) {
		/* not charged: it would keep the cgroup of the user's first program */
		account = kzalloc(sizeof(*account), GFP_KERNEL);
		if (account) {
			account->user = user;
			account->unlimited = unlimited;
			list_add(&account->list, &accounts);
		}
	}
	mutex_unlock(&accounts_lock);
	return account;
}

/* Frees all accounts. The module goes, so nothing is charged any more. */
void mc_accounts_exit(void)
{
	struct mc_account *account, *next;

	list_for_each_entry_safe(account, next, &accounts, list) {
		mc_uncharge_more(account, 0);
		WARN_ON(atomic_long_read(&account->taken));
		kfree(account);
	}
}

static long used(const struct mc_account *account)
{
	return atomic_long_read(&account->taken) - atomic_long_read(&account->credit);
}

/* Return: the bytes that are charged to all accounts. */
long mc_accounts_used(void)
{
	struct mc_account *account;
	long bytes = 0;

	mutex_lock(&accounts_lock);
	list_for_each_entry(account, &accounts, list)
		bytes += used(account);
	mutex_unlock(&accounts_lock);
	return bytes;
}

/* Prints a line for each user with charged bytes: the user, the bytes, slots and the limit. */
void mc_accounts_show(struct seq_file *out)
{
	struct mc_account *account;

	mutex_lock(&accounts_lock);
	list_for_each_entry(account, &accounts, list) {
		if (!used(account))
			continue;
		seq_printf(out, "user %u bytes %ld slots %u limit ",
			   from_kuid_munged(seq_user_ns(out), account->user), used(account),
			   READ_ONCE(account->slots));
		if (account->unlimited)
			seq_puts(out, "none\n");
		else
			seq_printf(out, "%lu\n", limit(false));
	}
	mutex_unlock(&accounts_lock);
}
