/* SPDX-License-Identifier: MIT */
/* Events: shared by event.c, event_time.c and event_ipc.c. */
#ifndef MEMCAST_EVENT_H
#define MEMCAST_EVENT_H

#include "context/context.h"
#include "shared.h"

struct event {
	atomic_uint references;
	CUcontext context;
	unsigned int flags;
	struct shared *shared;	/* with other processes, or NULL; constant */
	pthread_mutex_t lock;	/* protects what follows */
	struct fence *fence;	/* NULL: not recorded yet */
	struct mark *mark;	/* of the last record, if a captured stream made it */
};

CUresult event_new(CUevent *handle, CUcontext context, unsigned int flags,
		   struct shared *shared);

#endif /* MEMCAST_EVENT_H */
