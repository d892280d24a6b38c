// SPDX-License-Identifier: MIT
/* The buffer of what kernels have printed */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

struct print {
	struct print *next;
	size_t bytes;
	char text[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;	/* protects what follows */
static struct print *first, **last = &first;
static size_t total;

static atomic_bool waiting;	/* is there something? It is read without the lock */

static void drop_first(void)
{
	struct print *print = first;

	first = print->next;
	if (!first)
		last = &first;
	total -= print->bytes;
	free(print);
}

void prints_add(const char *text, size_t bytes, size_t limit)
{
	struct print *print = malloc(sizeof(*print) + bytes);

	if (!print)
		return;
	print->next = NULL;
	print->bytes = bytes;
	memcpy(print->text, text, bytes);
	pthread_mutex_lock(&lock);
	*last = print;
	last = &print->next;
	total += bytes;
	while (total > limit)
		drop_first();
	atomic_store(&waiting, true);
	pthread_mutex_unlock(&lock);
}

/*
 * Kernels of other streams may go on printing meanwhile, also where stdout blocks. A second flush
 * waits for the first one, so that texts come out in their order.
 */
void prints_flush(void)
{
	static pthread_mutex_t writes = PTHREAD_MUTEX_INITIALIZER;
	struct print *print, *next;

	if (!atomic_load_explicit(&waiting, memory_order_relaxed))
		return;
	pthread_mutex_lock(&writes);
	pthread_mutex_lock(&lock);
	print = first;
	first = NULL;
	last = &first;
	total = 0;
	pthread_mutex_unlock(&lock);
	for (; print; print = next) {
		next = print->next;
		fwrite(print->text, 1, print->bytes, stdout);
		free(print);
	}
	fflush(stdout);
	pthread_mutex_lock(&lock);
	atomic_store(&waiting, first != NULL);
	pthread_mutex_unlock(&lock);
	pthread_mutex_unlock(&writes);
}
