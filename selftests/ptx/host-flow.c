// SPDX-License-Identifier: MIT
/*
 * The translator of PTX, without a device: registers that are values, or begin as zeros; checks of
 * addresses that are left out where others have seen them; loops that wait; stacks of functions that
 * are called through pointers.
 *
 *	host-flow MEMCAST-PTX.SO
 */
#include <stdlib.h>
#include <sys/resource.h>

#define GROUP "flow"
#include "translate.h"

#define MISALIGNED	716
#define ILLEGAL_ADDRESS	700
#define THREADS		64

/* Runs kernel k of a text with one parameter, an address. Return: how the launch ended */
static int run_text(const char *text, void *parameter, char *reason, size_t size)
{
	struct ptx_code *code;
	struct ptx_log log;
	int result = load(text, strlen(text), &code, &log);

	if (result) {
		snprintf(reason, size, "%.200s", log.text);
		return result;
	}
	result = run(code, "k", THREADS, &parameter, reason, size);
	object->code_free(code);
	return result;
}

/* A kernel that leaves %r0 of each thread in an array; it may wait, so each thread is a fiber. */
#define KERNEL(body)									\
	HEAD ".visible .entry k(.param .u64 o) { .reg .pred %p<9>; .reg .b32 %r<99>; "	\
	".reg .b64 %d<99>; .reg .f32 %f<9>; bar.sync 0; ld.param.u64 %d90, [o]; "	\
	"mov.u32 %r90, %tid.x; mad.wide.u32 %d91, %r90, 4, %d90; " body			\
	" st.global.u32 [%d91], %r0; ret; }\n"

/* 1 for 0, else the sum of what both functions give for one less */
#define RECURSES "{ .reg .pred p; .reg .u32 m, x, y; mov.u32 r, 1; setp.eq.u32 p, n, 0; @p ret; "	\
		 "sub.u32 m, n, 1; call (x), a, (m); call (y), b, (m); add.u32 r, x, y; ret; }\n"

