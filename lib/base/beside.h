/* SPDX-License-Identifier: MIT */
#ifndef LIBRARY_BESIDE_H
#define LIBRARY_BESIDE_H

#include <limits.h>
#include <stdbool.h>

bool library_beside(const char *name, char path[PATH_MAX]);

#endif /* LIBRARY_BESIDE_H */
