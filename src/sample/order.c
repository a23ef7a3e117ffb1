/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/order.h"

#include "base/text.h"

/* Without the underscores that names of the library's own begin with. Empty: it has none. */
static const char *plain_name(struct space *space, uint64_t function)
{
	const char *name = space_function_name(space, function);

	while (name && *name == '_')
		name++;
	return name ? name : "";
}

static const char *const families[] = {"pthread_",  "sem_",	 "mtx_", "cnd_",
				       "call_once", "thrd_join", NULL};

bool order_is_its_purpose(struct space *space, uint64_t function)
{
	static const char *const stems[] = {"malloc",  "calloc",	"free",
					    "realloc", "aligned_alloc", "posix_memalign",
					    "sched_",  "nanosleep",	"clock_",
					    NULL};
	const char *name = plain_name(space, function);

	return text_begins_with_any(name, families) || text_begins_with_any(name, stems);
}

enum order_effect order_effect(struct space *space, uint64_t function)
{
	static const char *const releases[] = {"unlock", "post", "signal", "broadcast", NULL};
	static const char *const neither[] = {"self", "specific", "equal", "init",
					      "attr", "detach",	  NULL};
	const char *name = plain_name(space, function);

	if (!text_begins_with_any(name, families) || text_contains_any(name, neither))
		return ORDER_NONE;
	return text_contains_any(name, releases) ? ORDER_RELEASES : ORDER_WAITS;
}

bool order_is_lock(struct space *space, uint64_t function)
{
	static const char *const stems[] = {"sem_", NULL};
	static const char *const parts[] = {"lock", NULL};
	const char *name = plain_name(space, function);

	return text_contains_any(name, parts) || text_begins_with_any(name, stems);
}

bool order_is_sleep(struct space *space, uint64_t function)
{
	static const char *const stems[] = {
		"sleep",  "usleep",  "nanosleep",  "clock_nanosleep", "thrd_sleep", "poll", "ppoll",
		"select", "pselect", "epoll_wait", "epoll_pwait",     "pause",	    NULL};

	return text_begins_with_any(plain_name(space, function), stems);
}

unsigned order_birth_argument(struct space *space, uint64_t function)
{
	static const char *const posix[] = {"pthread_create", NULL}, *const c11[] = {"thrd_create",
										     NULL};
	const char *name = plain_name(space, function);

	return text_begins_with_any(name, posix) ? 2 : text_begins_with_any(name, c11);
}
