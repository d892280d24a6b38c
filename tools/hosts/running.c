// SPDX-License-Identifier: MIT
/* Keeps a record of which ranks run, and of which rank failed first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "hosts.h"

void running_init(struct running *running, const struct settings *settings)
{
	running->settings = settings;
	running->count = running->left = ranks_count(settings);
	running->rank = calloc(running->count, sizeof(*running->rank));
	if (!running->rank)
		die("no memory");
}

void running_start(struct running *running, unsigned int rank)
{
	running->rank[rank] = true;
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

void running_end(struct running *running, const struct message *message)
{
	unsigned int rank = message->id - 1;

	running->rank[rank] = false;
	running->left--;
	if (!message->value ||
	    (running->first.there && !is_before(&message->when, &running->first.when)))
		return;
	running->first.there = true;
	running->first.rank = rank;
	running->first.status = message->value;
	running->first.when = message->when;
}

bool running_has_failed(const struct running *running)
{
	return running->first.there && !running->first.named;
}

int running_status(const struct running *running)
{
	int status = running->first.status;

	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void running_failure(const struct running *running, char *words, size_t size)
{
	struct rank rank = ranks_find(running->settings, running->first.rank);
	int status = running->first.status;

	if (WIFSIGNALED(status))
		snprintf(words, size, "rank %u on host%u ended by signal %d (%s)", rank.rank,
			 rank.host, WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(words, size, "rank %u on host%u ended with status %d", rank.rank,
			 rank.host, WEXITSTATUS(status));
}

/* "rank 3 on host1, rank 5 on host2 and 7 more" */
void running_words(const struct running *running, char *words, size_t size)
{
	unsigned int more = 0;
	size_t length = 0;

	words[0] = '\0';
	for (unsigned int i = 0; i < running->count; i++) {
		if (!running->rank[i])
			continue;
		if (length + 80 > size) {
			more++;
			continue;
		}
		length += (size_t)snprintf(words + length, size - length, "%srank %u on host%u",
					   length ? ", " : "", i,
					   ranks_find(running->settings, i).host);
	}
	if (more)
		snprintf(words + length, size - length, " and %u more", more);
	else if (!length)
		snprintf(words, size, "programs that were started beside the ranks");
}
