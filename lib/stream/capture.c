// SPDX-License-Identifier: MIT
/* References to marks, and the counters of captures; see capture.h. */
#include <stdlib.h>

#include "capture.h"

atomic_uint captures, graph_memories;
const struct capture_operations *capture_operations;

struct mark *mark_get(struct mark *mark)
{
	if (mark)
		mark->references++;
	return mark;
}

void mark_put(struct mark *mark)
{
	if (mark && !--mark->references)
		free(mark);
}