/* What thread i is to find: @first in threads below 32, @second in others; + @each * i */
static const struct {
	const char *name, *text;
	uint32_t first, second, each;
} values[] = {
	{ "once", KERNEL("add.u32 %r1, %r90, 5; add.u32 %r2, %r1, %r1; mov.u32 %r0, %r2;"),
	  10, 10, 2 },
	/* written on one way only: 0 on the other one */
	{ "one_way", KERNEL("setp.lt.u32 %p1, %r90, 32; @%p1 bra L; mov.u32 %r1, 7; L: "
			    "mov.u32 %r0, %r1;"), 0, 7, 0 },
	{ "guarded", KERNEL("setp.lt.u32 %p1, %r90, 32; @!%p1 mov.u32 %r1, 7; mov.u32 %r0, %r1;"),
	  0, 7, 0 },
	{ "never", KERNEL("mov.u32 %r0, %r1; @%p1 mov.u32 %r0, 3;"), 0, 0, 0 },
	{ "both_ways", KERNEL("setp.lt.u32 %p1, %r90, 32; @%p1 bra L; mov.u32 %r1, 7; bra M; L: "
			      "mov.u32 %r1, 8; M: mov.u32 %r0, %r1;"), 8, 7, 0 },
	/* a write that stands behind its read in the text, and runs before it */
	{ "behind", KERNEL("bra A; B: add.u32 %r0, %r1, 1; bra C; A: add.u32 %r1, %r90, 4; bra B; "
			   "C: "), 5, 5, 1 },
	{ "loop", KERNEL("mov.u32 %r1, 0; mov.u32 %r0, 0; L: add.u32 %r2, %r1, 1; "
			 "add.u32 %r0, %r0, %r2; mov.u32 %r1, %r2; setp.lt.u32 %p1, %r1, 4; "
			 "@%p1 bra L;"), 10, 10, 0 },
	/* in the first round, what the last one has left is 0 */
	{ "last_round", KERNEL("mov.u32 %r1, 0; mov.u32 %r0, 100; L: add.u32 %r0, %r0, %r3; "
			       "add.u32 %r3, %r1, 1; add.u32 %r1, %r1, 1; "
			       "setp.lt.u32 %p1, %r1, 4; @%p1 bra L;"), 106, 106, 0 },
	{ "itself", KERNEL("add.u32 %r1, %r1, 1; mov.u32 %r0, %r1;"), 1, 1, 0 },
	{ "pair", KERNEL("mov.b64 %d1, 0x700000005; mov.b64 {%r1, %r2}, %d1; "
			 "sub.u32 %r0, %r2, %r1;"), 2, 2, 0 },
	{ "two_predicates", KERNEL("setp.lt.u32 %p1|%p2, %r90, 32; selp.u32 %r1, 1, 0, %p1; "
				   "selp.u32 %r2, 10, 0, %p2; add.u32 %r0, %r1, %r2;"), 1, 10, 0 },
	{ "table", KERNEL("setp.lt.u32 %p1, %r90, 32; selp.u32 %r1, 0, 1, %p1; "
			  "T: .branchtargets A, B; brx.idx %r1, T; A: mov.u32 %r2, 4; bra C; "
			  "B: mov.u32 %r2, 6; bra C; C: mov.u32 %r0, %r2;"), 4, 6, 0 },
	{ "result", HEAD ".func (.reg .u32 r) f(.reg .u32 a) { add.u32 r, a, 3; ret; }\n"
		    ".visible .entry k(.param .u64 o) { .reg .b32 %r<9>; .reg .b64 %d<9>; "
		    "bar.sync 0; ld.param.u64 %d1, [o]; mov.u32 %r1, %tid.x; "
		    "mad.wide.u32 %d2, %r1, 4, %d1; call (%r2), f, (%r1); "
		    "st.global.u32 [%d2], %r2; ret; }\n", 3, 3, 1 },
	/* the ways through functions that call each other are too many to follow each */
	{ "recursion", HEAD ".func (.reg .u32 r) b(.reg .u32 n);\n"
		       ".func (.reg .u32 r) a(.reg .u32 n) " RECURSES
		       ".func (.reg .u32 r) b(.reg .u32 n) " RECURSES
		       ".visible .entry k(.param .u64 o) { .reg .b32 %r<9>; .reg .b64 %d<9>; "
		       "bar.sync 0; ld.param.u64 %d1, [o]; mov.u32 %r1, %tid.x; mov.u32 %r3, 3; "
		       "mad.wide.u32 %d2, %r1, 4, %d1; call (%r2), a, (%r3); "
		       "st.global.u32 [%d2], %r2; ret; }\n", 8, 8, 0 },
};

static void value(uint32_t i)
{
	uint32_t out[THREADS] = {};
	char why[700], reason[500];
	int result = run_text(values[i].text, out, reason, sizeof(reason));
	bool good = !result;

	snprintf(why, sizeof(why), "result %d: %s", result, reason);
	for (uint32_t thread = 0; thread < THREADS && good; thread++) {
		uint32_t want = (thread < 32 ? values[i].first : values[i].second) +
				values[i].each * thread;

		good = out[thread] == want;
		snprintf(why, sizeof(why), "thread %u has %u, not %u", thread, out[thread], want);
	}
	told(values[i].name, good, why);
}

