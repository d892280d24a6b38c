// SPDX-License-Identifier: MIT
/* The memory of a library's managed variables: a heap of the host's that no context owns. */
#include "alloc/advice.h"
#include "alloc/alloc.h"
#include "base/ioctl.h"
#include "kernel.h"

/* Finds the heap of its library's managed variables for a module, or makes it. */
CUresult managed_heap(const struct module *module, uint32_t *heap)
{
	struct memcast_heap_create arg = { .location = MEMCAST_LOCATION_HOST };
	CUresult result = device_ioctl(MEMCAST_HEAP_CREATE, &arg);
	struct managed *managed;
	bool ended;

	if (result != CUDA_SUCCESS)
		return result;
	pthread_mutex_lock(&modules_lock);
	managed = module->managed;	/* NULL: it was unloaded */
	ended = !managed || managed->ended;
	if (!ended && !managed->heap) {
		managed->heap = arg.out_heap;
		arg.out_heap = 0;
	}
	*heap = ended ? 0 : managed->heap;
	pthread_mutex_unlock(&modules_lock);
	heap_end(arg.out_heap);
	return ended ? fail(CUDA_ERROR_INVALID_HANDLE, "the library was unloaded meanwhile") :
		       CUDA_SUCCESS;
}

/* The library is unloaded, and its modules have ended. */
void managed_free(struct managed *managed)
{
	uint32_t heap;

	pthread_mutex_lock(&modules_lock);
	managed->ended = true;
	heap = managed->heap;
	managed->heap = 0;
	pthread_mutex_unlock(&modules_lock);
	heap_end(heap);
	advice_forget_heap(heap);
}
