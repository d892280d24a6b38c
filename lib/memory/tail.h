/* SPDX-License-Identifier: MIT */
/*
 * Tails: on hardware a mapping may reach over its reservation's end. So it may here, if nothing of
 * the process is behind that: the reservation gets a tail there, until the mapping goes.
 */
#ifndef LIBRARY_TAIL_H
#define LIBRARY_TAIL_H

#include "base/base.h"

/* Maps what MEMCAST_MAP has refused, if the range leaves its reservation. */
CUresult tail_map(struct memcast_map *arg);

/* MEMCAST_UNMAP, which also ends the tail of the reservation that the range leaves */
CUresult tail_unmap(struct memcast_unmap *arg);

#endif /* LIBRARY_TAIL_H */
