/* SPDX-License-Identifier: MIT */
/* Without the headers, whose macros would rename half of functions.def: functions.c says more. */
#ifndef MEMCAST_RUNTIME_UNSUPPORTED_H
#define MEMCAST_RUNTIME_UNSUPPORTED_H

/* entry.c: logs that an unsupported function was called, and returns its result */
int function_unsupported(const char *symbol, const char *lacking);

#endif /* MEMCAST_RUNTIME_UNSUPPORTED_H */
