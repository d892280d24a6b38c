/* SPDX-License-Identifier: MIT */
/* Without nvml.h, which declares half of functions.def: functions.c says more. */
#ifndef MEMCAST_NVML_UNSUPPORTED_H
#define MEMCAST_NVML_UNSUPPORTED_H

/* init.c: logs that an unsupported function was called, and returns its result */
int nvml_unsupported(const char *symbol, const char *lacking);

#endif /* MEMCAST_NVML_UNSUPPORTED_H */