/* Accesses of 4 and 8 bytes: the last one of each is misaligned, or none is. */
static const struct {
	const char *name, *text;
	int result;
} addresses[] = {
	{ "sums", KERNEL("ld.global.u32 %r0, [%d90]; add.s64 %d1, %d90, 8; "
			 "ld.global.u32 %r0, [%d1]; add.s64 %d2, %d1, 12; "
			 "ld.global.u32 %r0, [%d2+4];"), 0 },
	{ "sum_is_not", KERNEL("ld.global.u32 %r0, [%d90]; add.s64 %d1, %d90, 8; "
			       "ld.global.u32 %r0, [%d1]; add.s64 %d2, %d1, 2; "
			       "ld.global.u32 %r0, [%d2];"), MISALIGNED },
	{ "wider", KERNEL("ld.global.u32 %r0, [%d90+4]; ld.global.u64 %d2, [%d90+4];"),
	  MISALIGNED },
	{ "changed_register", KERNEL("ld.global.u32 %r0, [%d90]; add.s64 %d90, %d90, 1; "
				     "ld.global.u32 %r0, [%d90];"), MISALIGNED },
	{ "changed_base", KERNEL("add.s64 %d1, %d90, 4; ld.global.u32 %r0, [%d1]; "
				 "add.s64 %d90, %d90, 1; add.s64 %d2, %d90, 4; "
				 "ld.global.u32 %r0, [%d2];"), MISALIGNED },
	{ "old_sum", KERNEL("add.s64 %d1, %d90, 2; add.s64 %d90, %d90, 2; "
			    "ld.global.u32 %r0, [%d90+2]; ld.global.u32 %r0, [%d1];"), MISALIGNED },
	{ "other_way", KERNEL("add.s64 %d1, %d90, 1; setp.lt.u32 %p1, %r90, 99; @%p1 bra L; "
			      "ld.global.u32 %r0, [%d1]; L: ld.global.u32 %r0, [%d1];"),
	  MISALIGNED },
	{ "guarded_address", KERNEL("add.s64 %d1, %d90, 1; setp.gt.u32 %p1, %r90, 99; "
				    "@%p1 ld.global.u32 %r0, [%d1]; ld.global.u32 %r0, [%d1];"),
	  MISALIGNED },
	{ "guarded_sum", KERNEL("setp.lt.u32 %p1, %r90, 99; ld.global.u32 %r0, [%d90]; "
				"add.s64 %d1, %d90, 4; @%p1 add.s64 %d1, %d90, 1; "
				"ld.global.u32 %r0, [%d1];"), MISALIGNED },
	{ "element", KERNEL(".reg .v2 .b64 %v; add.s64 %d1, %d90, 1; mov.b64 %v.x, %d90; "
			    "mov.b64 %v.y, %d1; add.s64 %d2, %v.x, 4; ld.global.u32 %r0, [%d2]; "
			    "add.s64 %d3, %v.y, 4; ld.global.u32 %r0, [%d3];"), MISALIGNED },
};

static void address(uint32_t i)
{
	uint64_t out[THREADS + 8] = {};
	char why[700], reason[500];
	int result = run_text(addresses[i].text, out, reason, sizeof(reason));

	snprintf(why, sizeof(why), "result %d, not %d: %s", result, addresses[i].result, reason);
	told(addresses[i].name, result == addresses[i].result, why);
}

/*
 * Loops of some turns, which a branch ends by what they have read. A thread that is taken to wait
 * sleeps each time that it polls, or meets others; it polls in each 33rd turn.
 */
