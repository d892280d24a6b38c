/* SPDX-License-Identifier: MIT */
/* Code of an image: its texts, their linking, and what has been compiled of them. */
#ifndef MEMCAST_PTX_CODE_H
#define MEMCAST_PTX_CODE_H

#include <pthread.h>

#include "digest.h"
#include "ptx/run/run.h"
#include "ptx/text/text.h"
#include "ptx/translate.h"

/* What a function pointer of PTX points to. Its code compiles the function when first called. */
struct ptx_slot {
	void (*code)(struct ptx_thread *thread, void *parameters, void *results,
		     struct ptx_slot *slot);
	struct ptx_code *owner;
	struct function *function;
};

#define PTX_CUTS_MOST	48		/* of a kernel */

/* Statements: a larger function is compiled by itself, when first called, through its slot */
#define PTX_LARGE_CALLEE	3000

/* What is known of a function, beyond its head; function->translated is this */
struct facts {
	struct ptx_slot slot;
	struct ptx_slot *unified;	/* the slot of all modules; NULL: it is not unified */
	struct facts *sibling;		/* the next of the same unified function */
	bool loop_waits;		/* a loop has what it may wait by */
	bool loop_calls;		/* a loop has a call, which waits if a callee may_wait */
	bool may_wait;			/* a loop around calls of it may wait by them */
	bool calls_system;		/* it calls what is no text, as malloc(): a loop may wait by it */
	bool meetings;			/* barriers of the whole block, operations of warps */
	bool cuts;			/* it can be cut into loops over threads */
	uint32_t joins;			/* threads of a kernel's blocks that run as one, at most */
	bool by_pointer;		/* its address is taken: it is compiled by itself */
	/* waits: for others in another way than by meetings */
	bool waits, exits, indirect, shared, own_thread, seen, walking;
	bool multimem, stores;		/* it has such instructions; st to global memory */
	bool allocas;			/* it takes memory of the stack */
	bool recursive;			/* what it calls leads back to it */
	uint32_t shared_bytes, shared_align, shared_base;
	struct function **callees;
	uint32_t callees_count, callees_room;
	uint32_t own_frame, frame;	/* frame: with the deepest that it calls */
	uint32_t number;		/* of the function, of all that the texts name */
	struct root *root, *windows_root;	/* once it has been compiled; for windows */
};

/* A function that is compiled by itself, with all that it calls directly */
struct root {
	struct function *function;
	struct ptx_kernel kernel;
	void *entry;			/* of a device function */
	bool failed, done, polls;
	bool no_memory;			/* that is why it has failed: the next use tries again */
	struct ptx_log log;
	struct root *next;
	uint32_t statements;
	bool is_cut;			/* a kernel, into loops over threads */
	uint32_t zeroed;		/* registers that begin as 0, in memory */
	struct line_table *lines;
	struct gdb_entry *gdb;
	/* while it is translated: functions that are to be translated, too */
	struct function **functions;
	uint32_t functions_count, functions_room;
	struct external {
		char *name;
		void *address;
	} *externals;
	uint32_t externals_count, externals_room;
};

struct ptx_code {
	struct arena arena;
	struct unit *units;
	uint32_t units_count;
	struct scope *globals;		/* names that all units see */
	struct jit *jit;
	pthread_mutex_t lock;
	struct root *roots;
	uint32_t common_shared;
	uint32_t dynamic_align;		/* of dynamic shared memory */
	const char *const *names;	/* of the texts, for errors; or NULL */
	const void *context;		/* whose module it is; only compared */
	void (*notice)(const char *text);	/* says that a compilation has waited; or NULL */
	struct digest digest;		/* of the texts */
	bool fibers;			/* MEMCAST_PTX_FIBERS: no kernel is cut */
	bool checked;			/* MEMCAST_PTX_CHECK was set */
	bool debugged;			/* MEMCAST_PTX_GDB was set */
	bool incomplete;		/* more texts may come, and define what is missing */
	bool clusters;			/* a text has instructions of clusters */
};

struct symbol *code_resolve(struct ptx_code *code, struct symbol *symbol);
int code_link(struct ptx_code *code, struct ptx_log *log);
CUresult link_error(const struct ptx_code *code);
struct facts *facts_of(struct function *function);
CUresult function_check(struct ptx_code *code, struct function *function,
			struct complaint *complaint);
