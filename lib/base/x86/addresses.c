// SPDX-License-Identifier: MIT
/* x86-64: 47 bits; more where the program asks for it. */
#include "base/base.h"

const uint64_t addresses_end = 1ULL << 47;
