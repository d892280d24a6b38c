/* SPDX-License-Identifier: MIT */
/*
 * The interface between libcuda.so.1 and memcast-ptx.so, which translates PTX and runs it. Both
 * come from one build: if PTX_OBJECT_VERSION differs, the object is not used.
 */
#ifndef MEMCAST_PTX_OBJECT_H
#define MEMCAST_PTX_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#include <memcast/view.h>
#pragma GCC visibility pop

#define PTX_OBJECT		"memcast-ptx.so"
#define PTX_OBJECT_SYMBOL	"memcast_ptx_object"
#define PTX_OBJECT_VERSION	15

struct ptx_code;			/* texts, read and linked */
struct ptx_kernel;			/* a kernel that was translated */

/* A text of PTX; an image may have several, which are linked */
struct ptx_text {
	const char *text;
	size_t bytes;
};

/* What is wrong, as a compiler's log says it */
struct ptx_log {
	char text[1024];
};

/* Where a module's variables are */
struct ptx_variables {
	/*
	 * Return: the address of memory that has a variable's bytes, without the addresses in
	 * its initialiser, which the object then writes; 0: there is no memory. @text: the
	 * number of the text that defines it
	 */
	uint64_t (*address)(void *data, const char *name, uint32_t text, size_t bytes,
			    size_t align);
	/*
	 * Has the variable memory with values already, before address() is asked, as a managed
	 * variable has that another module of the same code has used? NULL: none has
	 */
	bool (*has_values)(void *data, const char *name, uint32_t text);
	void *data;
	/* Tells contexts apart: calls through unified pointers stay in the kernel's own */
	const void *context;
	/* Says that the code's compilation has waited for long. NULL: nobody hears it */
	void (*notice)(const char *text);
};

/* Gets a fault: the address, and where the thread was */
typedef void ptx_catcher(int number, uintptr_t address, uintptr_t rip, uintptr_t rsp, bool store);

/* Memory around an address, as MEMCAST_PTX_CHECK asks for it */
struct ptx_reach {
	uint64_t start, end;
	bool stores;			/* the device may write there, too */
	bool window;			/* of a multicast object */
	char text[200];			/* why the device may not access it, or "" */
};

/*
 * A window, as a launch knows it: the head of struct window (memory/view/window.h). It stays, but may
 * become another one when it is unmapped. Code that keeps one looks at "start", then the size.
 */
struct ptx_window {
	uint64_t start;
	struct memcast_view view;
};

/* What a launch needs of libcuda.so.1 */
struct ptx_run_host {
	/* Sets what gets this thread's faults, or NULL. It may jump away: no signal is blocked. */
	void (*catch)(ptx_catcher *caught);
	/* Finds a window. @offset: output, of the address in it. Return: NULL: there is none */
	const struct ptx_window *(*window_at)(uint64_t address, size_t *offset);
	/* Hears how many multimem operations were made at a window, when they have been. */
	void (*count)(uint64_t window, uint64_t operations);
	/* Sets what a conditional node of a graph looks at. Return: is there such a condition? */
	bool (*condition)(uint64_t handle, uint32_t value);
	/* Takes what a thread has printed; NULL: it goes to standard output. */
	void (*print)(const char *text, size_t bytes, size_t limit);
	/* Writes why an access failed. Return: is it known? */
	bool (*reason)(uintptr_t address, bool store, char *text, size_t size);
	/* Finds memory. Return: may the launch load from there? @data: host_data; NULL: all */
	bool (*reach)(void *data, uint64_t address, struct ptx_reach *reach);
	/* Names the memory at an address. */
	void (*memory)(uint64_t address, char *text, size_t size);
	/*
	 * Takes words about where threads of a launch have waited for so long, each second; "":
	 * they go on. @all: so do all others of the launch. Several threads may call it.
	 */
	void (*waits)(void *data, const char *where, uint64_t nanoseconds, bool all);
	/* Return: the error of the launch's context, for which it is to end; 0: it goes on */
	int (*failed)(void *data);
};

