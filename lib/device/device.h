/* SPDX-License-Identifier: MIT */
/* Properties of devices, and opening /dev/memcast to ask for them. */
#ifndef LIBRARY_DEVICE_H
#define LIBRARY_DEVICE_H

#include "base/base.h"
#include "base/visible.h"

/* open.c */
CUresult device_open_checked(bool init, int *fd, int *devices);
CUresult library_borrow(bool *borrowed);
void library_return(void);

/* device.c */
CUresult device_info(CUdevice device, struct memcast_device_info *info);
CUresult system_info(struct memcast_system_info *info);

/* attribute.c */
CUresult device_attribute(int *value, CUdevice_attribute attribute, CUdevice device);

/* override.c: attributes that MEMCAST_ATTR overrides */
/* @init: for cuInit(), else for threads that look at devices before it */
void attribute_overrides_read(const struct visible_list *visible, bool init);
void attribute_overrides_complain(int devices);
/* @device: the module's number */
bool attribute_override(int *value, CUdevice_attribute attribute, CUdevice device);
bool attribute_named(const char *name, size_t length, CUdevice_attribute *attribute);
bool attribute_number(const char *text, const char *end, int *value);

/* profile.c: attributes of a kind of device */
void profile_read(bool init);
void profile_complain(void);
int profile_attribute(CUdevice_attribute attribute);
const char *profile_name(void);
size_t profile_recommended(size_t minimum);

#endif /* LIBRARY_DEVICE_H */
