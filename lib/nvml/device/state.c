// SPDX-License-Identifier: MIT
/* The module's state in sysfs: every process can read it, without opening a device. */
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "library.h"

#define CLASS		"/sys/class/memcast/memcast%u/"
/* for the file of a host, by its device numbers */
#define HOST		"/sys/dev/char/%u:%u/"
#define PARAMETER	"/sys/module/memcast/parameters/"
#define LOST_HOSTS	"/sys/class/misc/memcast/lost_hosts"

/* There is no such file: the module has gone, or the machine lacks what the file tells of. */
#define MISSING		NVML_ERROR_GPU_IS_LOST

/* Was a file not opened for want of descriptors or memory? Else it is not there. */
bool state_lacks_room(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/* Reads the first line of a short file. */
__attribute__((format(printf, 3, 4)))
static nvmlReturn_t read_line(char *line, size_t size, const char *format, ...)
{
	va_list arguments;
	char path[128];
	FILE *file;
	bool got;

	va_start(arguments, format);
	vsnprintf(path, sizeof(path), format, arguments);
	va_end(arguments);
	file = fopen(path, "re");
	if (!file && state_lacks_room(errno))
		return fail(NVML_ERROR_INSUFFICIENT_RESOURCES, "%s: %m", path);
	if (!file && errno != ENOENT)
		return fail(NVML_ERROR_UNKNOWN, "%s: %m", path);
	got = file && fgets(line, size, file);
	if (file)
		fclose(file);
	if (!got)
		return fail(MISSING, "%s is not there (any more)", path);
	line[strcspn(line, "\n")] = '\0';
	return NVML_SUCCESS;
}

__attribute__((format(printf, 2, 3)))
static nvmlReturn_t read_number(unsigned long long *number, const char *format, ...)
{
	va_list arguments;
	char path[128], line[32];
	nvmlReturn_t result;

	va_start(arguments, format);
	vsnprintf(path, sizeof(path), format, arguments);
	va_end(arguments);
	result = read_line(line, sizeof(line), "%s", path);
	if (result == NVML_SUCCESS)
		*number = strtoull(line, NULL, 10);
	return result;
}

/* The machine's number of the first device of this host, whose file /dev/memcast is */
static atomic_uint first_device;

/*
 * A host's file in the place of /dev/memcast is recognised by its device numbers, without
 * opening it. For any other file, or none, that folder does not exist, and all devices of the
 * machine count.
 */
static nvmlReturn_t read_host(unsigned long long *first, unsigned long long *most)
{
	unsigned int major, minor;
	struct stat file;
	nvmlReturn_t result;

	*first = 0;
	*most = DEVICES_MAX;
	if (stat(DEVICE_PATH, &file) || !S_ISCHR(file.st_mode))
		return NVML_SUCCESS;
	major = major(file.st_rdev);
	minor = minor(file.st_rdev);
	result = read_number(first, HOST "first_device", major, minor);
	if (result == MISSING)
		return NVML_SUCCESS;
	return result ?: read_number(most, HOST "devices", major, minor);
}

/* Other threads may be asking about devices: they find the number before this call, or after it. */
nvmlReturn_t state_find(unsigned int *devices)
{
	unsigned long long first, most;
	nvmlReturn_t result = read_host(&first, &most);
	unsigned int number = 0;
	char path[64];

	for (; result == NVML_SUCCESS && number < most; number++) {
		snprintf(path, sizeof(path), CLASS, (unsigned int)first + number);
		if (access(path, F_OK))
			break;
	}
	if (result != NVML_SUCCESS)
		return result;
	first_device = first;
	*devices = number;
	return NVML_SUCCESS;
}

unsigned int state_first(void)
{
	return first_device;
}

nvmlReturn_t state_uuid(unsigned int device, char text[40])
{
	return read_line(text, 40, CLASS "uuid", first_device + device);
}

nvmlReturn_t state_number(unsigned int device, const char *name, unsigned long long *number)
{
	return read_number(number, CLASS "%s", first_device + device, name);
}

/* *@node: output, a device's NUMA node; 0 if the machine has none */
nvmlReturn_t state_node(unsigned int device, int *node)
{
	unsigned long long number;
	nvmlReturn_t result = state_number(device, "numa_node", &number);

	if (result == NVML_SUCCESS)
		*node = (int)number < 0 ? 0 : (int)number;
	return result;
}

nvmlReturn_t state_multicast(bool *works)
{
	char line[8];
	nvmlReturn_t result = read_line(line, sizeof(line), PARAMETER "multicast");

	if (result == NVML_SUCCESS)
		*works = *line == 'Y';
	return result;
}

/* Reads 16 bytes in hexadecimal, with or without hyphens. */
static bool scan_uuid(const char *text, unsigned char uuid[16])
{
	for (int i = 0; i < 16; i++) {
		text += strspn(text, "-");
		if (sscanf(text, "%2hhx", &uuid[i]) != 1)
			return false;
		text += 2;
	}
	return true;
}

/*
 * The state of the whole fabric counts before that of a device, as when the module refuses
 * calls.
 */
nvmlReturn_t state_fabric(unsigned int device, struct state_fabric *fabric)
{
	unsigned long long clique;
	char word[64], cluster[64];
	nvmlReturn_t result = read_line(word, sizeof(word), PARAMETER "fabric_state");

	if (result == NVML_SUCCESS && !strcmp(word, "ready"))
		result = read_line(word, sizeof(word), CLASS "fabric_state",
				   first_device + device);
	result = result ?: read_number(&clique, PARAMETER "fabric_clique") ?:
		 read_line(cluster, sizeof(cluster), PARAMETER "fabric_cluster");
	if (result != NVML_SUCCESS)
		return result;
	*fabric = (struct state_fabric) {
		.ready = strcmp(word, "not_ready") && strcmp(word, "in_progress"),
		.illegal = !strcmp(word, "illegal") || !strcmp(word, "failed"),
		.clique = clique,
	};
	if (!scan_uuid(cluster, fabric->cluster))
		memset(fabric->cluster, 0, sizeof(fabric->cluster));
	return NVML_SUCCESS;
}

/* Sets the bits of a list like "0-3,8". */
static void scan_list(const char *list, unsigned long *set, unsigned int words)
{
	const unsigned long bits = 8 * sizeof(*set);
	unsigned long first, last;
	char *end;

	for (; *list; list = *end ? end + 1 : end) {
		first = strtoul(list, &end, 10);
		if (end == list)
			return;
		last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
		for (; first <= last && first < bits * words; first++)
			set[first / bits] |= 1UL << first % bits;
	}
}

nvmlReturn_t state_here(unsigned int device)
{
	enum { BITS = 8 * sizeof(unsigned long) };
	unsigned long lost[DEVICES_MAX / BITS] = {};
	unsigned long long host;
	char line[4096];
	nvmlReturn_t result = read_line(line, sizeof(line), LOST_HOSTS);

	/* in most cases an empty line */
	if (result == NVML_SUCCESS && *line)
		result = state_number(device, "host", &host);
	if (result != NVML_SUCCESS || !*line)
		return result;
	scan_list(line, lost, ARRAY_SIZE(lost));
	if (host < DEVICES_MAX && lost[host / BITS] >> host % BITS & 1)
		return fail(NVML_ERROR_GPU_IS_LOST, "the host of device %u was lost", device);
	return NVML_SUCCESS;
}

nvmlReturn_t state_node_cpus(int node, unsigned long *set, unsigned int words)
{
	char line[1024];
	nvmlReturn_t result = read_line(line, sizeof(line),
					"/sys/devices/system/node/node%d/cpulist", node);

	if (result == MISSING)
		result = read_line(line, sizeof(line), "/sys/devices/system/cpu/online");
	if (result != NVML_SUCCESS)
		return result;
	memset(set, 0, words * sizeof(*set));
	scan_list(line, set, words);
	return NVML_SUCCESS;
}
