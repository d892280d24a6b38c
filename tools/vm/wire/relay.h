/* SPDX-License-Identifier: MIT */
/* Many channels over one link: the same at both ends of a machine's virtio port. */
#ifndef VM_RELAY_H
#define VM_RELAY_H

#include <poll.h>
#include "wire.h"

struct relay_peer {
	struct wire wire;
	uint32_t channel;
	bool leaves;		/* when what is left for it has been written */
};

struct relay {
	struct wire link;
	struct relay_peer *peers;
	size_t count;
	void *owner;
	/* A frame came from a peer. Return: whether it goes on to the link */
	bool (*from_peer)(struct relay *relay, struct relay_peer *peer,
			  const struct frame *frame, const char *data);
	/* A frame came for a channel that no peer has: an fd for it, or -1 */
	int (*nobody)(struct relay *relay, const struct frame *frame);
	void (*gone)(struct relay *relay, uint32_t channel);
};

struct relay_peer *relay_add(struct relay *relay, int fd, uint32_t channel);

/*
 * Wait until something comes, or for @timeout milliseconds, and pass on what can be. @more:
 * what the caller waits for besides. Return: false if the link has ended.
 */
bool relay_turn(struct relay *relay, struct pollfd *more, size_t more_count, int timeout);

#endif /* VM_RELAY_H */