struct ptx_launch {
	const struct ptx_kernel *kernel;
	const void *parameters;		/* laid out as PTX does */
	/* the window that plain stores of a kernel for windows reach, or NULL */
	const struct ptx_window *window;
	uint32_t grid[3], block[3], cluster[3];	/* cluster: 1 or more */
	uint32_t dynamic_shared;
	uint32_t resident;		/* most blocks that run at the same time; 0: any */
	bool cooperative;
	bool is_cluster;
	uint32_t multiprocessors;
	uint32_t stack_limit;		/* for kernels whose frame is not known */
	uint64_t heap_limit;		/* of malloc() */
	/* a context's place, and its life there: what earlier lives had is free for later ones */
	const void *heap;
	uint64_t heap_life;
	uint64_t print_limit;		/* of what printf() has written and nobody has read */
	const struct ptx_run_host *host;
	void *host_data;
};

/* How a launch ended */
struct ptx_outcome {
	int result;			/* a CUresult */
	char reason[512];
};

/* Hears of a function that has been compiled. @wrong: NULL, or why it could not be */
typedef void ptx_told(void *data, const char *name, const char *wrong);

/* Gets code as text: a line about it, LLVM's optimised IR, and the processor's instructions */
typedef void ptx_shown(void *data, const char *about, const char *ir, const char *assembler);

/* The functions of the object. Results are CUresults; @log says what is wrong. */
struct ptx_object {
	uint32_t version;
	/* Reads text as a compiler does, and forgets it. */
	int (*check)(const struct ptx_text *text, struct ptx_log *log);
	/*
	 * Do texts link, as far as they are there? @names: of the texts; @complete: there are no
	 * more
	 */
	int (*link)(const struct ptx_text *texts, uint32_t count, const char *const *names,
		    bool complete, struct ptx_log *log);
	/* Reads and links texts, which must stay, for one module. */
	int (*code_new)(const struct ptx_text *texts, uint32_t count,
			const struct ptx_variables *variables, struct ptx_code **code,
			struct ptx_log *log);
	void (*code_free)(struct ptx_code *code);
	/* Return: what kernels of any context call a unified function by; NULL: there is none */
	void *(*unified)(struct ptx_code *code, const char *name);
	/*
	 * Finds a kernel, and translates it the first time. It stays as long as the code. Threads
	 * may call it at the same time.
	 */
	int (*kernel)(struct ptx_code *code, const char *name, const struct ptx_kernel **kernel,
		      struct ptx_log *log);
	/*
	 * Return: what runs in a kernel's place where a launch has a window: its plain stores look
	 * whether they go there. The kernel itself if it has none, or multimem, or there is no memory
	 */
	const struct ptx_kernel *(*for_windows)(struct ptx_code *code,
						const struct ptx_kernel *kernel);
	/* Ahead of time: how many functions there are to compile */
	int (*count)(const struct ptx_code *code);
	/*
	 * Compiles each @parts-th of them, from @part on, and keeps the code for other processes.
	 * @windows: of kernels also the forms for launches with a window
	 */
	void (*compile)(struct ptx_code *code, uint32_t part, uint32_t parts, bool windows,
			ptx_told *told, void *data);
	/*
	 * Shows what launches would run: of the functions called @name, or of all, @told hears the
	 * name, and again if it cannot be compiled
	 */
	void (*show)(struct ptx_code *code, const char *name, ptx_shown *shown, ptx_told *told,
		     void *data);
	/* Runs a launch. When it returns, the launch has ended, well or not. */
	void (*run)(const struct ptx_launch *launch, struct ptx_outcome *outcome);
};

extern const struct ptx_object memcast_ptx_object __attribute__((visibility("default")));

#endif /* MEMCAST_PTX_OBJECT_H */
