/* SPDX-License-Identifier: MIT */
/* All types of the runtime API; older programs include this one. */
#include <driver_types.h>
#include <vector_types.h>
