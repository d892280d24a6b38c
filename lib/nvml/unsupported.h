/* SPDX-License-Identifier: MIT */
/* Apart from nvml.h, which declares half of functions.def: see functions.c. */
#ifndef MEMCAST_NVML_UNSUPPORTED_H
#define MEMCAST_NVML_UNSUPPORTED_H

/* init.c: what a function that is not supported answers, with its reason in the log */
int nvml_unsupported(const char *symbol, const char *lacking);

#endif /* MEMCAST_NVML_UNSUPPORTED_H */
