// SPDX-License-Identifier: MIT
/*
 * Compiles .cu files with the system's C++ compiler, for programs whose kernels memcast runs.
 * Options are those of nvcc, as far as they have a meaning here. Each file is preprocessed,
 * rewritten as C++ (rewrite.c) and compiled; all objects are linked with memcast's libraries.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cu.h"
#include "shared/options.h"

static const char usage[] =
	"Usage: memcast-cu [OPTION...] FILE.cu... [FILE...]\n"
	"\n"
	"Compile CUDA C++ with the C++ compiler at hand: the program runs on memcast, its\n"
	"kernels on the CPU. Options are nvcc's and the compiler's:\n"
	"\n"
	"  -o FILE          the program, object or shared object to write\n"
	"  -c, -dc          compile, do not link\n"
	"  -E               show the C++ that becomes of it\n"
	"  -shared          a shared object of kernels, for MEMCAST_KERNELS and memcast-vm "
	"--kernels\n"
	"  -Xcompiler A,B   options for the compiler; -Xlinker A for the linker\n"
	"  -ccbin COMPILER  which compiler; without it $CXX or g++\n"
	"  --default-stream per-thread\n"
	"  --dryrun         show the commands, and run none of them\n"
	"  -v               show them, and run them\n"
	"  --help           this\n"
	"  --version        the version\n"
	"\n"
	"Options about device code (-arch, -gencode, -rdc, -Xptxas, -use_fast_math and others)\n"
	"are taken and mean nothing. Others go to the compiler: -I -D -L -l -O -g -std=c++17.\n"
	"Example: memcast-cu -O2 vectorAdd.cu -o vectorAdd && memcast-vm -- ./vectorAdd\n";

static char folder[PATH_MAX];

extern char **environ;

/* Removes the files that this program has written for the compiler, when the program ends. */
static void clean_up(void)
{
	char *command[] = { "rm", "-rf", "--", folder, NULL };
	pid_t child;

	if (*folder && !posix_spawnp(&child, "rm", NULL, NULL, command, environ))
		waitpid(child, NULL, 0);
}

