// SPDX-License-Identifier: MIT
/*
 * From IR to code of this processor. Each root becomes an object by itself, which a linker of
 * LLVM's puts into memory; it maps code as readable and executable only.
 */
#include <llvm-c/Analysis.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Error.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cache.h"
#include "code.h"
#include "elf_file.h"
#include "llvm.h"
#include "ptx/ir/ir.h"

#define NAP_NS		10000000UL
#define NAPS_TOLD	500		/* looks at a lock before it says that it waits: 5 s */
#define NAPS_MOST	3000

#define LARGE	4000	/* statements: from here on, code is made quickly rather than well */

/*
 * LLVM's mem2reg looks at all blocks for each register that begins as 0. From this product of both
 * on, the registers of a large function stay in memory.
 */
#define PROMOTED_MOST	(20UL << 20)

struct jit {
	LLVMOrcLLJITRef linker;
	/* for small roots, for large ones, and to divide masked loads if that is needed, or NULL */
	LLVMTargetMachineRef machines[3];
	struct arena arena;
	struct scope *names;		/* that the linker knows */
	struct digest target;		/* the compiler, and the processor that it compiles for */
	bool caches;
	bool halves;
	bool all_large;			/* MEMCAST_PTX_LEVEL=0: as if all roots were large */
	struct root *linked;		/* whose log says what is wrong, if it does not link */
};

/* A root while its code is made */
struct making {
	struct jit *jit;
	struct ptx_code *code;
	struct root *root;
	struct digest key;		/* in the cache */
	int lock;			/* of the cache, or CACHE_… */
	ptx_shown *shown;		/* gets the code, which is not linked then; or NULL */
	void *data;
};

/* Functions of the C library that LLVM may call for instructions that a processor lacks */
static const struct {
	const char *name;
	void *address;
} library_functions[] = {
#define F(name) { #name, (void *)(uintptr_t)name },
	F(memcpy) F(memset) F(memmove) F(fma) F(fmaf) F(floor) F(floorf) F(ceil) F(ceilf) F(trunc)
	F(truncf) F(rint) F(rintf) F(nearbyint) F(nearbyintf) F(sqrt) F(sqrtf) F(fmin) F(fminf)
	F(fmax) F(fmaxf)
#undef F
};

static pthread_once_t once = PTHREAD_ONCE_INIT;

/*
 * LLVM takes the metadata of no_order() to say that accesses within one turn of a loop have no order
 * either, when it groups interleaved accesses. That is wrong here, so it must not group them.
 *
 * Code that is made quickly gives each value a place of its own on the stack: 200 KiB for a function
 * of NCCL, of which each of 10,240 threads uses 30. Registers that are allocated well make it 23 KiB,
 * and the code a third smaller, for a sixth more time.
 */
static void initialise(void)
{
	static const char *const options[] = {
		"memcast-ptx", "-enable-interleaved-mem-accesses=false", "-optimize-regalloc",
	};

	LLVMParseCommandLineOptions(ARRAY_SIZE(options), options, NULL);
	ptx_run_line_at = line_table_find;
	ptx_run_line_says = line_table_says;
	target_initialise();
}

static bool take_error(LLVMErrorRef error, struct root *root)
{
	char *message;

	if (!error)
		return false;
	message = LLVMGetErrorMessage(error);
	root->no_memory |= strstr(message, strerror(ENOMEM)) != NULL;
	snprintf(root->log.text, sizeof(root->log.text), "LLVM: %s", message);
	LLVMDisposeErrorMessage(message);
	return true;
}

/* Is a variable of the environment set, and not to 0? */
bool jit_wants(const char *variable)
{
	const char *value = secure_getenv(variable);

	return value && *value && strcmp(value, "0");
}

/* Gets what is wrong with an object before the look-up of its function fails, which does not say it. */
static void report(void *data, LLVMErrorRef error)
{
	struct jit *jit = data;

	take_error(error, jit->linked);
}

static LLVMTargetMachineRef new_machine(LLVMTargetRef target, const char *triple,
					const char *processor, const char *features,
					LLVMCodeGenOptLevel level)
{
	return LLVMCreateTargetMachine(target, triple, processor, features, level, LLVMRelocPIC,
				       LLVMCodeModelSmall);
}

