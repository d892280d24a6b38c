// SPDX-License-Identifier: MIT
/* The module's state in sysfs: every process can read it, without opening a device. */
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

/* Reads the first line of a short file. */
__attribute__((format(printf, 3, 4)))
static bool read_line(char *line, size_t size, const char *format, ...)
{
	va_list arguments;
	char path[128];
	FILE *file;
	bool got;

	va_start(arguments, format);
	vsnprintf(path, sizeof(path), format, arguments);
	va_end(arguments);
	file = fopen(path, "re");
	if (!file)
		return false;
	got = fgets(line, size, file);
	fclose(file);
	if (got)
		line[strcspn(line, "\n")] = '\0';
	return got;
}

/* The machine's number of the first device of this host, whose file /dev/memcast is */
static atomic_uint first_device;

/*
 * A host's file in the place of /dev/memcast is recognised by its device numbers, without
 * opening it. For any other file, or none, that folder does not exist, and all devices of the
 * machine count.
 */
static unsigned int read_host(void)
{
	unsigned int major, minor;
	struct stat file;
	char line[32];

	first_device = 0;
	if (stat(DEVICE_PATH, &file) || !S_ISCHR(file.st_mode))
		return DEVICES_MAX;
	major = major(file.st_rdev);
	minor = minor(file.st_rdev);
	if (!read_line(line, sizeof(line), HOST "first_device", major, minor))
		return DEVICES_MAX;
	first_device = strtoul(line, NULL, 10);
	return read_line(line, sizeof(line), HOST "devices", major, minor) ?
	       strtoul(line, NULL, 10) : 0;
}

unsigned int state_devices(void)
{
	unsigned int number = 0, most = read_host();
	char path[64];

	for (; number < most; number++) {
		snprintf(path, sizeof(path), CLASS, first_device + number);
		if (access(path, F_OK))
			break;
	}
	return number;
}

unsigned int state_first(void)
{
	return first_device;
}

bool state_uuid(unsigned int device, char text[40])
{
	return read_line(text, 40, CLASS "uuid", first_device + device);
}

unsigned long long state_number(unsigned int device, const char *name)
{
	char line[32];

	return read_line(line, sizeof(line), CLASS "%s", first_device + device, name) ?
	       strtoull(line, NULL, 10) : 0;
}

/* Return: a device's NUMA node; 0 if the machine has none. */
int state_node(unsigned int device)
{
	int node = (int)state_number(device, "numa_node");

	return node < 0 ? 0 : node;
}

bool state_multicast(void)
{
	char line[8];

	return read_line(line, sizeof(line), PARAMETER "multicast") && *line == 'Y';
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
void state_fabric(unsigned int device, struct state_fabric *fabric)
{
	char line[64];

	*fabric = (struct state_fabric) { .ready = true };
	if ((read_line(line, sizeof(line), PARAMETER "fabric_state") && strcmp(line, "ready")) ||
	    read_line(line, sizeof(line), CLASS "fabric_state", first_device + device)) {
		fabric->ready = strcmp(line, "not_ready") && strcmp(line, "in_progress");
		fabric->illegal = !strcmp(line, "illegal") || !strcmp(line, "failed");
	}
	if (read_line(line, sizeof(line), PARAMETER "fabric_clique"))
		fabric->clique = strtoul(line, NULL, 10);
	if (read_line(line, sizeof(line), PARAMETER "fabric_cluster") &&
	    !scan_uuid(line, fabric->cluster))
		memset(fabric->cluster, 0, sizeof(fabric->cluster));
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

bool state_lost(unsigned int device)
{
	enum { BITS = 8 * sizeof(unsigned long) };
	unsigned long lost[DEVICES_MAX / BITS] = {};
	unsigned long long host;
	char line[4096];

	/* in most cases an empty line */
	if (!read_line(line, sizeof(line), LOST_HOSTS) || !*line)
		return false;
	scan_list(line, lost, ARRAY_SIZE(lost));
	host = state_number(device, "host");
	return host < DEVICES_MAX && lost[host / BITS] >> host % BITS & 1;
}

void state_node_cpus(int node, unsigned long *set, unsigned int words)
{
	char line[1024];

	memset(set, 0, words * sizeof(*set));
	if (read_line(line, sizeof(line), "/sys/devices/system/node/node%d/cpulist", node) ||
	    read_line(line, sizeof(line), "/sys/devices/system/cpu/online"))
		scan_list(line, set, words);
}
