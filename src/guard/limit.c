/* SPDX-License-Identifier: Apache-2.0 */
/*
 * setrlimit(2) and prlimit(2) of a program that limits its own address space or data, and
 * mlockall(2): the piece of address space for blocks on pages of their own counts in both, and
 * would be filled with memory by the last; what the quarantine keeps counts, too. And mlock(2):
 * what an allocator unmaps as it is freed is no longer locked, but what the quarantine keeps is. Of
 * limits set from outside only pages.c takes notice, when the next block asks.
 */
#include "guard/limit.h"

#include "agent/permitted.h"
#include "agent/readable.h"
#include "base/memory.h"
#include "base/syscall.h"
#include "guard/guard.h"
#include "guard/pages.h"
#include "signal/borrower.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <trapline/event.h>

/* By their names in libraries: which of the two a program's source calls is up to
 * _FILE_OFFSET_BITS, and both are the same. */
TL_API int set_limit(int resource, const struct rlimit *limit) __asm__("setrlimit");
TL_API int set_limit_64(int resource, const struct rlimit *limit) __asm__("setrlimit64");
TL_API int process_limit(pid_t pid, int resource, const struct rlimit *limit,
			 struct rlimit *old) __asm__("prlimit");
TL_API int process_limit_64(pid_t pid, int resource, const struct rlimit *limit,
			    struct rlimit *old) __asm__("prlimit64");
TL_API int mlockall(int flags);
TL_API int mlock(const void *address, size_t length);
TL_API int mlock2(const void *address, size_t length, unsigned flags);

#define PAGE 4096
#define ADDRESSES (1ull << 56) /* of a program, at most */

_Static_assert(sizeof(struct rlimit) == sizeof(struct rlimit64), "as the kernel has it");

static struct {
	int (*setrlimit)(int, const struct rlimit *);
	int (*prlimit)(pid_t, int, const struct rlimit *, struct rlimit *);
	int (*mlock)(const void *, size_t);
	int (*mlock2)(const void *, size_t, unsigned);
	int (*mlockall)(int);
} libc;

/* That libc knows of: its id, and a word in a page that the kernel empties in every child with
 * memory of its own (MADV_WIPEONFORK). A child in a pid namespace of its own may have the id of its
 * parent. */
static pid_t own_process;
static bool *is_known;

/* In a forked child a filter may forbid even that: limit_may_free() asks no further then. */
static void note_process(void)
{
	if (permitted(SYS_getpid))
		own_process = raw_getpid();
	if (is_known)
		*is_known = true;
}

static void find_page(void)
{
	bool *page = page_allocate(PAGE);

	if (page && !raw_syscall3(SYS_madvise, (long)page, PAGE, MADV_WIPEONFORK))
		is_known = page;
	else if (page)
		page_free(page, PAGE);
}

#define RESOLVE(function) libc.function = (__typeof__(libc.function))dlsym(RTLD_NEXT, #function)

__attribute__((constructor)) static void resolve(void)
{
	if (libc.mlockall)
		return;
	RESOLVE(setrlimit);
	RESOLVE(prlimit);
	RESOLVE(mlock);
	RESOLVE(mlock2);
	find_page();
	note_process();
	pthread_atfork(NULL, NULL, note_process);
	RESOLVE(mlockall);
}

static uint64_t limit_of(int resource)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	/* Under a filter every call may be the last. */
	if (agent_state.quiet)
		return RLIM_INFINITY;
	raw_syscall6(SYS_prlimit64, 0, resource, 0, (long)&limit, 0, 0);
	return limit.rlim_cur;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t limit_now(void)
{
	return least(limit_of(RLIMIT_AS), limit_of(RLIMIT_DATA));
}

/* As the quarantine has it: 0 is none. */
static uint64_t bound_of(uint64_t limit)
{
	return limit == RLIM_INFINITY ? 0 : limit ? limit : 1;
}

