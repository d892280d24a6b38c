/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sets of devices: a bit for each by the machine's number, in as many words as the module's
 * devices take. bitmap_empty() and bitmap_replace() would do what two functions here do, but as
 * the number of devices is no constant they are calls: 2 % of what cuMemSetAccess() costs.
 */
#ifndef _MC_SET_H
#define _MC_SET_H

#include <linux/bitmap.h>
#include <linux/nospec.h>
#include "device.h"

/* Declares a set with room for as many devices as a module can have. */
#define MC_DECLARE_SET(name)	DECLARE_BITMAP(name, MEMCAST_MAX_DEVICES)

/* Words of a set. Constant while the file can be opened: allocated sets have just so many. */
static inline unsigned int mc_set_words(void)
{
	return BITS_TO_LONGS(mc_device_count);
}

/* Is the device in the set? The caller has found out that there is such a device. */
static inline bool mc_set_has(const unsigned long *set, u32 device)
{
	device = array_index_nospec(device, mc_device_count);
	return set[BIT_WORD(device)] & BIT_MASK(device);
}

/* Is any device in the set? */
static inline bool mc_set_any(const unsigned long *set)
{
	unsigned int i;

	for (i = 0; i < mc_set_words(); i++)
		if (set[i])
			return true;
	return false;
}

/* Return: the access of a device (NULL: none), by the sets of those that may read and write. */
static inline u32 mc_set_allows(const unsigned long *readable, const unsigned long *writable,
				const struct mc_device *device)
{
	if (!device)
		return MEMCAST_ACCESS_NONE;
	if (mc_set_has(writable, device->id))
		return MEMCAST_ACCESS_READWRITE;
	return mc_set_has(readable, device->id) ? MEMCAST_ACCESS_READ : MEMCAST_ACCESS_NONE;
}

/* Return: the most access that any device has. */
static inline u32 mc_set_most(const unsigned long *readable, const unsigned long *writable)
{
	if (mc_set_any(writable))
		return MEMCAST_ACCESS_READWRITE;
	return mc_set_any(readable) ? MEMCAST_ACCESS_READ : MEMCAST_ACCESS_NONE;
}

/* Changes a set for the @named devices: those in @in enter the set, the others leave it. */
static inline void mc_set_apply(unsigned long *set, const unsigned long *named,
				const unsigned long *in)
{
	unsigned int i;

	for (i = 0; i < mc_set_words(); i++)
		set[i] = (set[i] & ~named[i]) | in[i];
}

#endif /* _MC_SET_H */
