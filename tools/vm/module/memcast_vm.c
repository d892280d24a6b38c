// SPDX-License-Identifier: GPL-2.0-only
/*
 * For emulated machines: what Linux writes over its own text is written a second time.
 *
 * Linux changes an instruction that processors run (a tracepoint's, a static key's) in steps: a
 * breakpoint over the first byte, the other bytes, the first byte. After each step it has all
 * processors take notice. QEMU forgets a translation of text before the text changes: a
 * processor that translates it anew just then has what was there before, and nothing makes QEMU
 * forget that. Of the last step it is the breakpoint, of which Linux knows nothing any more:
 * linux 6.12 panics ("Oops: int3"), 6.1 runs into it for ever.
 *
 * So, when Linux is about to have the processors take notice, they do so here first. Whatever
 * they were translating is complete then; the same bytes are written again, and QEMU forgets
 * all translations of them. A later one can only be of what is there now.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <linux/uaccess.h>

/* As many as Linux writes before it has the processors take notice */
#define WRITES		256
#define INSTRUCTION_MAX	16	/* bytes; more are new text, which nothing runs yet */
#define ENDBR_BYTES	4	/* at a function's start, where the kernel has them */

typedef void *(*poke_t)(void (*copy)(void *to, const void *from, size_t bytes), void *at,
			const void *from, size_t bytes);

/* What was written since they last did. Linux's text_mutex is held by all that comes here. */
static struct write {
	void *at;
	size_t bytes;
} writes[WRITES];

static unsigned int count;

static int note_write(struct kprobe *probe, struct pt_regs *regs)
{
	if (count < WRITES && regs->cx <= INSTRUCTION_MAX)
		writes[count++] = (struct write){ (void *)regs->si, regs->cx };
	return 0;
}

/* __text_poke(copy, at, from, bytes) */
static struct kprobe poke = {
	.symbol_name	= "__text_poke",
	.pre_handler	= note_write,
};

/* With this function Linux has all processors take notice. It is looked up, not probed. */
static struct kprobe notice = {
	.symbol_name	= "do_sync_core",
	.flags		= KPROBE_FLAG_DISABLED,
};

static void copy(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
}

static void take_notice(void *unused)
{
}

/* A probe is not entered within another one: these writes are not noted. */
static int write_again(struct kprobe *probe, struct pt_regs *regs)
{
	char bytes[INSTRUCTION_MAX];

	if ((unsigned long)notice.addr - regs->si > ENDBR_BYTES || irqs_disabled())
		return 0;
	on_each_cpu(take_notice, NULL, true);
	while (count) {
		const struct write *write = &writes[--count];

		/* A module may have been unloaded since. */
		if (!copy_from_kernel_nofault(bytes, write->at, write->bytes))
			((poke_t)poke.addr)(copy, write->at, bytes, write->bytes);
	}
	return 0;
}

/* on_each_cpu_cond_mask(condition, function, …): on_each_cpu() is this */
static struct kprobe each = {
	.symbol_name	= "on_each_cpu_cond_mask",
	.pre_handler	= write_again,
};

static int __init start(void)
{
	struct kprobe *probes[] = { &notice, &each, &poke };
	int ret = register_kprobes(probes, ARRAY_SIZE(probes));

	/* Such a kernel runs as it would without this module. */
	if (ret)
		pr_info("memcast_vm: no probes (%d): text of the kernel is written once\n", ret);
	return 0;
}

module_init(start);
MODULE_DESCRIPTION("For memcast-vm's emulated machines: writes to the kernel's text happen twice");
MODULE_LICENSE("GPL");
