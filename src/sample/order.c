/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/order.h"

#include "base/text.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

/* Without the underscores that names of the library's own begin with. Empty: it has none. */
static const char *plain_name(struct space *space, uint64_t function)
{
	const char *name = space_function_name(space, function);

	while (name && *name == '_')
		name++;
	return name ? name : "";
}

static const char *const families[] = {"pthread_",  "sem_",	 "mtx_",      "cnd_",
				       "call_once", "thrd_join", "thrd_exit", NULL};

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

/* Its "lock" is not the end of "clock". */
static bool names_lock(const char *name)
{
	for (const char *at = strstr(name, "lock"); at; at = strstr(at + 1, "lock"))
		if (at == name || at[-1] != 'c')
			return true;
	return false;
}

bool order_is_lock(struct space *space, uint64_t function)
{
	static const char *const stems[] = {"sem_", NULL};
	const char *name = plain_name(space, function);

	return names_lock(name) || text_begins_with_any(name, stems);
}

bool order_is_shared(struct space *space, uint64_t function)
{
	static const char *const parts[] = {"rdlock", NULL};

	return text_contains_any(plain_name(space, function), parts);
}

bool order_is_wait(struct space *space, uint64_t function)
{
	static const char *const parts[] = {"wait", NULL};

	return order_effect(space, function) == ORDER_WAITS &&
	       text_contains_any(plain_name(space, function), parts);
}

bool order_is_end(struct space *space, uint64_t function)
{
	static const char *const parts[] = {"join", "exit", NULL};

	return order_effect(space, function) == ORDER_WAITS &&
	       text_contains_any(plain_name(space, function), parts);
}

bool order_is_once(struct space *space, uint64_t function)
{
	static const char *const stems[] = {"pthread_once", "call_once", NULL};

	return text_begins_with_any(plain_name(space, function), stems);
}

bool order_is_system_call(struct space *space, uint64_t function)
{
	return strcmp(plain_name(space, function), "syscall") == 0;
}

bool order_is_futex_wait(uint64_t number, uint64_t operation)
{
	uint64_t command = operation & (uint64_t)FUTEX_CMD_MASK & 0xff;

	return number == SYS_futex && (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET);
}

bool order_is_tls_address(struct space *space, uint64_t function)
{
	return strcmp(plain_name(space, function), "tls_get_addr") == 0;
}

bool order_name_never_returns(const char *name)
{
	static const char *const whole[] = {"abort",	       "exit",	      "Exit",
					    "quick_exit",      "assert",      "assert_fail",
					    "chk_fail",	       "longjmp",     "stack_chk_fail",
					    "siglongjmp",      "longjmp_chk", "libc_longjmp",
					    "libc_siglongjmp", NULL};
	static const char *const stems[] = {"assert_perror_fail",
					    "cxa_throw",
					    "cxa_rethrow",
					    "cxa_bad_",
					    "Unwind_Resume",
					    "Unwind_RaiseException",
					    "ZSt9terminate",
					    "cxa_allocate_exception",
					    NULL};
	static const char *const throws[] = {"__throw_", NULL};

	if (text_contains_any(name, throws))
		return true;
	while (*name == '_')
		name++;
	for (unsigned i = 0; whole[i]; i++)
		if (strcmp(name, whole[i]) == 0)
			return true;
	return text_begins_with_any(name, stems);
}

bool order_never_returns(struct space *space, uint64_t function)
{
	return order_name_never_returns(plain_name(space, function));
}

bool order_allocates(struct space *space, uint64_t function)
{
	static const char *const stems[] = {"malloc", "calloc", "aligned_alloc", "memalign", NULL};
	static const char *const others[] = {"malloc_", NULL}; /* malloc_trim() and its kin */
	const char *name = plain_name(space, function);

	if (strncmp(name, "libc_", 5) == 0)
		name += 5;
	return text_begins_with_any(name, stems) && !text_begins_with_any(name, others);
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
