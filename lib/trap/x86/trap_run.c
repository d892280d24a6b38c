// SPDX-License-Identifier: MIT
/*
 * Runs one instruction with the program's registers, and survives its fault.
 *
 * Code is written to a page of cells that is mapped twice, once to write and once to execute; no
 * mapping allows both. A cell is: endbr64, the instruction, and ret up to its end. The stack
 * pointer stays the library's. When the instruction faults, the signal handler leaves the fault in
 * the frame, which it finds on the stack, and goes on at the ret; so the caller sees a run that did
 * nothing.
 *
 * All access to the program's memory in lib/trap/ goes this way, too: with a movs.
 */
#include <cpuid.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "trap.h"

#ifndef MFD_EXEC
#define MFD_EXEC	0x0010U
#endif

#define CELL		64
#define CELLS		64
#define HEAD		4	/* bytes of endbr64 */
/* Yields until a store gives up; each store under way takes some thousand instructions. */
#define PATIENCE	(1 << 20)
#define TAKE_BACK_EVERY	(1 << 12)

/* The code of the first cells is constant. */
enum { MOVSB, MOVSW, MOVSL, MOVSQ, TOUCH, CONSTANT };

static const struct {
	unsigned char length, code[4];
} constant[CONSTANT] = {
	[MOVSB] = { 2, { 0xf3, 0xa4 } },
	[MOVSW] = { 3, { 0x66, 0xf3, 0xa5 } },
	[MOVSL] = { 2, { 0xf3, 0xa5 } },
	[MOVSQ] = { 3, { 0xf3, 0x48, 0xa5 } },
	[TOUCH] = { 4, { 0xf0, 0x80, 0x0f, 0x00 } },	/* lock orb $0,(%rdi) */
};

/* Has the kernel enabled XSAVE? If not, there are only x87 and SSE. Read by the assembly. */
static bool has_xsave __attribute__((used));

static unsigned char *cells_written, *cells_run;
static atomic_ullong cells_free = -1ULL << CONSTANT;
static struct trap_work works[CELLS];

/* The run that has each cell, 0: none. @place: where on its stack the run keeps the same ticket */
static struct {
	_Atomic uint64_t ticket;
	const uint64_t *_Atomic place;
} owners[CELLS];
static _Atomic uint64_t tickets;

_Static_assert(offsetof(struct trap_frame, flags) == 128, "as below");
_Static_assert(offsetof(struct trap_frame, code) == 136, "as below");
_Static_assert(offsetof(struct trap_frame, xstate) == 144, "as below");
_Static_assert(offsetof(struct trap_frame, keep) == 152, "as below");

/*
 * While the cell runs, the stack has: return address, code, frame. The states that are restored
 * are those that an instruction here can use: x87, SSE, AVX, AVX-512. (Not the protection keys:
 * the program's may forbid access to the library's own data.)
 */
void trap_enter(struct trap_frame *frame);
asm(".pushsection .text\n"
	".type trap_enter, @function\n"
	".hidden trap_enter\n"
	"trap_enter:\n"
	"	endbr64\n"
	"	push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n"
	"	sub $16, %rsp\n"
	"	stmxcsr (%rsp)\n"
	"	fnstcw 4(%rsp)\n"
	"	push %rdi\n"
	"	push 136(%rdi)\n"
	"	mov 144(%rdi), %rsi\n"
	"	test %rsi, %rsi\n"
	"	jz 1f\n"
	"	cmpb $0, has_xsave(%rip)\n"
	"	je 4f\n"
	"	mov $0xe7, %eax\n"
	"	xor %edx, %edx\n"
	"	xrstor64 (%rsi)\n"
	"1:	push 128(%rdi)\n"
	"	popfq\n"
	"	mov (%rdi), %rax\n"
	"	mov 8(%rdi), %rcx\n"
	"	mov 16(%rdi), %rdx\n"
	"	mov 24(%rdi), %rbx\n"
	"	mov 40(%rdi), %rbp\n"
	"	mov 48(%rdi), %rsi\n"
	"	mov 64(%rdi), %r8\n"
	"	mov 72(%rdi), %r9\n"
	"	mov 80(%rdi), %r10\n"
	"	mov 88(%rdi), %r11\n"
	"	mov 96(%rdi), %r12\n"
	"	mov 104(%rdi), %r13\n"
	"	mov 112(%rdi), %r14\n"
	"	mov 120(%rdi), %r15\n"
	"	mov 56(%rdi), %rdi\n"
	"	call *(%rsp)\n"
	"	pushfq\n"
	"	push %rdi\n"
	"	mov 24(%rsp), %rdi\n"
	"	mov %rax, (%rdi)\n"
	"	mov %rcx, 8(%rdi)\n"
	"	mov %rdx, 16(%rdi)\n"
	"	mov %rbx, 24(%rdi)\n"
	"	mov %rbp, 40(%rdi)\n"
	"	mov %rsi, 48(%rdi)\n"
	"	pop 56(%rdi)\n"
	"	pop 128(%rdi)\n"
	"	cld\n"
	"	mov %r8, 64(%rdi)\n"
	"	mov %r9, 72(%rdi)\n"
	"	mov %r10, 80(%rdi)\n"
	"	mov %r11, 88(%rdi)\n"
	"	mov %r12, 96(%rdi)\n"
	"	mov %r13, 104(%rdi)\n"
	"	mov %r14, 112(%rdi)\n"
	"	mov %r15, 120(%rdi)\n"
	"	mov 144(%rdi), %rsi\n"
	"	test %rsi, %rsi\n"
	"	jz 3f\n"
	"	cmpq $0, 152(%rdi)\n"
	"	je 2f\n"
	"	cmpb $0, has_xsave(%rip)\n"
	"	je 5f\n"
	"	mov $0xe7, %eax\n"
	"	xor %edx, %edx\n"
	"	xsave64 (%rsi)\n"
	"2:	fninit\n"
	"	fldcw 20(%rsp)\n"
	"	ldmxcsr 16(%rsp)\n"
	"3:	add $32, %rsp\n"
	"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp\n"
	"	ret\n"
	"4:	fxrstor64 (%rsi)\n"
	"	jmp 1b\n"
	"5:	fxsave64 (%rsi)\n"
	"	jmp 2b\n"
	".size trap_enter, . - trap_enter\n"
	".popsection\n");

