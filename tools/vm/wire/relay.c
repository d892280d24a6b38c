// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <string.h>
#include "relay.h"

#define LINK_FULL	(1 << 20)	/* if so many bytes wait for the link, peers wait, too */

struct relay_peer *relay_add(struct relay *relay, int fd, uint32_t channel)
{
	relay->peers = reallocarray(relay->peers, relay->count + 1, sizeof(*relay->peers));
	if (!relay->peers)
		abort();
	relay->peers[relay->count] = (struct relay_peer){ wire_new(fd, fd), channel, false };
	return &relay->peers[relay->count++];
}

static struct relay_peer *peer_of(struct relay *relay, uint32_t channel)
{
	for (size_t i = 0; i < relay->count; i++)
		if (relay->peers[i].channel == channel)
			return &relay->peers[i];
	return NULL;
}

static void remove_peer(struct relay *relay, size_t at)
{
	uint32_t channel = relay->peers[at].channel;

	wire_put(&relay->link, channel, FRAME_CLOSED, NULL, 0);
	wire_end(&relay->peers[at].wire);
	relay->count--;
	memmove(&relay->peers[at], &relay->peers[at + 1],
		(relay->count - at) * sizeof(*relay->peers));
	if (relay->gone)
		relay->gone(relay, channel);
}

static void from_link(struct relay *relay)
{
	struct relay_peer *peer;
	struct frame frame;
	const char *data;
	int fd;

	while (wire_next(&relay->link, &frame, &data)) {
		peer = peer_of(relay, frame.channel);
		if (!peer) {
			fd = relay->nobody(relay, &frame);
			if (fd < 0)
				continue;
			peer = relay_add(relay, fd, frame.channel);
		}
		if (frame.type == FRAME_CLOSED)
			peer->leaves = true;
		else
			wire_put(&peer->wire, frame.channel, frame.type, data, frame.length);
	}
}

/* Return: false when the peer has ended. Peers may move in memory while frames are handled. */
static bool from_peer(struct relay *relay, size_t at)
{
	bool goes_on = wire_read(&relay->peers[at].wire);
	struct frame frame;
	const char *data;

	while (wire_next(&relay->peers[at].wire, &frame, &data))
		if (!relay->from_peer || relay->from_peer(relay, &relay->peers[at], &frame, data))
			wire_put(&relay->link, relay->peers[at].channel, frame.type, data,
				 frame.length);
	return goes_on;
}

static short events(const struct wire *wire, bool reads)
{
	return (reads ? POLLIN : 0) | (bytes_left(&wire->out) ? POLLOUT : 0);
}

bool relay_turn(struct relay *relay, struct pollfd *more, size_t more_count, int timeout)
{
	bool full = bytes_left(&relay->link.out) > LINK_FULL, goes_on = true;
	size_t count, all, i;
	struct pollfd *polls;

	for (i = relay->count; i-- > 0; )
		if (relay->peers[i].leaves && !bytes_left(&relay->peers[i].wire.out))
			remove_peer(relay, i);
	count = relay->count;
	all = 2 + count + more_count;
	polls = calloc(all, sizeof(*polls));
	if (!polls)
		abort();
	polls[0] = (struct pollfd){ relay->link.from, POLLIN, 0 };
	polls[1] = (struct pollfd){
		bytes_left(&relay->link.out) ? relay->link.to : -1, POLLOUT, 0
	};
	for (i = 0; i < count; i++)
		polls[2 + i] = (struct pollfd){ relay->peers[i].wire.from,
						events(&relay->peers[i].wire, !full), 0 };
	memcpy(&polls[2 + count], more, more_count * sizeof(*more));
	if (poll(polls, all, timeout) > 0) {
		/* from the last to the first, as removing a peer moves those behind it */
		for (i = count; i-- > 0; )
			if (!wire_write(&relay->peers[i].wire) ||
			    (polls[2 + i].revents & (POLLIN | POLLHUP | POLLERR) &&
			     !full && !from_peer(relay, i)))
				remove_peer(relay, i);
		if (polls[0].revents) {
			goes_on = wire_read(&relay->link);
			from_link(relay);
		}
	}
	if (!wire_write(&relay->link))
		goes_on = false;
	for (i = 0; i < relay->count; i++)
		wire_write(&relay->peers[i].wire);
	memcpy(more, &polls[2 + count], more_count * sizeof(*more));
	free(polls);
	return goes_on;
}