struct jit *jit_new(const struct ptx_code *code, struct root *root)
{
	struct jit *jit = calloc(1, sizeof(*jit));
	char *triple, *processor, *features, *message = NULL;
	const char *level = secure_getenv("MEMCAST_PTX_LEVEL"), *without_masks;
	LLVMTargetRef target;

	pthread_once(&once, initialise);
	if (!jit) {
		root_lacks_memory(root);
		return NULL;
	}
	if (take_error(llvm_new_linker(&jit->linker), root)) {
		free(jit);
		return NULL;
	}
	LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcLLJITGetExecutionSession(jit->linker),
						report, jit);
	jit->names = scope_new(&jit->arena, NULL);
	if (!jit->names) {
		root_lacks_memory(root);
		jit_free(jit);
		return NULL;
	}
	triple = LLVMGetDefaultTargetTriple();
	target_choose(&processor, &features);
	without_masks = target_without_masks();
	if (LLVMGetTargetFromTriple(triple, &target, &message)) {
		snprintf(root->log.text, sizeof(root->log.text), "LLVM: %s", message);
		jit_free(jit);
		jit = NULL;
	} else {
		jit->machines[0] = new_machine(target, triple, processor, features,
					       LLVMCodeGenLevelDefault);
		jit->machines[1] = new_machine(target, triple, processor, features,
					       LLVMCodeGenLevelNone);
		if (without_masks)
			jit->machines[2] = new_machine(target, triple, without_masks, "",
						       LLVMCodeGenLevelDefault);
	}
	if (jit) {
		jit->all_large = code->debugged || (level && *level == '0');
		jit->halves = target_has_halves(features);
		jit->caches = cache_build(&jit->target);
		digest_add(&jit->target, processor, strlen(processor));
		digest_add(&jit->target, features, strlen(features));
		llvm_version(&jit->target);
		digest_add(&jit->target, &jit->all_large, sizeof(jit->all_large));
		if (without_masks)
			digest_add(&jit->target, "no masks", 8);
		if (code->checked)
			digest_add(&jit->target, "checks", 6);
		if (code->debugged)
			digest_add(&jit->target, "gdb", 3);
	}
	if (message)
		LLVMDisposeMessage(message);
	LLVMDisposeMessage(triple);
	LLVMDisposeMessage(processor);
	LLVMDisposeMessage(features);
	return jit;
}

bool jit_has_halves(const struct jit *jit)
{
	return jit->halves;
}

void jit_free(struct jit *jit)
{
	LLVMErrorRef error = LLVMOrcDisposeLLJIT(jit->linker);

	if (error)
		LLVMConsumeError(error);
	for (uint32_t i = 0; i < ARRAY_SIZE(jit->machines); i++)
		if (jit->machines[i])
			LLVMDisposeTargetMachine(jit->machines[i]);
	arena_free(&jit->arena);
	free(jit);
}

/* LLVM tells the size of each stack frame as if it were a warning. */
static void diagnostic(LLVMDiagnosticInfoRef info, void *data)
{
	char *text = LLVMGetDiagInfoDescription(info), *frame = strstr(text, "stack frame size (");
	char *function = strstr(text, "function '"), *number = strchr(text, '(');
	struct root *root = data;
	struct function *of = root->function;
	unsigned int id;

	if (frame)
		number = strchr(frame, '(');
	if (number && function) {
		uint32_t bytes = strtoul(number + 1, NULL, 10);
		bool form = sscanf(function, "function 'function.%u", &id) != 1;

		for (uint32_t i = 0; i < root->functions_count && !form; i++)
			if (facts_of(root->functions[i])->number == id)
				of = root->functions[i];
		/* a kernel that is cut is two forms, one of which calls the other */
		facts_of(of)->own_frame = form ? facts_of(of)->own_frame + bytes : bytes;
	}
	LLVMDisposeMessage(text);
}

