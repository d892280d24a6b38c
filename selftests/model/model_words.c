// SPDX-License-Identifier: MIT
/* Prints calls and results as one would write them. */
#include <stdio.h>

#include "model.h"

const char *result_in_words(int result)
{
	const char *name;

	if (result == WAITS)
		return "(waits)";
	return cuGetErrorName(result, &name) ? "(no CUresult)" : name;
}

const char *call_in_words(const struct call *c)
{
	static char words[512];
	unsigned int i;
	int n = snprintf(words, sizeof(words), "[%u] ", c->worker);

#define SAY(...)	(n += snprintf(words + n, sizeof(words) - n, __VA_ARGS__))
	switch (c->function) {
	case CREATE:
		SAY("cuMemCreate(%#lx bytes, {type %d, %s %d, handle types %#lx, compression %u, "
		    "rdma %u}, flags %#lx)",
		    c->bytes, c->kind, c->host ? "host node" : "device", c->device, c->types,
		    c->compression, c->rdma, c->flags);
		break;
	case RELEASE:
		SAY("cuMemRelease(%#lx)", c->handle);
		break;
	case RETAIN:
		SAY("cuMemRetainAllocationHandle(at %#lx)", c->address);
		break;
	case PROPERTIES:
		SAY("cuMemGetAllocationPropertiesFromHandle(%#lx)", c->handle);
		break;
	case GRANULARITY:
		SAY("cuMemGetAllocationGranularity(option %d)", c->kind);
		break;
	case TEAM_GRANULARITY:
		SAY("cuMulticastGetGranularity(option %d)", c->kind);
		break;
	case EXPORT:
		SAY("cuMemExportToShareableHandle(%#lx, type %#lx, flags %#lx)", c->handle,
		    c->types, c->flags);
		break;
	case IMPORT:
		SAY("cuMemImportFromShareableHandle(%s %d, type %#lx)",
		    c->fd >= 0 ? "export" : c->fd == NOT_AN_FD ? "no fd" : "foreign fd", c->fd,
		    c->types);
		break;
	case RESERVE:
		SAY("cuMemAddressReserve(%#lx bytes, alignment %#lx, hint %#lx, flags %#lx)",
		    c->bytes, c->offset, c->address, c->flags);
		break;
	case FREE:
		SAY("cuMemAddressFree(%#lx, %#lx)", c->address, c->bytes);
		break;
	case MAP:
		SAY("cuMemMap(%#lx, %#lx bytes, offset %#lx, %#lx, flags %#lx)", c->address,
		    c->bytes, c->offset, c->handle, c->flags);
		break;
	case UNMAP:
		SAY("cuMemUnmap(%#lx, %#lx)", c->address, c->bytes);
		break;
	case SET_ACCESS:
		SAY("cuMemSetAccess(%#lx, %#lx, {", c->address, c->bytes);
		for (i = 0; i < c->count; i++)
			SAY(" device %d: %u", c->access[i].device, c->access[i].flags);
		SAY(" })");
		break;
	case GET_ACCESS:
		SAY("cuMemGetAccess(%#lx, device %d)", c->address, c->device);
		break;
	case TEAM_CREATE:
		SAY("cuMulticastCreate({%d devices, %#lx bytes, handle types %#lx, flags %#lx})",
		    c->device, c->bytes, c->types, c->flags);
		break;
	case TEAM_ADD:
		SAY("cuMulticastAddDevice(%#lx, device %d)", c->handle, c->device);
		break;
	case BIND_MEMORY:
	case BIND_MEMORY_V2:
		SAY("cuMulticastBindMem%s(%#lx, ", c->function == BIND_MEMORY ? "" : "_v2",
		    c->handle);
		if (c->function == BIND_MEMORY_V2)
			SAY("device %d, ", c->device);
		SAY("at %#lx, %#lx from %#lx, %#lx bytes, flags %#lx)", c->offset, c->memory,
		    c->memory_offset, c->bytes, c->flags);
		break;
	case BIND_ADDRESS:
	case BIND_ADDRESS_V2:
		SAY("cuMulticastBindAddr%s(%#lx, ", c->function == BIND_ADDRESS ? "" : "_v2",
		    c->handle);
		if (c->function == BIND_ADDRESS_V2)
			SAY("device %d, ", c->device);
		SAY("at %#lx, address %#lx, %#lx bytes, flags %#lx)", c->offset, c->address,
		    c->bytes, c->flags);
		break;
	case UNBIND:
		SAY("cuMulticastUnbind(%#lx, device %d, at %#lx, %#lx bytes)", c->handle, c->device,
		    c->offset, c->bytes);
		break;
	case FILL:
		SAY("cuMemsetD%u(%#lx, %#x, %#lx bytes)", c->width * 8, c->address, c->value,
		    c->bytes);
		break;
	case COPY_IN:
		SAY("cuMemcpyHtoD(%#lx, %#x…, %#lx bytes)", c->address, c->value, c->bytes);
		break;
	case COPY_OUT:
		SAY("cuMemcpyDtoH(from %#lx, %#lx bytes)", c->from, c->bytes);
		break;
	case COPY:
		SAY("cuMemcpyDtoD(%#lx, from %#lx, %#lx bytes)", c->address, c->from, c->bytes);
		break;
	case LOOK:
		SAY("load from %#lx and %u more", c->look[0], c->count - 1);
		break;
	case STORE:
		SAY("store %#x to %#lx", c->value, c->address);
		break;
	case VIEW_CREATE:
		SAY("memcastViewCreate(view %u, %#lx, offset %#lx, %#lx bytes)", c->view, c->handle,
		    c->offset, c->bytes);
		break;
	case VIEW_DESTROY:
		SAY("memcastViewDestroy(view %u)", c->view);
		break;
	case CLOSE:
		SAY("close(export %d)", c->fd);
		break;
	default:
		SAY("kill -9");
	}
	return words;
}
