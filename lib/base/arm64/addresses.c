// SPDX-License-Identifier: MIT
/* arm64: 48 bits; more where the program asks for it, and fewer in kernels built for that. */
#include "base/base.h"

const uint64_t addresses_end = 1ULL << 48;
