/* SPDX-License-Identifier: MIT */
/*
 * CUDA_VISIBLE_DEVICES: the devices that a process sees, and their order. The library counts
 * devices as the program does; the module has numbers of its own, and ioctl.c translates
 * between them. Devices that are not visible have numbers behind the visible ones: a team of
 * several processes has members that only other processes see.
 */
#ifndef MEMCAST_VISIBLE_H
#define MEMCAST_VISIBLE_H

#include "base.h"

/* CUDA_VISIBLE_DEVICES is set: numbers are translated. Constant once cuInit() has succeeded. */
extern bool visible_set;

struct visible_list {
	uint32_t order[MEMCAST_MAX_DEVICES];	/* the module's numbers; the visible ones first */
	uint32_t devices, seen;	/* how many there are, and how many the program sees */
	bool given, named_twice;	/* the variable is set; it names a device twice */
};

CUresult visible_read(int fd, uint32_t devices, struct visible_list *list);
/* cuInit() alone, once: numbers are translated by this list from now on. */
void visible_use(const struct visible_list *list);
bool visible_translates(void);
CUresult visible_check(void);
uint32_t visible_count(uint32_t devices);
uint32_t visible_module_number(uint32_t device);
void visible_set_first(uint32_t device);
uint32_t visible_machine_number(uint32_t device);

/*
 * From now on the calling thread sees all devices, with the module's numbers (@all), or the
 * program's.
 */
bool visible_all(bool all);

/* Return: a number that no device has, for a device that the program does not see. */
uint32_t visible_number(CUdevice device);

static inline uint32_t device_number(CUdevice device)
{
	return visible_number(device);
}

static inline uint32_t location_number(const CUmemLocation *location)
{
	return location->type == CU_MEM_LOCATION_TYPE_DEVICE ? device_number(location->id) :
							       (uint32_t)location->id;
}

/*
 * translate.c: the program's numbers are indices of @order, whose entries are the module's
 * numbers; it sees the first @seen.
 */
void translate_by(const uint32_t *order, uint32_t count, uint32_t seen);

/* translate the device numbers in an ioctl's argument, before the ioctl and after it */
void visible_before(unsigned long request, void *argument);
void visible_after(unsigned long request, void *argument, bool succeeded);

#endif /* MEMCAST_VISIBLE_H */
