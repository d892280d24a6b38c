// SPDX-License-Identifier: MIT
/* Reads CUDA_VISIBLE_DEVICES. translate.c translates the device numbers in ioctls. */
#include <ctype.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ioctl.h"
#include "visible.h"

#define VARIABLE	"CUDA_VISIBLE_DEVICES"
#define UUID_PREFIX	"GPU-"
#define UUID_TEXT	41	/* GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx and its end */

bool visible_set;
static struct visible_list used;	/* cuInit()'s */
static _Atomic uint32_t first;
static __thread bool sees_all;

/* Return: the number that strtoul() reads at the start of @text; -1: no number, or one below 0. */
static long leading_number(const char *text)
{
	char *end;
	long number;

	text += strspn(text, " \t");
	number = strtol(text, &end, 10);
	return end == text || number < 0 ? -1 : number;
}

static CUresult uuid_of(int fd, uint32_t device, char *text)
{
	struct memcast_device_info info = { .device = device };
	CUresult result = device_ioctl_fd(fd, MEMCAST_DEVICE_INFO, &info.header, sizeof(info));
	const uint8_t *u = info.out_uuid;

	if (result == CUDA_SUCCESS)
		snprintf(text, UUID_TEXT, UUID_PREFIX
			 "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
			 u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11],
			 u[12], u[13], u[14], u[15]);
	return result;
}

/*
 * Sets *@found to the device whose UUID begins with @wanted; -1: no device has such a UUID, or
 * several.
 */
static CUresult find_uuid(int fd, uint32_t devices, const char *wanted, long *found)
{
	char uuid[UUID_TEXT];

	*found = -1;
	if (strncmp(wanted, UUID_PREFIX, strlen(UUID_PREFIX)))
		return CUDA_SUCCESS;
	for (uint32_t i = 0; i < devices; i++) {
		CUresult result = uuid_of(fd, i, uuid);

		if (result != CUDA_SUCCESS)
			return result;
		if (strncmp(uuid, wanted, strlen(wanted)))
			continue;
		if (*found >= 0) {
			*found = -1;
			break;
		}
		*found = i;
	}
	return CUDA_SUCCESS;
}

/*
 * The list ends at the first entry that names no device; a list that names a device twice makes
 * no device visible. The first entry decides whether all entries are UUIDs or numbers.
 */
static CUresult visible_parse(struct visible_list *into, char *list, int fd)
{
	bool uuids = !strncmp(list, UUID_PREFIX, strlen(UUID_PREFIX));
	bool listed[MEMCAST_MAX_DEVICES] = {};
	uint32_t devices = into->devices;
	CUresult result = CUDA_SUCCESS;
	char *text;

	into->seen = 0;
	while ((text = strsep(&list, ",")) && result == CUDA_SUCCESS) {
		long device = leading_number(text);

		if (uuids)
			result = find_uuid(fd, devices, text, &device);
		if (result != CUDA_SUCCESS || device < 0 || device >= (long)devices)
			break;
		if (listed[device]) {
			into->named_twice = true;
			into->seen = 0;
			break;
		}
		listed[device] = true;
		into->order[into->seen++] = device;
	}
	/* the invisible devices follow, in the module's order */
	memset(listed, 0, sizeof(listed));
	for (uint32_t i = 0; i < into->seen; i++)
		listed[into->order[i]] = true;
	for (uint32_t i = 0, next = into->seen; i < devices; i++)
		if (!listed[i])
			into->order[next++] = i;
	return result;
}

/* Reads the variable as the program has set it by now. */
CUresult visible_read(int fd, uint32_t devices, struct visible_list *into)
{
	const char *given = secure_getenv(VARIABLE);
	char *list = given ? strdup(given) : NULL;
	CUresult result;

	*into = (struct visible_list) { .given = given, .devices = devices, .seen = devices };
	for (uint32_t i = 0; i < devices; i++)
		into->order[i] = i;
	if (!given)
		return CUDA_SUCCESS;
	if (!list)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for " VARIABLE);
	result = visible_parse(into, list, fd);
	free(list);
	return result;
}

void visible_use(const struct visible_list *list)
{
	used = *list;
	translate_by(used.order, used.devices, used.seen);
	visible_set = used.given;
}

/* Does the program see any device? */
CUresult visible_check(void)
{
	if (!visible_set || used.seen)
		return CUDA_SUCCESS;
	if (used.named_twice)
		return fail(CUDA_ERROR_INVALID_DEVICE, VARIABLE " names a device twice");
	return fail(CUDA_ERROR_NO_DEVICE, VARIABLE " names no device that there is");
}

bool visible_all(bool all)
{
	bool before = sees_all;

	sees_all = all;
	return before;
}

bool visible_translates(void)
{
	return visible_set && !sees_all;
}

uint32_t visible_count(uint32_t devices)
{
	return visible_translates() ? used.seen : devices;
}

/*
 * Return: a device's number in ioctls; a number that no device has if the program does not see
 * the device.
 */
uint32_t visible_number(CUdevice device)
{
	return device < 0 || (visible_translates() && (uint32_t)device >= used.seen) ? INT_MAX :
										      device;
}

uint32_t visible_module_number(uint32_t device)
{
	return visible_translates() && device < used.devices ? used.order[device] : device;
}

/*
 * Notes which device of the machine this host's first device is; the module says so when it is
 * opened.
 */
void visible_set_first(uint32_t device)
{
	atomic_store_explicit(&first, device, memory_order_relaxed);
}

/* Return: a device's number in the machine, which no device of another host has. */
uint32_t visible_machine_number(uint32_t device)
{
	return atomic_load_explicit(&first, memory_order_relaxed) + visible_module_number(device);
}
