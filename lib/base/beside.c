// SPDX-License-Identifier: MIT
/* Loads the objects that libcuda.so.1 needs on demand, from its own folder. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base.h"

/* Finds the file that has code at an address, as the kernel knows it. */
static bool file_of_code(unsigned long address, char *path)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[PATH_MAX + 128], *found = NULL;
	unsigned long start, end;

	while (maps && !found && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx", &start, &end) == 2 && address >= start && address < end)
			found = strchr(line, '/');
	if (maps)
		fclose(maps);
	if (found)
		snprintf(path, PATH_MAX, "%s", found);
	return found;
}

/*
 * Finds the path of a file beside this library's. The loader's name of the library may be a
 * link's, or relative to a folder that the program has left: it is used only without /proc.
 * Return: is the folder known?
 */
static bool path_beside(const char *name, char path[PATH_MAX])
{
	unsigned long here = (unsigned long)path_beside;
	char *slash;
	Dl_info info;

	if (!file_of_code(here, path)) {
		if (!dladdr((void *)here, &info))
			return false;
		snprintf(path, PATH_MAX, "%s", info.dli_fname);
	}
	slash = strrchr(path, '/');
	if (!slash || slash - path > PATH_MAX - (ptrdiff_t)strlen(name) - 2)
		return false;
	strcpy(slash + 1, name);
	return true;
}

const void *load_beside(const char *file, const char *symbol, uint32_t version, int flags,
			char *why, size_t size, bool *final)
{
	char path[PATH_MAX];
	const uint32_t *found;
	void *object;

	*final = true;
	if (!path_beside(file, path)) {
		snprintf(why, size, "the folder of libcuda.so.1 is not known");
		return NULL;
	}
	object = dlopen(path, flags);
	found = object ? dlsym(object, symbol) : NULL;
	if (!found) {
		snprintf(why, size, "%s", dlerror());
		*final = access(path, R_OK) && errno != ENOMEM;
	} else if (*found != version) {
		snprintf(why, size, "%s is not of the same build as libcuda.so.1", file);
		found = NULL;
	}
	return found;
}