/* Tells the linker a name, once. */
static bool define(struct jit *jit, const char *name, void *address, struct root *root)
{
	struct word word = { .at = arena_text(&jit->arena, name, strlen(name)),
			     .length = strlen(name) };
	LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib(jit->linker);
	LLVMOrcCSymbolMapPair pair = {
		.Sym = { .Address = (uintptr_t)address,
			 .Flags = { LLVMJITSymbolGenericFlagsExported, 0 } },
	};

	if (!word.at)
		return root_lacks_memory(root);
	if (scope_find_here(jit->names, word.at, word.length))
		return true;
	pair.Name = LLVMOrcLLJITMangleAndIntern(jit->linker, name);
	if (!scope_add(jit->names, &word))
		return root_lacks_memory(root);
	return !take_error(llvm_define(jit->linker, library, &pair, 1), root);
}

static bool define_all(struct jit *jit, struct root *root)
{
	for (size_t i = 0; i < ARRAY_SIZE(library_functions); i++)
		if (!define(jit, library_functions[i].name, library_functions[i].address, root))
			return false;
	for (uint32_t i = 0; i < root->externals_count; i++)
		if (!define(jit, root->externals[i].name, root->externals[i].address, root))
			return false;
	return true;
}

static void *look_up(struct jit *jit, const char *kind, struct root *root)
{
	LLVMOrcExecutorAddress address = 0;
	LLVMErrorRef error;
	char name[64];

	root_name(root, kind, name, sizeof(name));
	error = LLVMOrcLLJITLookup(jit->linker, &address, name);
	if (!error)
		return (void *)(uintptr_t)address;
	if (*root->log.text)
		LLVMConsumeError(error);
	else
		take_error(error, root);
	return NULL;
}

static void keep_lines(struct root *root, const char *kind, const void *object, size_t size,
		       const void *address)
{
	struct ptx_code *code = facts_of(root->function)->slot.owner;
	uintptr_t text;
	char name[64];

	root_name(root, kind, name, sizeof(name));
	root->lines = line_table_add(object, size, name, (uintptr_t)address, code);
	text = elf_text(object, size, name, (uintptr_t)address);
	if (text && code->debugged)
		root->gdb = gdb_add(object, size, text);
	if (text && jit_wants("MEMCAST_PTX_PERF"))
		perf_add(code, object, size, text);
}

/* Keeps an object for other processes. */
static void keep(const struct making *making, void *object, size_t size)
{
	const struct root *root = making->root;
	struct cached cached = { .frame = root->kernel.frame, .object = object,
				 .object_bytes = size };
	char *end;

	for (uint32_t i = 0; i < root->externals_count; i++)
		cached.names_bytes += strlen(root->externals[i].name) + 1;
	cached.names = end = malloc(cached.names_bytes + 1);
	if (!end)
		return;
	for (uint32_t i = 0; i < root->externals_count; i++)
		end = stpcpy(end, root->externals[i].name) + 1;
	cache_store(making->lock, &making->key, &cached);
	free(cached.names);
}

static bool link_object(const struct making *making, LLVMMemoryBufferRef object, bool is_new)
{
	struct jit *jit = making->jit;
	struct root *root = making->root;
	LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib(jit->linker);
	LLVMOrcResourceTrackerRef tracker;
	const char *kind = !root->function->kernel ? "function" : root->kernel.waits ? "thread" :
			   "block";
	size_t size = LLVMGetBufferSize(object);
	void *copy = malloc(size), *address;	/* the linker takes the object away */

	jit->linked = root;
	if (copy)
		memcpy(copy, LLVMGetBufferStart(object), size);
	if (!(copy || root_lacks_memory(root)) || !define_all(jit, root)) {
		free(copy);
		LLVMDisposeMemoryBuffer(object);
		return false;
	}
	tracker = LLVMOrcJITDylibCreateResourceTracker(library);
	address = take_error(LLVMOrcLLJITAddObjectFileWithRT(jit->linker, tracker, object), root) ?
		  NULL : look_up(jit, kind, root);
	/* for lack of memory: its names are free again, for the next try */
	if (!address)
		LLVMConsumeError(LLVMOrcResourceTrackerRemove(tracker));
	LLVMOrcReleaseResourceTracker(tracker);
	if (address)
		keep_lines(root, kind, copy, size, address);
	if (address && is_new)
		keep(making, copy, size);
	free(copy);
	if (!root->function->kernel)
		root->entry = address;
	else if (root->kernel.waits)
		root->kernel.thread = (void (*)(struct ptx_thread *, const void *))address;
	else
		root->kernel.block = (void (*)(struct ptx_thread *, const void *))address;
	return address;
}

