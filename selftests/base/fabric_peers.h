/* SPDX-License-Identifier: MIT */
/* Exports a test's memory or team as a fabric handle, and passes it through a socket. */
#ifndef FABRIC_PEERS_H
#define FABRIC_PEERS_H

#include <sys/socket.h>
#include "memcast_test.h"

#define FABRIC		CU_MEM_HANDLE_TYPE_FABRIC

#define fabric_handle(handle)		fabric_handle_(_metadata, handle)
TEST_HELPER CUmemFabricHandle
fabric_handle_(struct __test_metadata *_metadata, CUmemGenericAllocationHandle handle)
{
	CUmemFabricHandle shareable;

	ASSERT_OK(cuMemExportToShareableHandle(&shareable, handle, FABRIC, 0));
	return shareable;
}

/* Sends the 64 bytes to a process that shares nothing else with the sender. */
#define send_fabric(link, handle)	send_fabric_(_metadata, link, handle)
TEST_HELPER void send_fabric_(struct __test_metadata *_metadata, int link,
			      CUmemGenericAllocationHandle handle)
{
	CUmemFabricHandle shareable = fabric_handle(handle);

	ASSERT_EQ(sizeof(shareable), send(link, &shareable, sizeof(shareable), 0));
}

#define receive_fabric(link)		receive_fabric_(_metadata, link)
TEST_HELPER CUmemFabricHandle receive_fabric_(struct __test_metadata *_metadata, int link)
{
	CUmemFabricHandle shareable;

	ASSERT_EQ(sizeof(shareable), recv(link, &shareable, sizeof(shareable), 0));
	return shareable;
}

#endif /* FABRIC_PEERS_H */