CUresult form_check(const struct statement *statement, const struct unit *unit,
		    struct complaint *complaint);
bool operand_fits(const struct operand *operand, enum type type, bool wider);
const char *shape_wrong(const struct statement *at, const enum type *types, uint32_t count);
void ptx_slot_first_call(struct ptx_thread *thread, void *parameters, void *results,
			 struct ptx_slot *slot);

/* ---- root.c ---- */
/* What the linker calls a root's function */
void root_name(const struct root *root, const char *kind, char *name, size_t size);
uint32_t root_frame(struct function *function);
/* The root cannot be compiled now. Return: false */
bool root_lacks_memory(struct root *root);
/* Compiles a function, once; the code is locked. NULL: no memory */
struct root *root_compile(struct ptx_code *code, struct function *function);
/* Shows what root_compile() would make. Return: NULL, or why it cannot be compiled */
const char *root_show(struct ptx_code *code, struct function *function, ptx_shown *shown,
		      void *data);

/* ---- unified.c ---- */
/* Return: what a pointer to the function points to */
struct ptx_slot *function_slot(struct function *function);
/* The code's unified functions are called by their pointers, from now on, and not any more */
bool unified_join(struct ptx_code *code);
void unified_leave(struct ptx_code *code);

/* ---- external.c ---- */
void external_number(struct ptx_code *code);
void *external_find(struct ptx_code *code, const char *name);

/* ---- jit.c ---- */
bool jit_wants(const char *variable);
/* NULL: @root says why */
struct jit *jit_new(const struct ptx_code *code, struct root *root);
void jit_free(struct jit *jit);
/* Has the processor instructions that convert f16? */
bool jit_has_halves(const struct jit *jit);
bool jit_compile(struct jit *jit, struct ptx_code *code, struct root *root);
bool jit_show(struct jit *jit, struct ptx_code *code, struct root *root, ptx_shown *shown,
	      void *data);

/* ---- source_line.c: from a line of PTX to the line of the source that a compiler made it of ---- */
/* Writes "a.cu:7"; nothing if the text has no .loc for the line */
void source_line(const char *text, const char *end, uint32_t line, char *source, size_t size);

/* Writes the path of .file @number; nothing if the text has none */
void source_file(const char *text, const char *end, unsigned int number, char *path, size_t size);

/* Has a line of the text a word? */
bool source_says(const char *text, const char *end, uint32_t line, const char *word);

/* ---- line_table.c: from an address in translated code to the line of its text ---- */
struct line_table *line_table_add(const void *bytes, size_t size, const char *name,
				  uintptr_t address, const struct ptx_code *of);
void line_table_remove(struct line_table *table);
void line_table_find(uintptr_t address, char *text, size_t size);
bool line_table_says(uintptr_t address, const char *word);

/* ---- debugger.c: gdb and perf are told of compiled code if the user asks for it ---- */
/*
 * Tells gdb of an object whose code lies at @text: MEMCAST_PTX_GDB. Return: for gdb_remove(),
 * before the code is gone; NULL: there is no memory
 */
struct gdb_entry *gdb_add(const void *object, size_t size, uintptr_t text);
void gdb_remove(struct gdb_entry *entry);

/* Tells perf the names of an object's functions: MEMCAST_PTX_PERF. */
void perf_add(const struct ptx_code *code, const void *object, size_t size, uintptr_t text);

/* ---- ../x86/target.c, ../arm64/target.c: for which processors code is compiled ---- */
/* Tells LLVM of the architecture. */
void target_initialise(void);

/*
 * Chooses LLVM's name of a processor and a list of its features, for LLVMDisposeMessage(). A few
 * kinds of processors stand for all, so that different ones share compiled code.
 */
void target_choose(char **processor, char **features);

/* Has the processor instructions that convert f16? */
bool target_has_halves(const char *features);

/*
 * Return: LLVM's name of a processor that has no masked loads and stores, if loads of the one that
 * runs the code read, and fault at, what the mask leaves out, as QEMU's do without KVM; else NULL
 */
const char *target_without_masks(void);

#endif /* MEMCAST_PTX_CODE_H */
