// SPDX-License-Identifier: MIT
/*
 * Peers. Every device reaches every other. Access to virtual memory and to pools is set by
 * calls of their own (cuMemSetAccess(), cuMemPoolSetAccess()); the peers here are for plain
 * memory: see fill_from_context().
 */
#include "context.h"

static CUresult check_pair(CUdevice device, CUdevice peer)
{
	CUresult result = context_check_device(device);

	return result == CUDA_SUCCESS ? context_check_device(peer) : result;
}

DEFINE_CALL(cuDeviceCanAccessPeer, (int *possible, CUdevice device, CUdevice peer),
	    possible, device, peer)
{
	CUresult result;

	if (!possible)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = check_pair(device, peer);
	if (result == CUDA_SUCCESS)
		*possible = device != peer;
	return result;
}

DEFINE_CALL(cuDeviceGetP2PAttribute, (int *value, CUdevice_P2PAttribute attribute,
				      CUdevice device, CUdevice peer),
	    value, attribute, device, peer)
{
	CUresult result;

	if (!value)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = check_pair(device, peer);
	if (result != CUDA_SUCCESS)
		return result;
	if (device == peer)
		return fail(CUDA_ERROR_INVALID_DEVICE, "a device is not its own peer");
	if (attribute < CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK ||
	    attribute > CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED)
		return fail(CUDA_ERROR_INVALID_VALUE, "no such attribute");
	/* arrays as well, though memcast has none: see lib/device/attribute.c */
	*value = attribute == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED ||
		 attribute == CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED ||
		 attribute == CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED;
	return CUDA_SUCCESS;
}

/* For each slot a mask of those to which it has access; slots_lock protects changes */
static _Atomic uint64_t peers[SLOTS][SLOTS / 64];
static bool peers_used;

/* A bit in a mask of peers */
struct peer_bit {
	_Atomic uint64_t *word;
	uint64_t bit;
};

static struct peer_bit bit_of(const struct slot *slot, const struct slot *peer)
{
	unsigned int number = peer - slots;

	return (struct peer_bit) { &peers[slot - slots][number / 64], 1ULL << number % 64 };
}

bool slot_has_peer(const struct slot *slot, const struct slot *peer)
{
	struct peer_bit bit = bit_of(slot, peer);

	return *bit.word & bit.bit;
}

/* A context ends, or a new one takes the slot: neither it nor the others have access any more. */
void slot_drop_peers(const struct slot *slot)
{
	if (!peers_used)
		return;
	for (unsigned int i = 0; i < SLOTS / 64; i++)
		peers[slot - slots][i] = 0;
	for (const struct slot *other = slots; other < &slots[SLOTS]; other++) {
		struct peer_bit bit = bit_of(other, slot);

		if (other->live)
			*bit.word &= ~bit.bit;
	}
}

/* Finds the current context's bit for another context, with slots_lock held. */
static CUresult find_pair(CUcontext context, struct peer_bit *out)
{
	struct slot *current, *peer;
	CUresult result = context_find(NULL, &current);

	if (result != CUDA_SUCCESS)
		return result;
	if (!context)
		return fail(CUDA_ERROR_INVALID_CONTEXT, "the peer's context is NULL");
	result = context_find(context, &peer);
	if (result != CUDA_SUCCESS)
		return result;
	if (peer->device == current->device)
		return fail(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
			    "both contexts are of device %u", peer->device);
	*out = bit_of(current, peer);
	return CUDA_SUCCESS;
}

DEFINE_WHOLE_CALL(cuCtxEnablePeerAccess, (CUcontext context, unsigned int flags), context, flags)
{
	struct peer_bit peer;
	CUresult result;

	if (flags)
		return fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
	pthread_mutex_lock(&slots_lock);
	result = find_pair(context, &peer);
	if (result == CUDA_SUCCESS) {
		peers_used = true;
		if (atomic_fetch_or(peer.word, peer.bit) & peer.bit)
			result = asked(fail(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,
					    "peer access is on already"));
	}
	pthread_mutex_unlock(&slots_lock);
	return result;
}

DEFINE_WHOLE_CALL(cuCtxDisablePeerAccess, (CUcontext context), context)
{
	struct peer_bit peer;
	CUresult result;

	pthread_mutex_lock(&slots_lock);
	result = find_pair(context, &peer);
	if (result == CUDA_ERROR_PEER_ACCESS_UNSUPPORTED ||
	    (result == CUDA_SUCCESS && !(atomic_fetch_and(peer.word, ~peer.bit) & peer.bit)))
		result = fail(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access is not on");
	pthread_mutex_unlock(&slots_lock);
	return result;
}
