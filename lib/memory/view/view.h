/* SPDX-License-Identifier: MIT */
/* Views, and windows' views, which are found by an address. */
#ifndef LIBRARY_VIEW_H
#define LIBRARY_VIEW_H

#include "base/base.h"

/* view.c */
CUresult view_map(const char *call, struct memcast_view *view,
		  const struct memcast_handle_info *team, size_t offset, size_t bytes,
		  uint32_t *accessor, unsigned int count);
CUresult view_allow(const struct memcast_view *view, unsigned int first,
		    unsigned int count, CUdevice device, CUmemAccess_flags access);
void view_unmap(const struct memcast_view *view);

/* window.c: for signal handlers */
bool window_trapped(CUdeviceptr address, const struct memcast_view **view,
		    size_t *offset, CUmemAccess_flags *access);
bool window_near(CUdeviceptr address);
bool window_between(CUdeviceptr address);

/* window.c: called after the kernel has changed mappings */
void windows_mapped(CUdeviceptr address, size_t bytes);
void windows_changed(CUdeviceptr address, size_t bytes);

#endif /* LIBRARY_VIEW_H */
