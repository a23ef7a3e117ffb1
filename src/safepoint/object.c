/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "safepoint/safepoint.h"

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tl_safepoint *list;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
	pthread_mutex_lock(&list_lock);
}

static void after_fork_in_parent(void)
{
	pthread_mutex_unlock(&list_lock);
}

/*
 * The other threads are gone, and the forking one's event stayed with the parent. Accepted loss:
 * the records of the parent's threads stay allocated in the child, since another thread may have
 * been changing their list.
 */
static void after_fork_in_child(void)
{
	for (struct tl_safepoint *safepoint = list; safepoint; safepoint = safepoint->next) {
		safepoint->owner = 0;
		safepoint->owner_waiters = 0;
		safepoint->stopping = 0;
		safepoint->watched = 0;
		safepoint->stopped = false;
		safepoint->laggard = 0;
		safepoint->threads = NULL;
		safepoint_forget_self(safepoint);
	}
	pthread_mutex_unlock(&list_lock);
}

static void follow_forks(void)
{
	pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

static int check_spec(const struct tl_safepoint_spec *spec)
{
	const uint8_t *bytes = (const uint8_t *)spec;

	const unsigned ways = TL_SAFEPOINT_INDIRECT | TL_SAFEPOINT_WATCHPOINT;

	if (spec->size < sizeof(*spec) || spec->flags & ~ways || spec->flags == ways)
		return -EINVAL;
	for (size_t i = sizeof(*spec); i < spec->size; i++) {
		if (bytes[i])
			return -E2BIG;
	}
	return 0;
}

int tl_safepoint_open(tl_safepoint **safepoint, const struct tl_safepoint_spec *spec)
{
	struct tl_safepoint *opened;
	int err = check_spec(spec);

	if (err)
		return err;
	opened = aligned_alloc(64, (sizeof(*opened) + 63) / 64 * 64);
	if (!opened)
		return -ENOMEM;
	memset(opened, 0, sizeof(*opened));
	opened->no_watchpoints = spec->flags & TL_SAFEPOINT_INDIRECT;
	if (!(spec->flags & TL_SAFEPOINT_WATCHPOINT))
		err = safepoint_open_trap(opened);
	/* Without a page threads stay with their watchpoints, by way of their place too. */
	if (!opened->no_watchpoints)
		err = 0;
	if (!err)
		err = -pthread_key_create(&opened->key, safepoint_thread_ended);
	if (err) {
		safepoint_close_trap(opened);
		free(opened);
		return err;
	}
	pthread_once(&fork_once, follow_forks);
	pthread_mutex_lock(&list_lock);
	opened->next = list;
	list = opened;
	pthread_mutex_unlock(&list_lock);
	*safepoint = opened;
	return 0;
}

int tl_safepoint_close(tl_safepoint *safepoint)
{
	struct tl_safepoint **link = &list;

	if (safepoint->threads || safepoint->owner)
		return -EBUSY;
	pthread_mutex_lock(&list_lock);
	while (*link != safepoint)
		link = &(*link)->next;
	*link = safepoint->next;
	pthread_mutex_unlock(&list_lock);
	safepoint_close_trap(safepoint);
	pthread_key_delete(safepoint->key);
	free(safepoint);
	return 0;
}