static bool fail_root(struct root *root, const char *what, char *message)
{
	root->failed = true;
	snprintf(root->log.text, sizeof(root->log.text), "%s: %s", what, message ? message : "");
	if (message)
		LLVMDisposeMessage(message);
	return false;
}

static const char *passes_of(const struct root *root, bool large)
{
	/* each register has its place in memory, where gdb finds it */
	if (facts_of(root->function)->slot.owner->debugged)
		return "always-inline";
	if (!large)
		return "default<O2>";
	if ((uint64_t)root->zeroed * root->statements > PROMOTED_MOST)
		return "always-inline,function(simplifycfg)";
	return "always-inline,function(mem2reg,simplifycfg)";
}

/* Code as text: what is optimised already, and what the processor gets of it */
static bool show(const struct making *making, LLVMModuleRef module, LLVMTargetMachineRef machine)
{
	struct root *root = making->root;
	char *ir = LLVMPrintModuleToString(module), *message = NULL;
	char *processor = LLVMGetTargetMachineCPU(machine);
	LLVMMemoryBufferRef assembler;
	bool good = !LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMAssemblyFile,
							 &message, &assembler);
	char about[200];

	if (good) {
		snprintf(about, sizeof(about), "%s, %u bytes of stack%s, for %s",
			 !root->function->kernel ? "a function that is called" :
			 root->kernel.waits ? "a stack for each thread" : "loops over threads",
			 root_frame(root->function), root->kernel.deep ? " or more" : "", processor);
		making->shown(making->data, about, ir, LLVMGetBufferStart(assembler));
		LLVMDisposeMemoryBuffer(assembler);
	}
	LLVMDisposeMessage(processor);
	LLVMDisposeMessage(ir);
	return good || fail_root(root, "LLVM", message);
}

/* Optimises a module whose code is worth it. Return: NULL, or what went wrong */
static char *optimise_well(const struct making *making, LLVMModuleRef module)
{
	struct jit *jit = making->jit;
	char *message = llvm_optimise(module, jit->machines[0], "function(mem2reg,instsimplify)", 0);

	if (message)
		return message;
	drop_nans(module);
	message = llvm_optimise(module, jit->machines[0], passes_of(making->root, false), 0);
	if (!message && jit->machines[2])
		message = llvm_optimise(module, jit->machines[2],
					"function(scalarize-masked-mem-intrin)", 0);
	return message;
}

static bool emit(const struct making *making, LLVMModuleRef module, LLVMTargetMachineRef machine)
{
	struct root *root = making->root;
	LLVMMemoryBufferRef object;
	char *message = NULL;

	if (making->shown)
		return show(making, module, machine);
	if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &message, &object))
		return fail_root(root, "LLVM", message);
	root->kernel.frame = root->kernel.deep ? 0 : root_frame(root->function);
	return link_object(making, object, true);
}

static bool make_object(const struct making *making, LLVMModuleRef module)
{
	struct jit *jit = making->jit;
	struct root *root = making->root;
	bool large = root->statements > LARGE || jit->all_large, good;
	LLVMModuleRef plain = NULL;
	char *message = NULL;

	if (LLVMVerifyModule(module, LLVMReturnStatusAction, &message))
		return fail_root(root, "the translator made a mistake", message);
	LLVMDisposeMessage(message);
	message = NULL;
	if (!large) {
		plain = LLVMCloneModule(module);
		message = optimise_well(making, module);
		/* LLVM 19 moves values behind their uses in a few kernels, and then crashes. */
		large = !message && LLVMVerifyModule(module, LLVMReturnStatusAction, NULL);
	}
	if (large)
		message = llvm_optimise(plain ?: module, jit->machines[1], passes_of(root, true), 1);
	good = message ? fail_root(root, "LLVM", message) :
			 emit(making, large && plain ? plain : module, jit->machines[large]);
	if (plain)
		LLVMDisposeModule(plain);
	return good;
}

