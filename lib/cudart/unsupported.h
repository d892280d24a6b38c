/* SPDX-License-Identifier: MIT */
/* Apart from the headers, whose macros would rename half of functions.def: see functions.c. */
#ifndef MEMCAST_RUNTIME_UNSUPPORTED_H
#define MEMCAST_RUNTIME_UNSUPPORTED_H

/* entry.c: what a function that is not supported answers, with its reason in the log */
int function_unsupported(const char *symbol, const char *lacking);

#endif /* MEMCAST_RUNTIME_UNSUPPORTED_H */
