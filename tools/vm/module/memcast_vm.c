// SPDX-License-Identifier: GPL-2.0-only
/*
 * For emulated machines: writes to the kernel's own text are made a second time.
 *
 * Linux changes an instruction that processors run (a tracepoint's, a static key's) in steps: a
 * breakpoint over the first byte, the other bytes, the first byte. After each step it synchronises
 * all processors. QEMU drops a translation of text before the text changes: a processor that
 * translates the text anew just then gets the old text, and QEMU never drops that translation.
 * After the last step the old text is the breakpoint, of which Linux knows nothing any more:
 * linux 6.12 panics ("Oops: int3"), 6.1 runs into the breakpoint for ever.
 *
 * So, when Linux is about to synchronise the processors, this module does so first. Translations
 * that were going on are complete then. The module writes the same bytes again, and QEMU drops all
 * translations of them. A later translation can only be of the new text.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <linux/uaccess.h>

/* As many writes as Linux makes before it synchronises the processors */
#define WRITES		256
#define INSTRUCTION_MAX	16	/* bytes; longer writes are new text, which no processor runs yet */
#define ENDBR_BYTES	4	/* at a function's start, in kernels that have them */

typedef void *(*poke_t)(void (*copy)(void *to, const void *from, size_t bytes), void *at,
			const void *from, size_t bytes);

/* Writes since the last synchronisation. All functions here run under Linux's text_mutex. */
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

/* Linux synchronises all processors with this function. Its address is needed; it is not probed. */
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

/* Probes do not nest, so that note_write() does not see these writes. */
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

/* on_each_cpu_cond_mask(condition, function, …), which on_each_cpu() calls */
static struct kprobe each = {
	.symbol_name	= "on_each_cpu_cond_mask",
	.pre_handler	= write_again,
};

static int __init start(void)
{
	struct kprobe *probes[] = { &notice, &each, &poke };
	int ret = register_kprobes(probes, ARRAY_SIZE(probes));

	/* A kernel without these functions runs as it does without this module. */
	if (ret)
		pr_info("memcast_vm: no probes (%d): text of the kernel is written once\n", ret);
	return 0;
}

module_init(start);
MODULE_DESCRIPTION("For memcast-vm's emulated machines: writes to the kernel's text happen twice");
MODULE_LICENSE("GPL");
