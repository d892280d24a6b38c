// SPDX-License-Identifier: MIT
/* Finds the folder of libcuda.so.1, in which the objects are that it loads on demand. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

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
bool library_beside(const char *name, char path[PATH_MAX])
{
	unsigned long here = (unsigned long)library_beside;
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
