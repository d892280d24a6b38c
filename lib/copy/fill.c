// SPDX-License-Identifier: MIT
/* Fills, linear and of rows. Those without a stream run in the legacy one. */
#include "copy.h"

CUresult fill_rows(CUstream stream, bool async, CUdeviceptr to, size_t pitch,
		   uint32_t value, uint32_t width, size_t count, size_t rows)
{
	struct memcast_fill arg = {
		.width = width,
		.value = value,
		.rows = 1,
	};

	/* an empty fill ignores its address, and one of a single row its pitch */
	if (count && rows) {
		arg.to = to;
		arg.count = count;
		arg.rows = rows;
		arg.pitch = rows > 1 ? pitch : 0;
	}
	return transfer_fill(stream, &arg, async);
}

#define FILLS(bits, type)							\
CUresult cuMemsetD##bits##_v2(CUdeviceptr to, type value, size_t count)	\
{										\
	return WHOLE_CALL(fill_rows(CU_STREAM_LEGACY, false, to, 0, value,		\
				    sizeof(value), count, 1), to, value, count);	\
}										\
										\
CUresult cuMemsetD##bits##Async(CUdeviceptr to, type value, size_t count,	\
				CUstream stream)				\
{										\
	return WHOLE_CALL(fill_rows(stream, true, to, 0, value, sizeof(value), count, 1), \
			  to, value, count, stream);					\
}										\
										\
CUresult cuMemsetD2D##bits##_v2(CUdeviceptr to, size_t pitch, type value,	\
				size_t count, size_t rows)			\
{										\
	return WHOLE_CALL(fill_rows(CU_STREAM_LEGACY, false, to, pitch, value,	\
				    sizeof(value), count, rows),			\
			  to, pitch, value, count, rows);				\
}										\
										\
CUresult cuMemsetD2D##bits##Async(CUdeviceptr to, size_t pitch, type value,	\
				  size_t count, size_t rows, CUstream stream)	\
{										\
	return WHOLE_CALL(fill_rows(stream, true, to, pitch, value, sizeof(value),	\
				    count, rows),					\
			  to, pitch, value, count, rows, stream);			\
}

FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned int)
