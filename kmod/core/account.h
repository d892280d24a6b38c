/* SPDX-License-Identifier: GPL-2.0-only */
/* Accounts: the machine's memory that each user takes; see account.c. */
#ifndef _MC_ACCOUNT_H
#define _MC_ACCOUNT_H

#include <linux/atomic.h>
#include <linux/log2.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uidgid.h>

struct mc_call;

/* Bytes that an account takes in advance, its credit; it keeps up to twice as many. */
#define MC_CREDIT	SZ_64K

/* Bytes of a file that has no inode of its own: the struct file, and its name */
#define MC_FILE_BYTES	512

struct mc_account {
	struct list_head list;		/* in the list of all accounts */
	kuid_t user;
	bool unlimited;			/* but for what all users may take together */
	atomic_long_t taken;		/* bytes, credit included */
	atomic_long_t credit;		/* bytes of those that are not charged yet */
	atomic_long_t lazy;		/* chunks of lazy pools, in this user's memories */
	unsigned int slots;		/* of the fabric, for its teams; see fabric.c; lockless */
};

struct mc_account *mc_account_get(void);
void mc_accounts_exit(void);
long mc_accounts_used(void);

extern unsigned long mc_pool_pages;	/* pages that all pools promise; lockless */
extern unsigned long mc_pool_most;	/* pages that they may take; lockless */
void mc_accounts_show(struct seq_file *out);

int mc_charge_more(struct mc_call *call, struct mc_account *account, unsigned long bytes);
void mc_uncharge_more(struct mc_account *account, long keep);
void *mc_alloc_large(struct mc_call *call, unsigned long bytes);
void mc_free_large(struct mc_account *account, void *memory, unsigned long bytes);
int mc_check_left(struct mc_call *call);
struct page *mc_pages_alloc(struct mc_account *account, gfp_t flags, unsigned int order);

static inline bool mc_charge_credit(struct mc_account *account, unsigned long bytes)
{
	long credit = atomic_long_read(&account->credit);

	do {
		if (credit < 0 || credit < bytes)
			return false;
	} while (!atomic_long_try_cmpxchg(&account->credit, &credit, credit - bytes));
	return true;
}

/**
 * mc_charge() - count memory before it is taken
 * @call: for the reason if it fails, or NULL
 * @account: the account that pays
 * @bytes: how much
 *
 * Return: 0, or -ENOMEM.
 */
static inline int mc_charge(struct mc_call *call, struct mc_account *account,
			    unsigned long bytes)
{
	return mc_charge_credit(account, bytes) ? 0 : mc_charge_more(call, account, bytes);
}

/* Takes memory that was given back off the account. */
static inline void mc_uncharge(struct mc_account *account, unsigned long bytes)
{
	if (atomic_long_add_return(bytes, &account->credit) > 2 * MC_CREDIT)
		mc_uncharge_more(account, MC_CREDIT);
}

/* The size that a slab rounds a struct up to, or a little more */
static __always_inline unsigned long mc_cost(size_t bytes)
{
	return roundup_pow_of_two(bytes);
}

/**
 * mc_alloc() - a zeroed struct of a constant size
 * @call: for the reason if it fails, or NULL
 * @account: charged with it
 * @bytes: how much; mc_free() takes the same
 *
 * Return: the memory, or NULL.
 */
static __always_inline void *mc_alloc(struct mc_call *call, struct mc_account *account,
				      size_t bytes)
{
	void *memory;

	if (mc_charge(call, account, mc_cost(bytes)))
		return NULL;
	memory = kzalloc(bytes, GFP_KERNEL_ACCOUNT);
	if (!memory)
		mc_uncharge(account, mc_cost(bytes));
	return memory;
}

/* Frees a struct of mc_alloc(), of the same size. */
static __always_inline void mc_free(struct mc_account *account, const void *memory,
				    size_t bytes)
{
	kfree(memory);
	mc_uncharge(account, mc_cost(bytes));
}

#endif /* _MC_ACCOUNT_H */
