// SPDX-License-Identifier: MIT
/* A process that makes the calls it is sent, and sends back their answers. */
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <memcast/view.h>

#include "helpers.h"
#include "model.h"

static struct memcast_view views[VIEWS];

static CUresult create(const struct call *c, struct answer *a)
{
	CUmemAllocationProp prop = {
		.type = c->kind,
		.requestedHandleTypes = c->types,
		.location = {
			c->host ? CU_MEM_LOCATION_TYPE_HOST_NUMA : CU_MEM_LOCATION_TYPE_DEVICE,
			c->device,
		},
		.allocFlags = {
			.compressionType = c->compression, .gpuDirectRDMACapable = c->rdma,
		},
	};

	return cuMemCreate((CUmemGenericAllocationHandle *)&a->out, c->bytes, &prop, c->flags);
}

static CUresult granularity(const struct call *c, struct answer *a)
{
	CUmemAllocationProp prop = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, c->worker },
	};
	CUmulticastObjectProp team = { .numDevices = DEVICES };

	return c->function == GRANULARITY ? cuMemGetAllocationGranularity(&a->out, &prop, c->kind) :
					cuMulticastGetGranularity(&a->out, &team, c->kind);
}

static CUresult team_create(const struct call *c, struct answer *a)
{
	CUmulticastObjectProp prop = { c->device, c->bytes, c->types, c->flags };

	return cuMulticastCreate((CUmemGenericAllocationHandle *)&a->out, &prop);
}

static CUresult export_fd(const struct call *c, struct answer *a, int link)
{
	int fd = UNTOUCHED & 0xffffffff;
	CUresult result = cuMemExportToShareableHandle(&fd, c->handle, c->types, c->flags);

	if (result) {
		if (fd != (int)(UNTOUCHED & 0xffffffff))
			a->out = fd;
		return result;
	}
	a->cloexec = fcntl(fd, F_GETFD) & FD_CLOEXEC;
	/* The fd is closed here before the answer, so that the parent's is the last one. */
	peer_send(link, 0, fd);
	close(fd);
	return result;
}

static CUresult import_fd(const struct call *c, struct answer *a, int link)
{
	CUresult result;
	int fd = -1;

	if (c->fd != NOT_AN_FD)
		peer_receive(link, NULL, &fd);
	result = cuMemImportFromShareableHandle((CUmemGenericAllocationHandle *)&a->out,
						(void *)(intptr_t)fd, c->types);
	if (fd >= 0 && close(fd))
		_exit(3);
	return result;
}

static CUresult set_access(const struct call *c)
{
	CUmemAccessDesc desc[3];
	unsigned int i;

	for (i = 0; i < c->count; i++)
		desc[i] = (CUmemAccessDesc) {
			{ CU_MEM_LOCATION_TYPE_DEVICE, c->access[i].device }, c->access[i].flags,
		};
	return cuMemSetAccess(c->address, c->bytes, desc, c->count);
}

static CUresult get_access(const struct call *c, struct answer *a)
{
	CUmemLocation location = { CU_MEM_LOCATION_TYPE_DEVICE, c->device };

	return cuMemGetAccess((unsigned long long *)&a->out, &location, c->address);
}

static CUresult fill(const struct call *c)
{
	return c->width == 1 ? cuMemsetD8(c->address, c->value, c->bytes) :
	       c->width == 2 ? cuMemsetD16(c->address, c->value, c->bytes / 2) :
			       cuMemsetD32(c->address, c->value, c->bytes / 4);
}

static CUresult view_create(const struct call *c, struct answer *a)
{
	struct memcast_view *view = &views[c->view];
	CUresult result = memcastViewCreate(view, c->handle, c->offset, c->bytes);
	unsigned int i;

	if (result)
		return result;
	a->out = view->bytes;
	a->replicas = view->replicas;
	for (i = 0; i < view->replicas && i < DEVICES; i++)
		a->replica[i] = (uintptr_t)view->replica[i];
	return result;
}