static const struct {
	unsigned char head[HEAD];
} endbr64 = { { 0xf3, 0x0f, 0x1e, 0xfa } };

static void cell_write(unsigned int number, const unsigned char *code, size_t length)
{
	unsigned char *cell = cells_written + number * CELL;
	unsigned int a, b, c, d;

	if (!memcmp(cell + HEAD, code, length) && cell[HEAD + length] == 0xc3)
		return;
	memset(cell, 0xc3, CELL);
	memcpy(cell, &endbr64, HEAD);
	memcpy(cell + HEAD, code, length);
	/* Code written at one address and run at another needs a serialising instruction. */
	__cpuid(0, a, b, c, d);
}

/* The kernel ends a program that grows a file over its limit. Memory without a file has no such limit. */
static bool may_have_file(size_t size)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur >= size;
}

static int cells_file(size_t size)
{
	int fd;

	if (!may_have_file(size))
		return -1;
	fd = memfd_create("memcast-trap", MFD_CLOEXEC | MFD_EXEC);
	if (fd < 0)
		fd = memfd_create("memcast-trap", MFD_CLOEXEC);
	if (fd >= 0 && ftruncate(fd, size)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Maps the same pages once more, to execute. */
static void *map_again(void *pages, size_t size, int fd)
{
	void *again;

	if (fd >= 0)
		return mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	again = mremap(pages, 0, size, MREMAP_MAYMOVE);
	if (again == MAP_FAILED || !mprotect(again, size, PROT_READ | PROT_EXEC))
		return again;
	munmap(again, size);
	return MAP_FAILED;
}

/*
 * Return: can instructions be run? If not, errno is set. If there can be no file of memory
 * (seccomp, ulimit -f), the second mapping is of the pages themselves.
 */
bool trap_run_init(void)
{
	unsigned char *written, *run;
	size_t size = CELL * CELLS;
	unsigned int a, b, c, d;
	int fd;

	__cpuid(1, a, b, c, d);
	has_xsave = c & bit_OSXSAVE;
	fd = cells_file(size);
	written = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
	run = written == MAP_FAILED ? MAP_FAILED : map_again(written, size, fd);
	if (fd >= 0)
		close(fd);
	if (run == MAP_FAILED) {
		if (written != MAP_FAILED)
			munmap(written, size);
		return false;
	}
	cells_written = written;
	cells_run = run;
	/*
	 * A child has no windows, and must not write to its parent's cells. The mapping that
	 * executes stays: other code of the child at its addresses would be taken for cells.
	 */
	madvise(cells_written, size, MADV_DONTFORK);
	for (unsigned int i = 0; i < CONSTANT; i++)
		cell_write(i, constant[i].code, constant[i].length);
	return true;
}

static void give(unsigned int number, uint64_t ticket)
{
	if (atomic_compare_exchange_strong(&owners[number].ticket, &ticket, 0))
		atomic_fetch_or(&cells_free, 1ULL << number);
}

/*
 * Takes back the cells of runs that will not end: a handler of the program ran in the middle of a
 * store, and left by siglongjmp(). A handler may also have switched to another stack, to return
 * later. So a run counts as ended only when its ticket is not on its stack any more: the memory is
 * overwritten sooner or later, or unmapped.
 */
static void take_back(void)
{
	for (unsigned int i = CONSTANT; i < CELLS; i++) {
		uint64_t ticket = atomic_load(&owners[i].ticket), found;
		struct trap_fault fault;
		bool over;

		if (!ticket)
			continue;
		if (trap_copy(&found, atomic_load(&owners[i].place), 1, sizeof(found), &fault))
			over = found != ticket;
		else
			over = fault.signal == SIGSEGV && fault.code == SEGV_MAPERR;
		if (over)
			give(i, ticket);
	}
}

/**
 * trap_cell_take() - take a cell, and write an instruction to it
 * @cell: output; must stay at its address until trap_cell_give()
 * @code: the instruction
 * @length: bytes of @code
 * @rip: address of the original, which is likely to come again and find its cell
 *
 * Return: success. It can fail even after a while: threads that have ended may have left
 * runs.
 */
bool trap_cell_take(struct trap_cell *cell, const unsigned char *code, size_t length,
		    uintptr_t rip)
{
	unsigned int number = (rip ^ rip >> 6) % CELLS;

	if (__builtin_popcountll(atomic_load(&cells_free)) < CELLS / 2)
		take_back();
	for (unsigned int tries = 0;;) {
		unsigned long long available = atomic_load(&cells_free);

		if (!available) {
			if (tries++ == PATIENCE)
				return false;
			if (tries % TAKE_BACK_EVERY == 0)
				take_back();
			sched_yield();
			continue;
		}
		if (!(available >> number & 1))
			number = __builtin_ctzll(available);
		if (atomic_compare_exchange_weak(&cells_free, &available,
						 available & ~(1ULL << number)))
			break;
	}
	/* Ordinary data on a stack does not look like a ticket. */
	cell->ticket = (atomic_fetch_add(&tickets, 1) + 1) * 0x9e3779b97f4a7c15;
	cell->code = cells_run + number * CELL;
	cell->work = &works[number];
	atomic_store(&owners[number].place, &cell->ticket);
	atomic_store(&owners[number].ticket, cell->ticket);
	cell_write(number, code, length);
	return true;
}

void trap_cell_give(const struct trap_cell *cell)
{
	give(((const unsigned char *)cell->code - cells_run) / CELL, cell->ticket);
}

/* Is it the address of the instruction in a cell? */
bool trap_in_cell(const struct trap_cell *cell, uintptr_t address)
{
	return address - (uintptr_t)cell->code < CELL;
}

/* Did an instruction in a cell raise the signal? Then its run ends. */
bool trap_run_caught(int number, const siginfo_t *info, ucontext_t *context)
{
	greg_t *greg = context->uc_mcontext.gregs;
	uintptr_t at = greg[REG_RIP] - (uintptr_t)cells_run;
	struct trap_frame *frame;

	if (!cells_run || at >= CELL * CELLS || info->si_code <= 0)
		return false;
	/* The program has unmapped the cells: no fault to recover from. */
	if ((uintptr_t)info->si_addr - (uintptr_t)cells_run < CELL * CELLS)
		return false;
	frame = ((struct trap_frame **)greg[REG_RSP])[2];
	frame->fault = (struct trap_fault) {
		number, info->si_code, (uintptr_t)info->si_addr,
		greg[REG_TRAPNO], greg[REG_ERR]
	};
	greg[REG_RIP] += CELL - 1 - at % CELL;
	return true;
}

/* Runs an instruction. Return: success; false: frame->fault has the fault. */
bool trap_run(struct trap_frame *frame)
{
	frame->fault = (struct trap_fault) {};
	trap_enter(frame);
	/* the signal handler may have written the frame meanwhile */
	atomic_signal_fence(memory_order_seq_cst);
	return !frame->fault.signal;
}

/* Copies elements. Return: how many were copied: all, unless there was a fault. */
size_t trap_copy(void *to, const void *from, size_t count, unsigned int width,
		 struct trap_fault *fault)
{
	struct trap_frame frame = {
		.reg[RDI] = (uintptr_t)to,
		.reg[RSI] = (uintptr_t)from,
		.reg[RCX] = count,
		.code = cells_run + CELL * (unsigned int)__builtin_ctz(width),
	};

	if (!trap_run(&frame))
		*fault = frame.fault;
	return count - frame.reg[RCX];
}

/* May the program write at an address? */
bool trap_writable(uintptr_t address, struct trap_fault *fault)
{
	struct trap_frame frame = {
		.reg[RDI] = address,
		.code = cells_run + CELL * TOUCH,
	};

	if (trap_run(&frame))
		return true;
	*fault = frame.fault;
	return false;
}