/* Of a child that was made without libc's fork() the allocator's locks may be held by threads that
 * are not in it. Accepted there, and without the page: blocks in the quarantine stay. */
bool limit_may_free(void)
{
	return is_known && *is_known && permitted(SYS_getpid) && own_process == raw_getpid();
}

/* A higher one counts when the kernel has taken it. */
static void lower_to(uint64_t limit)
{
	if (limit == RLIM_INFINITY)
		return;
	if (limit_may_free()) {
		release_room();
		release_limit(bound_of(limit));
	} else {
		pages_forgo();
		quarantine_note_limit(bound_of(limit));
	}
}

/* The kernel takes no limit that is above the hard one (do_prlimit()), and what is forgone does not
 * come back. A hard one that it refuses to raise was there before, and so was a soft one. */
static bool is_refused(const struct rlimit *limit)
{
	return limit->rlim_cur > limit->rlim_max;
}

/* What the kernel made of it. A raw call leaves errno as it is. */
static void limit_after(int resource)
{
	if ((resource == RLIMIT_AS || resource == RLIMIT_DATA) && !agent_state.quiet &&
	    !borrower_is())
		quarantine_note_limit(bound_of(limit_now()));
}

void limit_begin(void)
{
	uint64_t limit = limit_now();

	quarantine_note_limit(bound_of(limit));
	if (limit != RLIM_INFINITY)
		pages_forgo();
}

void limit_before(long resource, const void *given)
{
	struct rlimit limit;

	if ((resource != RLIMIT_AS && resource != RLIMIT_DATA) || !given || borrower_is() ||
	    readable_copy(&limit, given, sizeof(limit)) != sizeof(limit) || is_refused(&limit))
		return;
	lower_to(least(limit.rlim_cur, limit_of(resource == RLIMIT_AS ? RLIMIT_DATA : RLIMIT_AS)));
}

void limit_before_lock(void)
{
	if (borrower_is())
		return;
	if (limit_may_free())
		release_room();
	else
		pages_forgo();
}

int set_limit(int resource, const struct rlimit *limit)
{
	int result;

	resolve();
	limit_before(resource, limit);
	result = libc.setrlimit(resource, limit);
	limit_after(resource);
	return result;
}

int set_limit_64(int resource, const struct rlimit *limit)
{
	return set_limit(resource, limit);
}

int process_limit(pid_t pid, int resource, const struct rlimit *limit, struct rlimit *old)
{
	bool own = !pid || (permitted(SYS_getpid) && pid == raw_getpid());
	int result;

	resolve();
	if (own)
		limit_before(resource, limit);
	result = libc.prlimit(pid, resource, limit, old);
	if (own && limit)
		limit_after(resource);
	return result;
}

int process_limit_64(pid_t pid, int resource, const struct rlimit *limit, struct rlimit *old)
{
	return process_limit(pid, resource, limit, old);
}

int mlockall(int flags)
{
	resolve();
	limit_before_lock();
	return libc.mlockall(flags);
}

/* It has failed: true when freed blocks, which may have been locked, have left and it may be tried
 * again, with errno as it was `before`. EPERM says that nothing may be locked, however little is
 * (can_do_mlock() of mm/mlock.c). */
static bool has_made_room(int before)
{
	int err = errno;
	bool may = (err == ENOMEM || err == EAGAIN) && !agent_state.quiet && !borrower_is() &&
		   limit_may_free();

	if (may)
		release_range(0, ADDRESSES, true);
	errno = may ? before : err;
	return may;
}

int mlock(const void *address, size_t length)
{
	int before = errno, result;

	resolve();
	result = libc.mlock(address, length);
	return result && has_made_room(before) ? libc.mlock(address, length) : result;
}

int mlock2(const void *address, size_t length, unsigned flags)
{
	int before = errno, result;

	resolve();
	result = libc.mlock2(address, length, flags);
	return result && has_made_room(before) ? libc.mlock2(address, length, flags) : result;
}