static bool compile(const struct making *making)
{
	struct jit *jit = making->jit;
	struct root *root = making->root;
	LLVMContextRef context = LLVMContextCreate();
	LLVMModuleRef module = LLVMModuleCreateWithNameInContext("ptx", context);
	LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(jit->machines[0]);
	char *triple = LLVMGetTargetMachineTriple(jit->machines[0]);
	bool good;

	LLVMSetModuleDataLayout(module, layout);
	LLVMSetTarget(module, triple);
	LLVMContextSetDiagnosticHandler(context, diagnostic, root);
	facts_of(root->function)->own_frame = 0;	/* the kernel may have been compiled before */
	good = translate_root(making->code, root, context, module);
	for (uint32_t i = 0; i < root->functions_count; i++)
		root->statements += root->functions[i]->statements;
	if (good)
		good = make_object(making, module);
	LLVMDisposeMessage(triple);
	LLVMDisposeTargetData(layout);
	LLVMDisposeModule(module);
	LLVMContextDispose(context);
	return good;
}

static struct digest key_of(const struct making *making)
{
	struct digest key = making->jit->target;

	digest_add(&key, &making->code->digest, sizeof(making->code->digest));
	digest_add(&key, &making->code->fibers, sizeof(making->code->fibers));
	digest_add(&key, &facts_of(making->root->function)->number, sizeof(uint32_t));
	if (making->root->kernel.windows)
		digest_add(&key, "windows", 7);
	return key;
}

/*
 * Takes an object that another process, or an earlier run, has made. Return: true: the root needs no
 * compilation, or there is no memory for it
 */
static bool take_cached(const struct making *making)
{
	struct root *root = making->root;
	struct cached cached;
	bool good = true;

	if (!cache_load(&making->key, &cached))
		return false;
	for (const char *name = cached.names; good && name < cached.names + cached.names_bytes;
	     name += strlen(name) + 1) {
		void *address = external_find(making->code, name);

		good = address;
		if (good)
			root_external(root, name, address);
	}
	if (good && !root->no_memory) {
		root->kernel.frame = cached.frame;
		good = link_object(making, LLVMCreateMemoryBufferWithMemoryRangeCopy
				   (cached.object, cached.object_bytes, "ptx"), false);
	}
	free(cached.memory);
	return good || root->no_memory;
}

static void say(const struct making *making, const char *format)
{
	const struct symbol *symbol = making->root->function->symbol;
	char text[400];

	if (!making->code->notice)
		return;
	snprintf(text, sizeof(text), format, symbol->length < 200 ? (int)symbol->length : 200,
		 symbol->name);
	making->code->notice(text);
}

/*
 * Takes the lock of the cache. Who has it may never give it back: it is stopped, or it was killed
 * while it compiled, and its child has the lock on. Return: has it stored the code?
 */
static bool wait_for_lock(struct making *making)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };

	for (uint32_t naps = 0; naps < NAPS_MOST; naps++) {
		making->lock = cache_lock(&making->key);
		if (making->lock != CACHE_TAKEN)
			return making->lock != CACHE_NONE && take_cached(making);
		if (naps == NAPS_TOLD)
			say(making, "%.*s: has waited 5 s for another process that compiles it");
		nanosleep(&nap, NULL);
		if (take_cached(making))
			return true;
	}
	say(making, "%.*s: has waited 30 s for another process that compiles it, and is compiled "
	    "here, too");
	return false;
}

/* Return: false: the root's log says why not */
bool jit_compile(struct jit *jit, struct ptx_code *code, struct root *root)
{
	struct making making = { .jit = jit, .code = code, .root = root, .lock = CACHE_NONE };
	bool good;

	if (!jit->caches)
		return compile(&making);
	making.key = key_of(&making);
	good = take_cached(&making) || wait_for_lock(&making) || compile(&making);
	cache_unlock(making.lock);
	return good && !root->no_memory;
}

/* Compiles a root to text alone. Return: false: the root's log says why not */
bool jit_show(struct jit *jit, struct ptx_code *code, struct root *root, ptx_shown *shown,
	      void *data)
{
	struct making making = {
		.jit = jit, .code = code, .root = root, .lock = CACHE_NONE, .shown = shown, .data = data,
	};

	return compile(&making);
}
