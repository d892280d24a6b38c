// SPDX-License-Identifier: MIT
/* The functions that generated code calls, by name. */
#include "run.h"

#define NAME(name)	{ "ptx_run_" #name, (void *)ptx_run_##name }

const struct ptx_run_name ptx_run_names[] = {
	NAME(poll), NAME(poll_blind), NAME(nanosleep), NAME(exit), NAME(trap), NAME(brkpt), NAME(fault),
	NAME(misaligned), NAME(stack_overflow), NAME(bar_sync), NAME(bar_arrive), NAME(bar_red),
	NAME(cluster_arrive), NAME(cluster_wait), NAME(bar_warp_sync), NAME(vote), NAME(shfl),
	NAME(match_any), NAME(match_all), NAME(redux), NAME(elect), NAME(activemask),
	NAME(cuts), NAME(gather), NAME(together), NAME(view), NAME(view_holds), NAME(bulk_check),
	NAME(host), NAME(vprintf), NAME(malloc), NAME(free), NAME(assertfail), NAME(condition),
	NAME(access), NAME(order), NAME(locals), NAME(local), NAME(locals_end), NAME(stack_taken),
	{}
};
