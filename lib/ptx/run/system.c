// SPDX-License-Identifier: MIT
/* What device code calls of the system, and how it ends a launch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"

void ptx_run_trap(struct ptx_thread *thread)
{
	run_fail(fiber_of(thread), RESULT_LAUNCH_FAILED, "trap");
}

void ptx_run_brkpt(struct ptx_thread *thread)
{
	run_fail(fiber_of(thread), RESULT_LAUNCH_FAILED, "brkpt, and no debugger");
}

void ptx_run_fault(struct ptx_thread *thread, uint32_t result, uint32_t line, const char *what)
{
	if (line)
		run_fail(fiber_of(thread), result, "line %u: %s", line, what ? what : "a fault");
	run_fail(fiber_of(thread), result, "%s", what ? what : "a fault");
}

static void describe_misaligned(const void *data, char *text, size_t size)
{
	const uint64_t *address = data;

	if (*address)
		snprintf(text, size, "a misaligned access at %#lx", *address);
	else
		snprintf(text, size, "a misaligned access: MEMCAST_PTX_CHECK=1 says where");
}

/* @address: 0: a loop over threads found at its end that there was one */

void ptx_run_misaligned(struct ptx_thread *thread, uint64_t address)
{
	run_fail_at(fiber_of(thread), (uintptr_t)__builtin_return_address(0) - 1,
		    RESULT_MISALIGNED_ADDRESS, describe_misaligned, &address);
}

void ptx_run_stack_overflow(struct ptx_thread *thread)
{
	run_fail(fiber_of(thread), RESULT_ILLEGAL_ADDRESS,
		 "its stack has overflowed: CU_LIMIT_STACK_SIZE");
}

/* Return: the count of a window's operations; it stays as long as the runner works on the launch */
static uint64_t *count_of(struct runner *runner, uint64_t window)
{
	struct counted *counted = runner->counted;

	while (counted && counted->window != window)
		counted = counted->next;
	if (counted)
		return &counted->operations;
	counted = calloc(1, sizeof(*counted));
	if (!counted)
		return &runner->uncounted.operations;
	counted->window = window;
	counted->next = runner->counted;
	runner->counted = counted;
	return &counted->operations;
}

struct search {
	struct ptx_thread *thread;
	uint64_t address;
	const struct ptx_window *found;
	uint64_t *operations;
	size_t offset;
};

/*
 * On a stack of the process: it takes memory for a count, and what is not found is logged, and the
 * log calls the program.
 */
static void find_window(void *data)
{
	struct search *search = data;
	struct runner *runner = search->thread->block->runner;
	const struct ptx_run_host *host = runner->grid->launch->host;

	search->found = host->window_at ? host->window_at(search->address, &search->offset) : NULL;
	if (search->found)
		search->operations = count_of(runner, search->address - search->offset);
}

/* A runner's work on a launch has ended. */
void counts_tell(struct runner *runner, const struct ptx_run_host *host)
{
	struct counted *counted;

	while ((counted = runner->counted)) {
		runner->counted = counted->next;
		if (host->count && counted->operations)
			host->count(counted->window, counted->operations);
		free(counted);
	}
}

const struct memcast_view *ptx_run_view(struct ptx_thread *thread, uint64_t address,
					size_t *offset)
{
	struct search search = { .thread = thread, .address = address };

	ptx_run_host(thread, find_window, &search);
	if (!search.found)
		run_fail(fiber_of(thread), RESULT_ILLEGAL_ADDRESS,
			 "a multimem operation at %#lx: " PTX_NO_VIEW, address);
	thread->view = &search.found->view;
	thread->operations = search.operations;
	*offset = search.offset;
	return thread->view;
}

void ptx_run_bulk_check(struct ptx_thread *thread, const void *to, const void *from,
			uint32_t bytes)
{
	if (((uintptr_t)to | (uintptr_t)from | bytes) % 16)
		run_fail(fiber_of(thread), RESULT_LAUNCH_FAILED,
			 "a bulk copy of %u bytes from %p to %p: PTX wants multiples of 16", bytes,
			 from, to);
}

void ptx_run_view_holds(struct ptx_thread *thread, const struct memcast_view *view,
			uint64_t offset, uint64_t address, uint32_t bytes)
{
	if (offset + bytes > view->bytes)
		run_fail(fiber_of(thread), RESULT_ILLEGAL_ADDRESS,
			 "a multimem copy of %u bytes to %#lx: the window ends at %#lx", bytes,
			 address, address - offset + view->bytes);
}

void ptx_run_condition(struct ptx_thread *thread, uint64_t handle, uint32_t value)
{
	const struct ptx_run_host *host = thread->block->runner->grid->launch->host;

	if (!host->condition || !host->condition(handle, value))
		run_fail(fiber_of(thread), RESULT_LAUNCH_FAILED,
			 "cudaGraphSetConditional(%#lx): no graph has such a condition", handle);
}

struct text {
	FILE *file;
	const struct ptx_launch *launch;
	const char *format, *values;
	uint32_t count;
};

/* Return: the next value of a list as vprintf() of device code gets it: by its own alignment */
static const char *next_value(const char **values, size_t size)
{
	const char *at = (const char *)(((uintptr_t)*values + size - 1) & ~(size - 1));

	*values = at + size;
	return at;
}

