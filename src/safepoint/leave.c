/* SPDX-License-Identifier: Apache-2.0 */
/* How threads leave a safepoint: by their own will, or as they end. */
#include "safepoint/safepoint.h"

#include <errno.h>

/* Waits for ownership in a blocking region, so that a stop meanwhile does not wait for us. */
static void leave(struct safepoint_thread *thread)
{
	struct tl_safepoint *safepoint = thread->safepoint;
	struct safepoint_saved no_roots = {0};

	safepoint_block(thread, &no_roots);
	safepoint_own(safepoint, NO_DEADLINE);
	safepoint_remove(safepoint, thread);
	safepoint_disown(safepoint);
	safepoint_free(thread);
}

int tl_safepoint_leave(tl_safepoint *safepoint)
{
	struct safepoint_thread *thread = safepoint_self(safepoint);

	if (!thread)
		return -ENOENT;
	if (__atomic_load_n(&safepoint->owner, __ATOMIC_SEQ_CST) == (uint32_t)thread->tid)
		return -EBUSY;
	pthread_setspecific(safepoint->key, NULL);
	leave(thread);
	return 0;
}

void safepoint_thread_ended(void *thread)
{
	struct safepoint_thread *record = thread;

	/* The thread ends while it owns the safepoint: the threads that it stopped go on. */
	if (__atomic_load_n(&record->safepoint->owner, __ATOMIC_SEQ_CST) == (uint32_t)record->tid)
		tl_safepoint_resume(record->safepoint);
	leave(record);
}