/* Ends the program with the command's status if it fails */
static void run(const struct cu_list *command)
{
	posix_spawnattr_t attributes;
	sigset_t signals;
	int status;
	pid_t child;

	for (size_t i = 0; (cu_options.show || cu_options.dry) && i < command->count; i++)
		fprintf(stderr, "%s%c", command->items[i], i + 1 < command->count ? ' ' : '\n');
	if (cu_options.dry)
		return;
	posix_spawnattr_init(&attributes);
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	posix_spawnattr_setsigdefault(&attributes, &signals);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	errno = posix_spawnp(&child, command->items[0], NULL, &attributes,
			     (char **)command->items, environ);
	posix_spawnattr_destroy(&attributes);
	if (errno)
		err(1, "%s: is a C++ compiler installed? -ccbin or CXX says which",
		    command->items[0]);
	if (waitpid(child, &status, 0) != child)
		err(1, "waitpid");
	if (status)
		exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* Return: the first file that a pattern, relative to this program's folder, names; NULL: none */
static const char *first_of(const char *const *patterns)
{
	char here[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", here, sizeof(here) - 1);

	if (length < 0)
		err(1, "/proc/self/exe");
	here[length] = '\0';
	*strrchr(here, '/') = '\0';
	for (; *patterns; patterns++) {
		glob_t found;

		if (!glob(cu_text("%s/%s", here, *patterns), 0, NULL, &found))
			return found.gl_pathv[0];
	}
	return NULL;
}

/*
 * Adds options for the folders of memcast's headers and libraries, if they are beside this program;
 * otherwise the compiler's own folders have to do.
 */
static void find_memcast(void)
{
	static const char *const headers[] = {
		"../../include/memcast/cu.h",		/* in the tree that builds it */
		"../include/memcast/cu.h", NULL
	}, *const runtimes[] = {
		"../../include/cuda_runtime.h", "../include/memcast/cuda/cuda_runtime.h",
		"../include/cuda_runtime.h", NULL
	}, *const libraries[] = {
		"../lib*/libcudart.so", "../lib/*/memcast/libcudart.so", NULL
	};
	const char *header = first_of(headers), *runtime = first_of(runtimes);
	const char *library = first_of(libraries);

	/* #include <memcast/cu.h> needs the folder above memcast/. */
	if (header)
		cu_add(&cu_options.compiling,
		       cu_text("-I%.*s", (int)(strlen(header) - strlen("/memcast/cu.h")), header));
	if (runtime)
		cu_add(&cu_options.compiling,
		       cu_text("-I%.*s", (int)(strrchr(runtime, '/') - runtime), runtime));
	if (library)
		cu_add(&cu_options.linking,
		       cu_text("-L%.*s", (int)(strrchr(library, '/') - library), library));
}

static char *read_all(const char *name)
{
	FILE *file = fopen(name, "r");
	char *all = NULL;
	size_t room = 0;

	if (!file || (getdelim(&all, &room, '\0', file) < 0 && ferror(file)))
		err(1, "%s", name);
	fclose(file);
	return all ? all : cu_text("%s", "");
}

/* Rewrites @source as C++. Return: the new file's name; NULL with -E, which compiles nothing */
static char *write_plain(const char *source, size_t number)
{
	char *before = cu_text("%s/%zu.in.ii", folder, number);
	char *after = cu_text("%s/%zu.ii", folder, number);
	struct cu_list command = { };
	struct words words;
	FILE *file;

	cu_add(&command, cu_options.compiler);
	cu_add(&command, "-std=c++17");
	cu_add_all(&command, &cu_options.compiling);
	for (const char *const *option = (const char *const []) {
		"-DMEMCAST_CU=1", "-D__CUDACC__=1", "-include", "memcast/cu.h", "-E", "-x", "c++",
		source, "-o", before, NULL }; *option; option++)
		cu_add(&command, *option);
	run(&command);
	if (cu_options.dry)
		return after;
	words = words_read(read_all(before), source);
	cu_rewrite(&words, source);
	file = cu_options.preprocess_only && !cu_options.output ? stdout :
	       fopen(cu_options.preprocess_only ? cu_options.output : after, "w");
	if (!file)
		err(1, "%s", cu_options.preprocess_only ? cu_options.output : after);
	words_write(&words, file);
	if (fflush(file) || ferror(file) || (file != stdout && fclose(file)))
		err(1, "%s", cu_options.preprocess_only ? "-E" : after);
	return cu_options.preprocess_only ? NULL : after;
}

static char *object_name(const char *source, size_t number)
{
	const char *base = strrchr(source, '/') ? strrchr(source, '/') + 1 : source;
	const char *dot = strrchr(base, '.');

	if (!cu_options.objects_only)
		return cu_text("%s/%zu.o", folder, number);
	return cu_options.output ? cu_text("%s", cu_options.output) :
				   cu_text("%.*s.o", (int)(dot - base), base);
}

static const char *compile(const char *source, size_t number)
{
	bool is_cu = cu_has_ending(source, ".cu");
	const char *plain = is_cu ? write_plain(source, number) : source, *object;
	struct cu_list command = { };

	if (!plain)
		return NULL;
	object = object_name(source, number);
	cu_add(&command, cu_options.compiler);
	if (is_cu)
		cu_add(&command, "-std=c++17");
	cu_add_all(&command, &cu_options.compiling);
	for (const char *const *option = (const char *const []) {
		"-fpreprocessed", "-x", "c++", NULL }; is_cu && *option; option++)
		cu_add(&command, *option);
	cu_add(&command, "-c");
	cu_add(&command, plain);
	cu_add(&command, "-o");
	cu_add(&command, object);
	run(&command);
	return object;
}

static void link_all(const struct cu_list *objects)
{
	struct cu_list command = { };

	cu_add(&command, cu_options.compiler);
	cu_add_all(&command, &cu_options.compiling);
	if (cu_options.shared)
		cu_add(&command, "-shared");
	else
		cu_add(&command, "-rdynamic");	/* kernels are known by their names */
	cu_add(&command, "-o");
	cu_add(&command, cu_options.output ? cu_options.output : "a.out");
	cu_add_all(&command, objects);
	cu_add_all(&command, &cu_options.linking);
	for (const char *const *option = (const char *const []) {
		"-lcudart", "-lcuda", "-ldl", "-pthread", NULL }; *option; option++)
		cu_add(&command, *option);
	run(&command);
}

int main(int argc, char **argv)
{
	struct cu_list objects = { };
	size_t number = 0;
	const char *temporary = getenv("TMPDIR");

	(void)argc;
	if (argv[1] && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return fputs(usage, stdout) < 0;
	if (argv[1] && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")))
		return puts(TOOLS_VERSION("memcast-cu")) < 0;
	cu_read_options(argv + 1);
	if (!cu_options.sources.count)
		errx(2, "no file to compile; memcast-cu --help");
	if (!cu_options.compiler)
		cu_options.compiler = getenv("CXX") && *getenv("CXX") ? getenv("CXX") : "g++";
	find_memcast();
	snprintf(folder, sizeof(folder), "%s/memcast-cu.XXXXXX", temporary ? temporary : "/tmp");
	if (!mkdtemp(folder))
		err(1, "%s", folder);
	atexit(clean_up);
	signal(SIGINT, SIG_IGN);	/* Ctrl-C ends the compiler, and its status this program */
	for (size_t i = 0; i < cu_options.sources.count; i++) {
		const char *object = cu_options.sources.items[i];

		if (cu_has_ending(object, ".cu") || cu_has_ending(object, ".cpp") ||
		    cu_has_ending(object, ".cc") || cu_has_ending(object, ".cxx"))
			object = compile(object, number++);
		if (object)
			cu_add(&objects, object);
	}
	if (!cu_options.objects_only && !cu_options.preprocess_only)
		link_all(&objects);
	return 0;
}