/* Prints one conversion, from its % to its letter. @part: text of it, with room for "ll" */
static void print_value(struct text *text, char *part, size_t length, bool wide)
{
	char letter = part[length - 1];
	union {
		uint64_t bits;
		uint32_t half;
		double real;
		const char *string;
	} value = {};

	if (strchr("eEfFgGaA", letter)) {
		memcpy(&value, next_value(&text->values, 8), 8);
		fprintf(text->file, part, value.real);
	} else if (letter == 's') {
		memcpy(&value, next_value(&text->values, 8), 8);
		fprintf(text->file, part, value.string ? value.string : "(null)");
	} else if (letter == 'p') {
		memcpy(&value, next_value(&text->values, 8), 8);
		fprintf(text->file, part, (void *)value.bits);
	} else if (wide) {
		memcpy(&value, next_value(&text->values, 8), 8);
		part[length - 1] = 'l';
		part[length] = 'l';
		part[length + 1] = letter;
		part[length + 2] = '\0';
		fprintf(text->file, part, value.bits);
	} else {
		memcpy(&value, next_value(&text->values, 4), 4);
		fprintf(text->file, part, value.half);
	}
	text->count++;
}

/* Copies flags, width, precision and h of a conversion. Other lengths are left out: @wide has them. */
static const char *read_conversion(struct text *text, const char *at, char *part, size_t room,
				   size_t *length, bool *wide)
{
	*length = 1;
	*wide = false;
	part[0] = '%';
	for (; *at && strchr("-+ #'.0123456789*hljztL", *at); at++) {
		if (*at == '*') {
			int number;

			memcpy(&number, next_value(&text->values, 4), 4);
			if (*length + 16 < room)
				*length += sprintf(part + *length, "%d", number);
			continue;
		}
		*wide |= strchr("ljzt", *at) != NULL;
		if (!strchr("ljztL", *at) && *length + 8 < room)
			part[(*length)++] = *at;
	}
	if (*at)
		part[(*length)++] = *at;
	part[*length] = '\0';
	return at;
}

/* On a stack of the process */
static void print(void *data)
{
	struct text *text = data;
	char part[64], *all = NULL;
	size_t length, bytes = 0;
	bool wide;

	text->file = open_memstream(&all, &bytes);
	if (!text->file)
		return;
	for (const char *at = text->format; *at; at++) {
		if (*at != '%') {
			putc_unlocked(*at, text->file);
			continue;
		}
		at = read_conversion(text, at + 1, part, sizeof(part), &length, &wide);
		if (!*at)
			break;
		if (*at == '%')
			putc_unlocked('%', text->file);
		else if (strchr("diouxXcspeEfFgGaA", *at))
			print_value(text, part, length, wide);
		else	/* the host's %n would store where a value says */
			fputs(part, text->file);
	}
	fclose(text->file);
	if (text->launch->host->print) {
		text->launch->host->print(all, bytes, text->launch->print_limit);
	} else {
		fwrite(all, 1, bytes, stdout);
		fflush(stdout);
	}
	free(all);
}

/* Return: how many values were printed */
uint32_t ptx_run_vprintf(struct ptx_thread *thread, const char *format, const char *values)
{
	struct text text = {
		.launch = thread->block->runner->grid->launch,
		.format = format, .values = values,
	};

	ptx_run_host(thread, print, &text);
	return text.count;
}

struct assertion {
	const struct ptx_thread *thread;
	const char *message, *file, *function;
	uint32_t line;
};

static void print_assertion(void *data)
{
	const struct assertion *assertion = data;
	const struct ptx_thread *at = assertion->thread;
	char text[2560];

	/* a fault in the kernel's strings leaves this function, without stderr's lock */
	snprintf(text, sizeof(text),
		 "%.512s:%u: %.512s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%.1024s` failed.\n",
		 assertion->file, assertion->line, assertion->function, at->ctaid[0], at->ctaid[1],
		 at->ctaid[2], at->tid[0], at->tid[1], at->tid[2], assertion->message);
	fputs(text, stderr);
}

void ptx_run_assertfail(struct ptx_thread *thread, const char *message, const char *file,
			uint32_t line, const char *function, uint64_t character)
{
	struct assertion assertion = { thread, message, file, function, line };

	(void)character;
	ptx_run_host(thread, print_assertion, &assertion);
	run_fail(fiber_of(thread), RESULT_ASSERT, "assertion `%.100s` failed, %.60s:%u", message,
		 file, line);
}

/* The functions that generated code calls, by name */
#define NAME(name)	{ "ptx_run_" #name, (void *)ptx_run_##name }

const struct ptx_run_name ptx_run_names[] = {
	NAME(poll), NAME(poll_blind), NAME(nanosleep), NAME(exit), NAME(trap), NAME(brkpt), NAME(fault),
	NAME(misaligned), NAME(stack_overflow), NAME(bar_sync), NAME(bar_arrive), NAME(bar_red),
	NAME(cluster_arrive), NAME(cluster_wait), NAME(bar_warp_sync), NAME(vote), NAME(shfl),
	NAME(match_any), NAME(match_all), NAME(redux), NAME(elect), NAME(activemask),
	NAME(cuts), NAME(gather), NAME(together), NAME(view), NAME(view_holds), NAME(bulk_check),
	NAME(host), NAME(vprintf), NAME(malloc), NAME(free), NAME(assertfail), NAME(condition),
	NAME(access), NAME(order), NAME(locals), NAME(local), NAME(locals_end), NAME(stack_taken),
	{}
};
