/* SPDX-License-Identifier: MIT */
/*
 * Loads memcast-ptx.so, which translates PTX, when a kernel is needed of which there is PTX and
 * no function in C: programs that launch none do without it and without LLVM.
 */
#ifndef MEMCAST_TRANSLATE_H
#define MEMCAST_TRANSLATE_H

#include "base/base.h"
#include "ptx_object.h"

/* Return: the object, loaded the first time; NULL: it cannot be used, and @why says why not */
const struct ptx_object *translator_get(const char **why);

#endif /* MEMCAST_TRANSLATE_H */
