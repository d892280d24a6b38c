/* SPDX-License-Identifier: MIT */
/* Many channels over one link: the same code at both ends of a machine's virtio port. */
#ifndef VM_RELAY_H
#define VM_RELAY_H

#include <poll.h>
#include "wire.h"

struct relay_peer {
	struct wire wire;
	uint32_t channel;
	bool leaves;		/* it is removed when all data for it has been written */
};

struct relay {
	struct wire link;
	struct relay_peer *peers;
	size_t count;
	void *owner;
	/* Handles a frame from a peer. Return: whether the frame goes on to the link */
	bool (*from_peer)(struct relay *relay, struct relay_peer *peer,
			  const struct frame *frame, const char *data);
	/* Handles a frame for a channel that no peer has. Return: the fd of a new peer, or -1 */
	int (*nobody)(struct relay *relay, const struct frame *frame);
	void (*gone)(struct relay *relay, uint32_t channel);
};

struct relay_peer *relay_add(struct relay *relay, int fd, uint32_t channel);

/*
 * Waits until data comes, or for @timeout milliseconds, and passes frames on. @more: other fds
 * that the caller waits for. Return: false if the link has ended
 */
bool relay_turn(struct relay *relay, struct pollfd *more, size_t more_count, int timeout);

#endif /* VM_RELAY_H */