static CUresult make(const struct call *c, struct answer *a, int link)
{
	uint32_t words[2] = { c->value, c->value + 1 };
	unsigned int i;

	switch (c->function) {
	case CREATE:
		return create(c, a);
	case RELEASE:
		return cuMemRelease(c->handle);
	case RETAIN:
		return cuMemRetainAllocationHandle((CUmemGenericAllocationHandle *)&a->out,
						   (void *)c->address);
	case PROPERTIES:
		return cuMemGetAllocationPropertiesFromHandle(&a->prop, c->handle);
	case GRANULARITY:
	case TEAM_GRANULARITY:
		return granularity(c, a);
	case EXPORT:
		return export_fd(c, a, link);
	case IMPORT:
		return import_fd(c, a, link);
	case RESERVE:
		return cuMemAddressReserve((CUdeviceptr *)&a->out, c->bytes, c->offset,
					   c->address, c->flags);
	case FREE:
		return cuMemAddressFree(c->address, c->bytes);
	case MAP:
		return cuMemMap(c->address, c->bytes, c->offset, c->handle, c->flags);
	case UNMAP:
		return cuMemUnmap(c->address, c->bytes);
	case SET_ACCESS:
		return set_access(c);
	case GET_ACCESS:
		return get_access(c, a);
	case TEAM_CREATE:
		return team_create(c, a);
	case TEAM_ADD:
		return cuMulticastAddDevice(c->handle, c->device);
	case BIND_MEMORY:
		return cuMulticastBindMem(c->handle, c->offset, c->memory, c->memory_offset,
					  c->bytes, c->flags);
	case BIND_MEMORY_V2:
		return cuMulticastBindMem_v2(c->handle, c->device, c->offset, c->memory,
					     c->memory_offset, c->bytes, c->flags);
	case BIND_ADDRESS:
		return cuMulticastBindAddr(c->handle, c->offset, c->address, c->bytes, c->flags);
	case BIND_ADDRESS_V2:
		return cuMulticastBindAddr_v2(c->handle, c->device, c->offset, c->address,
					      c->bytes, c->flags);
	case UNBIND:
		return cuMulticastUnbind(c->handle, c->device, c->offset, c->bytes);
	case FILL:
		return fill(c);
	case COPY_IN:
		return cuMemcpyHtoD(c->address, words, c->bytes);
	case COPY_OUT:
		return cuMemcpyDtoH(a->words, c->from, c->bytes);
	case COPY:
		return cuMemcpyDtoD(c->address, c->from, c->bytes);
	case LOOK:
		for (i = 0; i < c->count; i++)
			a->seen[i].signal = try_load((void *)c->look[i], &a->seen[i].value);
		return CUDA_SUCCESS;
	case STORE:
		a->signal = try_store((void *)c->address, c->value);
		return CUDA_SUCCESS;
	case VIEW_CREATE:
		return view_create(c, a);
	case VIEW_DESTROY:
		return memcastViewDestroy(&views[c->view]);
	default:
		_exit(2);
	}
}

void work(unsigned int worker, int link)
{
	CUcontext context;
	struct answer a = {};
	struct call c;

	if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, worker) || cuCtxSetCurrent(context))
		_exit(1);
	for (;;) {
		/* the first, empty answer tells the parent that this worker is ready */
		if (send(link, &a, sizeof(a), MSG_NOSIGNAL) != sizeof(a) ||
		    recv(link, &c, sizeof(c), 0) != sizeof(c))
			_exit(0);
		memset(&a, 0, sizeof(a));
		a.out = UNTOUCHED;
		a.words[0] = (uint32_t)UNTOUCHED;
		a.words[1] = (uint32_t)UNTOUCHED;
		a.prop.type = UNTOUCHED_TYPE;
		a.result = make(&c, &a, link);
	}
}