#define TURNS(turns, begin, body)							\
	KERNEL(begin " mov.u32 %r1, 0; L: " body " and.b32 %r3, %r3, 0; "		\
	       "add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, 1; "				\
	       "setp.lt.u32 %p1, %r1, " #turns "; @%p1 bra L;")
#define ATOMS(one, other)								\
	TURNS(60000, "", "atom.global." one "; atom.global." other ";")
#define WIDE(operation, one, other)							\
	TURNS(60000, "add.u64 %d1, %d90, 1024; .reg .b128 %q<4>; mov.b64 %d2, 0; "	\
	      "mov.b64 %d3, 1; mov.b128 %q1, {%d2, %d2}; mov.b128 %q2, {%d2, %d3};",	\
	      "atom.global." operation ".b128 %q3, [%d1], " one "; "			\
	      "atom.global." operation ".b128 %q3, [%d1], " other "; "			\
	      "mov.b128 {%d4, %d5}, %q3; cvt.u32.u64 %r3, %d4;")
#define LOOK		"ld.volatile.global.u32 %r3, [%d91]; "

#define SLEEPS		500

static const struct {
	const char *name, *text;
	bool waits;
} loops[] = {
	/* both together leave the word as it was */
	{ "add_and_subtract", ATOMS("add.u32 %r3, [%d91], 1", "add.u32 %r3, [%d91], -1"), false },
	{ "add_floats", ATOMS("add.f32 %f1, [%d91], 0f3f800000",
			      "add.f32 %f1, [%d91], 0fbf800000; mov.b32 %r3, %f1"), false },
	{ "exchange", ATOMS("exch.b32 %r3, [%d91], 1", "exch.b32 %r3, [%d91], 0"), false },
	{ "exchange_128", WIDE("exch", "%q2", "%q1"), false },
	{ "lock_and_unlock", ATOMS("cas.b32 %r3, [%d91], 0, 1", "exch.b32 %r3, [%d91], 0"), false },
	{ "lock_and_unlock_128", WIDE("cas", "%q1, %q2", "%q2, %q1"), false },
	{ "count_up", ATOMS("inc.u32 %r3, [%d91], 1", "inc.u32 %r3, [%d91], 1"), false },
	{ "count_down", ATOMS("dec.u32 %r3, [%d91], 1", "dec.u32 %r3, [%d91], 1"), false },
	{ "or_and_xor", ATOMS("or.b32 %r3, [%d91], 1", "xor.b32 %r3, [%d91], 1"), false },
	{ "max_and_min", ATOMS("max.u32 %r3, [%d91], 1", "min.u32 %r3, [%d91], 0"), false },
	/* these change nothing */
	{ "add_nothing", ATOMS("add.u32 %r3, [%d91], 0", "xor.b32 %r3, [%d91], 0"), true },
	{ "exchange_for_the_same", ATOMS("exch.b32 %r3, [%d91], 0", "or.b32 %r3, [%d91], 0"), true },
	{ "exchange_for_the_same_128", WIDE("exch", "%q1", "%q1"), true },
	{ "lock_is_held", ATOMS("cas.b32 %r3, [%d91], 1, 2", "cas.b32 %r3, [%d91], 0, 0"), true },
	{ "lock_is_held_128", WIDE("cas", "%q2, %q1", "%q1, %q1"), true },
	{ "count_to_zero", ATOMS("inc.u32 %r3, [%d91], 0", "dec.u32 %r3, [%d91], 0"), true },
	{ "and_with_all", ATOMS("and.b32 %r3, [%d91], -1", "max.s32 %r3, [%d91], -1"), true },
	{ "min_of_more", ATOMS("min.s32 %r3, [%d91], 1", "max.u32 %r3, [%d91], 0"), true },
	{ "look_and_arrive", TURNS(60000, ".shared .b64 b; mbarrier.init.shared.b64 [b], 1;", LOOK
				   "mbarrier.arrive.shared.b64 %d1, [b]; "
				   "mbarrier.arrive.shared.b64 %d1, [b];"), false },
};

static void loop(uint32_t i)
{
	char __attribute__((aligned(16))) memory[2048] = {};
	char why[700], reason[500];
	struct rusage before, after;
	long sleeps;
	int result;

	getrusage(RUSAGE_SELF, &before);
	result = run_text(loops[i].text, memory, reason, sizeof(reason));
	getrusage(RUSAGE_SELF, &after);
	sleeps = after.ru_nvcsw - before.ru_nvcsw;
	snprintf(why, sizeof(why), "result %d: %s; it has slept %ld times", result, reason, sleeps);
	told(loops[i].name, !result && (sleeps > SLEEPS) == loops[i].waits, why);
}

/*
 * A function with @bytes of local memory, called through a pointer: each thread fills it, all wait,
 * and each looks whether its own is still there.
 */
static void stack(const char *name, uint32_t bytes, int want)
{
	static const char form[] = HEAD
		".func (.param .b32 r) f(.param .b32 a) { .local .align 16 .b8 m[%u]; .reg .b64 %%d<9>; "
		".reg .b32 %%r<9>; .reg .pred %%p; ld.param.u32 %%r1, [a]; mov.u64 %%d1, m; "
		"cvta.local.u64 %%d1, %%d1; mov.u32 %%r2, 0; "
		"L: cvt.u64.u32 %%d2, %%r2; add.u64 %%d2, %%d1, %%d2; st.u32 [%%d2], %%r1; "
		"add.u32 %%r2, %%r2, 64; setp.lt.u32 %%p, %%r2, %u; @%%p bra L; bar.sync 0; "
		"mov.u32 %%r2, 0; mov.u32 %%r4, 0; "
		"M: cvt.u64.u32 %%d2, %%r2; add.u64 %%d2, %%d1, %%d2; ld.u32 %%r3, [%%d2]; "
		"setp.ne.u32 %%p, %%r3, %%r1; @%%p add.u32 %%r4, %%r4, 1; "
		"add.u32 %%r2, %%r2, 64; setp.lt.u32 %%p, %%r2, %u; @%%p bra M; "
		"st.param.b32 [r], %%r4; ret; }\n"
		".visible .entry k(.param .u64 o) { .reg .b64 %%d<9>; .reg .b32 %%r<9>; "
		"ld.param.u64 %%d1, [o]; mov.u32 %%r1, %%tid.x; mad.wide.u32 %%d2, %%r1, 4, %%d1; "
		"mov.u64 %%d3, f; { .param .b32 a; .param .b32 v; st.param.b32 [a], %%r1; "
		"P: .callprototype (.param .b32 _) _ (.param .b32 _); call (v), %%d3, (a), P; "
		"ld.param.b32 %%r2, [v]; } st.global.u32 [%%d2], %%r2; ret; }\n";
	uint32_t out[THREADS], wrong = 0;
	char text[3000], why[700], reason[500];
	int result;

	memset(out, 0xff, sizeof(out));
	snprintf(text, sizeof(text), form, bytes, bytes, bytes);
	result = run_text(text, out, reason, sizeof(reason));
	for (uint32_t i = 0; i < THREADS && !want; i++)
		wrong += out[i];
	snprintf(why, sizeof(why), "result %d, not %d: %s; %u words are wrong", result, want,
		 reason, wrong);
	told(name, result == want && !wrong && (!want || strstr(reason, "stack")), why);
}

/*
 * Labels and registers by tens of thousands: what takes a square of their number takes many
 * minutes. @second: the second sum of each block comes before the branch, or else behind it, so
 * that all registers may be read before they are written
 */
static void many(const char *name, bool second)
{
	enum { BLOCKS = 20000 };
	char *text = malloc(BLOCKS * 200UL + 1000), *at = text, reason[500], why[700];
	uint32_t out[THREADS] = {};
	int result;

	at += sprintf(at, HEAD ".visible .entry k(.param .u64 o) { .reg .pred %%p<%u>; "
		      ".reg .b32 %%r<%u>; .reg .b64 %%d; bar.sync 0; ld.param.u64 %%d, [o]; "
		      "mov.u32 %%r0, %%tid.x;\n", BLOCKS + 1, 2 * BLOCKS + 2);
	for (uint32_t i = 0; i < BLOCKS; i++)
		at += sprintf(at, "add.u32 %%r%u, %%r%u, 1; setp.eq.u32 %%p%u, %%r%u, 0; %s%u bra "
			      "L%u; %sadd.u32 %%r%u, %%r%u, 1; %s%u bra L%u; %sst.global.u32 "
			      "[%%d], %%r%u; L%u:\n", 2 * i + 1, 2 * i, i, 2 * i + 1,
			      second ? "//" : "@%p", i, i, second ? "\n" : "", 2 * i + 2,
			      2 * i + 1, second ? "@%p" : "//", i, i, second ? "" : "\n",
			      2 * i + 2, i);
	at += sprintf(at, "st.global.u32 [%%d], %%r%u; ret; }\n", 2 * BLOCKS);
	result = run_text(text, out, reason, sizeof(reason));
	snprintf(why, sizeof(why), "result %d: %s, %u", result, reason, out[0]);
	told(name, !result && out[0] == 2 * BLOCKS + THREADS - 1, why);
	free(text);
}

int main(int argc, char **argv)
{
	if (!open_object(argc == 2 ? argv[1] : NULL))
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n1..%zu\n", sizeof(values) / sizeof(*values) +
	       sizeof(addresses) / sizeof(*addresses) + sizeof(loops) / sizeof(*loops) + 4);
	for (uint32_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		value(i);
	for (uint32_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++)
		address(i);
	for (uint32_t i = 0; i < sizeof(loops) / sizeof(*loops); i++)
		loop(i);
	stack("large_frame", 200000, 0);
	stack("too_large_frame", 4000000, ILLEGAL_ADDRESS);
	many("many_registers", true);
	many("many_zeros", false);
	return failed;
}
