// SPDX-License-Identifier: MIT
/* What memcast-ptx.so offers to libcuda.so.1 */
#include "ptx/run/run.h"
#include "translate.h"

const struct ptx_object memcast_ptx_object = {
	.version = PTX_OBJECT_VERSION,
	.check = ptx_check,
	.link = ptx_link,
	.code_new = ptx_code_new,
	.code_free = ptx_code_free,
	.unified = ptx_code_unified,
	.kernel = ptx_code_kernel,
	.for_windows = ptx_code_for_windows,
	.count = ptx_code_count,
	.compile = ptx_code_compile,
	.show = ptx_code_show,
	.run = ptx_run,
};
