// SPDX-License-Identifier: MIT
/* Serves the clients that start programs in hosts: memcast-hosts exec and agent, in client.c. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "hosts.h"

struct client {
	struct watch watch;
	struct client *next;
	unsigned int host, id;	/* id 0: none yet */
	bool refused;		/* the client is another user's */
};

struct listener {
	struct watch watch;
	const struct settings *settings;
	bool inside;
};

static struct client *clients;

int serve_listen(pid_t pid)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un name;
	socklen_t length = client_name(pid, &name);

	if (fd < 0 || bind(fd, (struct sockaddr *)&name, length) || listen(fd, 128))
		die("cannot listen: %s", strerror(errno));
	return fd;
}

static void refuse(int fd, const char *words)
{
	struct message message = { .kind = MESSAGE_REFUSED };

	snprintf(message.words, sizeof(message.words), "%s", words);
	message_send(fd, &message, NULL, 0);
	shutdown(fd, SHUT_RDWR);
}

/* A program gets the user ids of its client. Return: false if these are not known */
static bool take_user(int fd, struct message *message)
{
	socklen_t length = sizeof(struct ucred), bytes = sizeof(message->groups);
	struct ucred user;

	message->groups_count = 0;
	message->as_user = !geteuid();
	if (!message->as_user)
		return true;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user, &length))
		return false;
	message->uid = user.uid;
	message->gid = user.gid;
	if (!getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, message->groups, &bytes))
		message->groups_count = (unsigned int)(bytes / sizeof(message->groups[0]));
	return true;
}

/* "host3" or "3" */
static bool find_host(const struct settings *settings, const char *word, unsigned int *host)
{
	char *end;

	if (!strncmp(word, "host", 4))
		word += 4;
	*host = (unsigned int)strtoul(word, &end, 10);
	return *word >= '0' && *word <= '9' && !*end && *host < settings->hosts;
}

static const struct settings *served;

static void client_start(struct client *client, struct message *message, const int *fds)
{
	char words[sizeof(message->words)];

	if (client->refused) {
		refuse(client->watch.fd, "these hosts are another user's");
	} else if (!find_host(served, message->words, &client->host)) {
		snprintf(words, sizeof(words), "there are host0 to host%u only", served->hosts - 1);
		refuse(client->watch.fd, words);
	} else if (fds[MESSAGE_FDS - 1] < 0 || !take_user(client->watch.fd, message)) {
		refuse(client->watch.fd, "it is not known who asks");
	} else {
		client->id = launch_start(client->host, message, fds);
		if (!client->id)
			refuse(client->watch.fd, "that host is not there, or not yet");
	}
}

static void client_free(struct client *client)
{
	for (struct client **at = &clients; *at; at = &(*at)->next) {
		if (*at == client) {
			*at = client->next;
			break;
		}
	}
	watch_remove(&client->watch);
	free(client);
}

static void client_ready(struct watch *watch)
{
	struct client *client = (struct client *)watch;
	struct message message;
	int fds[MESSAGE_FDS];

	if (!message_receive(watch->fd, &message, fds)) {
		/* A client that has gone is to its program what a closed terminal is. */
		if (client->id)
			launch_signal(client->host, client->id, SIGHUP);
		client_free(client);
		return;
	}
	if (message.kind == MESSAGE_EXEC && !client->id)
		client_start(client, &message, fds);
	else if (message.kind == MESSAGE_SIGNAL && client->id)
		launch_signal(client->host, client->id, message.value);
	for (int i = 0; i < MESSAGE_FDS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static void listener_ready(struct watch *watch)
{
	struct listener *listener = (struct listener *)watch;
	int fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC);
	socklen_t length = sizeof(struct ucred);
	struct client *client;
	struct ucred user;

	if (fd < 0)
		return;
	client = calloc(1, sizeof(*client));
	if (!client)
		die("no memory");
	client->refused = !listener->inside &&
			  (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user, &length) ||
			   (user.uid != geteuid() && user.uid));
	client->watch = (struct watch) { fd, client_ready };
	client->next = clients;
	clients = client;
	watch_add(&client->watch);
}

void serve(const struct settings *settings, int fd, bool inside)
{
	struct listener *listener = calloc(1, sizeof(*listener));

	if (!listener)
		die("no memory");
	served = settings;
	listener->watch = (struct watch) { fd, listener_ready };
	listener->inside = inside;
	watch_add(&listener->watch);
}

void serve_ended(unsigned int id, int status)
{
	struct message message = { .kind = MESSAGE_ENDED, .value = status };

	for (struct client *client = clients; client; client = client->next) {
		if (client->id != id)
			continue;
		client->id = 0;
		message_send(client->watch.fd, &message, NULL, 0);
		/* client_ready() sees the end of the connection, and frees the client. */
		shutdown(client->watch.fd, SHUT_RDWR);
	}
}
