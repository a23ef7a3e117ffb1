/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done before the program restricts its own system calls.
 *
 * A seccomp filter, by prctl(PR_SET_SECCOMP) or by seccomp(2), which libc has no function for: from
 * then on handlers make no system call. In strict mode even the clock cannot be read (the kernel
 * forbids rdtsc, seccomp_set_mode_strict()), so watching ends. Filters set by raw instructions are
 * noticed by the controller, a moment later (src/target/target.c).
 *
 * Calls dispatched to the program's own handler (PR_SET_SYSCALL_USER_DISPATCH): then not even the
 * return from a signal reaches the kernel, and watching ends. Threads that may not read the
 * processor's clock (PR_SET_TSC), as the vDSO does: from then on the kernel is asked for the time.
 *
 * Also alternate signal stacks that are too small for a hit's signal frame on top of another:
 * handlers that run there are made to block SIGTRAP, since they would overflow.
 */
#include "life/filter.h"

#include "agent/permitted.h"
#include "agent/readable.h"
#include "agent/region.h"
#include "agent/state.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/syscall.h"
#include "contact/announce.h"
#include "signal/alternate.h"
#include "signal/borrower.h"
#include "signal/ownership.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <trapline/event.h>
#include <unistd.h>

#define HANDLER_ROOM 2048 /* bytes our handler uses below its signal frame */

static struct {
	int (*prctl)(int, ...);
	int (*sigaltstack)(const stack_t *, stack_t *);
} libc;

#define RESOLVE(function) libc.function = (__typeof__(libc.function))dlsym(RTLD_NEXT, #function)

__attribute__((constructor)) static void resolve(void)
{
	if (libc.prctl)
		return;
	RESOLVE(sigaltstack);
	RESOLVE(prctl);
}

/* Collects as many arguments as the call can have; the kernel does not look at those that were not
 * given. */
#define COLLECT(first, count)                     \
	long argument[count];                     \
	va_list list;                             \
	va_start(list, first);                    \
	for (int i = 0; i < (count); i++)         \
		argument[i] = va_arg(list, long); \
	va_end(list);

/* Does nothing in a child that borrows this memory (vfork()): the filter that it sets is its
 * own. */
static void prepare(bool strict)
{
	if (borrower_is())
		return;
	if ((strict || agent_clock_is_forbidden()) && agent_state.area)
		agent_give_up();
	else
		agent_be_quiet();
}

/* Notes which of the calls that our functions make outside handlers the filter permits; those that
 * an earlier filter forbade stay forbidden. */
static void note_filter(const struct sock_fprog *given)
{
	const size_t size = given->len * sizeof(*given->filter);
	struct sock_fprog filter = {.len = given->len};

	if (borrower_is())
		return;
	filter.filter = page_allocate(size);
	if (filter.filter && readable_copy(filter.filter, given->filter, size) == size)
		permitted_note(&filter);
	page_free(filter.filter, size);
	if (!permitted(SYS_getpid))
		borrower_forbid_asking();
	if (!permitted(SYS_getpid) || !permitted(SYS_gettid) || !permitted(SYS_tgkill) ||
	    !permitted(SYS_nanosleep))
		__atomic_store_n(&owner_lock_anonymous, true, __ATOMIC_RELAXED);
}

void filter_before_seccomp(long operation, long filter)
{
	struct sock_fprog given;

	if (operation == SECCOMP_GET_ACTION_AVAIL || operation == SECCOMP_GET_NOTIF_SIZES)
		return;
	if (operation == SECCOMP_SET_MODE_FILTER &&
	    readable_copy(&given, (void *)filter, sizeof(given)) == sizeof(given))
		note_filter(&given);
	prepare(operation == SECCOMP_SET_MODE_STRICT);
}

/* Ends the watching, since the signal by which calls are dispatched belongs to the program from
 * then on. */
static void prepare_dispatching(void)
{
	prepare(true);
	if (agent_state.regions && !borrower_is())
		agent_state.regions->end();
}

void filter_before_prctl(long option, long value, long filter)
{
	if (option == PR_SET_SECCOMP)
		filter_before_seccomp(value == SECCOMP_MODE_STRICT ? SECCOMP_SET_MODE_STRICT
								   : SECCOMP_SET_MODE_FILTER,
				      filter);
	else if (option == PR_SET_SYSCALL_USER_DISPATCH && value != PR_SYS_DISPATCH_OFF)
		prepare_dispatching();
	else if (option == PR_SET_TSC && value == PR_TSC_SIGSEGV && !agent_forbid_clock())
		prepare(true);
}

TL_API int prctl(int option, ...)
{
	COLLECT(option, 4);
	resolve();
	filter_before_prctl(option, argument[0], argument[1]);
	return libc.prctl(option, argument[0], argument[1], argument[2], argument[3]);
}

TL_API int sigaltstack(const stack_t *stack, stack_t *old)
{
	size_t frame = getauxval(AT_MINSIGSTKSZ);
	stack_t given;

	resolve();
	if (agent_state.area && stack &&
	    readable_copy(&given, stack, sizeof(given)) == sizeof(given) &&
	    !(given.ss_flags & SS_DISABLE) &&
	    given.ss_size < 2 * (frame ? frame : 4096) + HANDLER_ROOM && !borrower_is())
		alternate_stack_is_small();
	return libc.sigaltstack(stack, old);
}
