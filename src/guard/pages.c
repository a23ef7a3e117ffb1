/* SPDX-License-Identifier: Apache-2.0 */
#include "guard/pages.h"

#include "agent/state.h"
#include "base/syscall.h"
#include "base/uncounted.h"
#include "contact/patience.h"
#include "guard/guard.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define LENGTH ((size_t)GUARD_PAGES * GUARD_PAGE)
#define TRIES 8
#define FILL_BOUND 2000000000ull /* ns that a run is waited for, on a machine that is busy */
/* Runs of one page that are filled at a time where every block is guarded: twice as many each time,
 * so that a program of a few blocks does not wait for many. */
#define RUNS_FIRST 16u
#define RUNS 128u

/* An owner while the run is claimed and nobody's: see record/guard.h. */
static UNCOUNTED _Atomic uint32_t owner[GUARD_PAGES];
UNCOUNT(owner);
static _Atomic uint64_t arena; /* 0: none */
static _Atomic uint32_t next;
static _Atomic uint64_t filled; /* bytes of live runs */
static _Atomic bool usable;
static _Atomic bool forgone; /* there are holes in the arena: pages_forgo() */
static int descriptor = -1;
/* Runs of one page that are filled and nobody's, by the first page + 1. They are taken out one
 * after another, and put in when none is there. */
static _Atomic uint32_t stash[RUNS];
static _Atomic uint32_t stash_next;
static _Atomic uint32_t batch = RUNS_FIRST;

static bool is_limit_set(int resource)
{
	struct rlimit limit = {0};

	return raw_syscall6(SYS_prlimit64, 0, resource, 0, (long)&limit, 0, 0) ||
	       limit.rlim_cur != RLIM_INFINITY;
}

/* What a program is limited to it shall have to itself. */
static bool is_limited(void)
{
	return is_limit_set(RLIMIT_AS);
}

/* A private mapping counts as data, too (setrlimit(2)). */
static uint64_t map_arena(void)
{
	uint64_t known = atomic_load(&arena);
	long mapped;

	if (known || is_limited() || is_limit_set(RLIMIT_DATA))
		return known;
	mapped = raw_syscall6(SYS_mmap, 0, LENGTH, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (raw_failed(mapped))
		return 0;
	raw_syscall3(SYS_madvise, mapped, LENGTH, MADV_NOHUGEPAGE);
	raw_syscall3(SYS_madvise, mapped, LENGTH, MADV_DONTDUMP);
	atomic_store(&arena, (uint64_t)mapped);
	return (uint64_t)mapped;
}

/* With the faults of system calls where that is permitted. */
static int open_faults(void)
{
	long fd = raw_syscall3(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK, 0, 0);

	if (fd < 0)
		fd = raw_syscall3(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY, 0,
				  0);
	return (int)fd;
}

static bool cover(int fd, uint64_t start)
{
	struct uffdio_api api = {.api = UFFD_API,
				 .features = UFFD_FEATURE_THREAD_ID | UFFD_FEATURE_EXACT_ADDRESS};
	struct uffdio_register range = {.range = {start, LENGTH},
					.mode = UFFDIO_REGISTER_MODE_MISSING};

	return raw_ioctl(fd, UFFDIO_API, (unsigned long)&api) == 0 &&
	       raw_ioctl(fd, UFFDIO_REGISTER, (unsigned long)&range) == 0;
}

void pages_begin(struct area_process *process, bool waits)
{
	uint64_t start;

	atomic_store(&usable, false);
	/* What was touched before the fork is filled in the child, too. */
	atomic_store(&process->guard.touched, atomic_load(&arena) != 0);
	/* Of an arena with holes the faults would be those of the program's own memory, too. Under
	 * the filter of its parent a forked child asks for none. */
	if (!waits || agent_state.quiet || !agent_state.area->guard.pages ||
	    atomic_load(&forgone) || !(start = map_arena()))
		return;
	descriptor = open_faults();
	if (descriptor < 0)
		return;
	if (!cover(descriptor, start)) {
		raw_close(descriptor);
		descriptor = -1;
		return;
	}
	process->guard.owner = (uintptr_t)owner;
	process->guard.pages = start;
	process->guard.descriptor = (uint32_t)descriptor + 1;
}

void pages_begun(struct area_process *process)
{
	if (descriptor < 0)
		return;
	raw_close(descriptor);
	descriptor = -1;
	process->guard.descriptor = 0;
	atomic_store(&usable, atomic_load(&process->guard.pages_seen) != 0);
}

bool pages_include(uint64_t from, uint64_t length)
{
	uint64_t start = atomic_load_explicit(&arena, memory_order_relaxed);

	return start && from < start + LENGTH && start < from + length;
}

uint32_t pages_owner(uint64_t address)
{
	uint64_t start = atomic_load_explicit(&arena, memory_order_relaxed);
	uint32_t owned;

	if (!pages_include(address, 1))
		return GUARD_NOWHERE;
	owned = atomic_load_explicit(&owner[(address - start) / GUARD_PAGE], memory_order_acquire);
	return owned && owned <= GUARD_BLOCKS ? owned - 1 : GUARD_NOWHERE;
}

/* ---- runs ----------------------------------------------------------------------------------- */

static uint64_t address_of(uint32_t page)
{
	return atomic_load(&arena) + (uint64_t)page * GUARD_PAGE;
}

static void unmap(uint32_t first, uint32_t pages)
{
	raw_syscall3(SYS_munmap, (long)address_of(first), (long)pages * GUARD_PAGE, 0);
}

static bool claim_page(uint32_t page, uint32_t owned)
{
	uint32_t nobody = 0;

	return atomic_compare_exchange_strong(&owner[page], &nobody, owned);
}

/* Asked after something was left for pages_forgo() to find, which may have passed it by: one of the
 * two sees what the other did. Under a filter every call may be the last. */
static bool is_forgone(void)
{
	atomic_thread_fence(memory_order_seq_cst);
	return atomic_load_explicit(&forgone, memory_order_relaxed) && !agent_state.quiet;
}

static void let_go(uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		atomic_store_explicit(&owner[first + i], 0, memory_order_release);
	if (!is_forgone())
		return;
	for (uint32_t i = 0; i < count; i++)
		if (claim_page(first + i, GUARD_PAGE_OPENS))
			unmap(first + i, 1);
}

static bool claim(uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!claim_page(first + i, GUARD_PAGE_OPENS | (count - 1))) {
			let_go(first, i);
			return false;
		}
	return true;
}

/* The run that nobody has had for longest, as far as live ones do not stand in the way. */
static uint32_t find(uint32_t count)
{
	for (int i = 0; i < TRIES && count <= GUARD_PAGES / 4; i++) {
		uint32_t first = atomic_fetch_add(&next, count) % GUARD_PAGES;

		if (first + count <= GUARD_PAGES && claim(first, count))
			return first;
	}
	return GUARD_PAGES;
}

static _Atomic uint32_t *ask_for(uint32_t first)
{
	struct area_process *process = agent_state.process;

	if (!process || atomic_load(&process->state) != AREA_PROCESS_WATCHED)
		return NULL;
	for (uint32_t i = 0; i < GUARD_ASKS; i++) {
		uint32_t none = 0;

		if (atomic_compare_exchange_strong(&process->guard.asked[i], &none, first + 1))
			return &process->guard.asked[i];
	}
	return NULL;
}

/* Where somebody has waited in vain nobody waits until the bell has been heard again. */
static bool is_heard(const struct guard_choice *choice)
{
	uint32_t unheard = atomic_load(&choice->unheard);

	return !unheard || (int32_t)(atomic_load(&choice->heard) - unheard) >= 0;
}

/*
 * The controller fills the whole run, or all of the runs. It is asked, for who touches an empty
 * page waits in the kernel, however long the controller is stopped. False: it did not answer in
 * time; it may still fill the run, which then stays nobody's.
 */
static bool open_at(uint32_t first)
{
	struct guard_choice *choice = &agent_state.area->guard;
	struct patience patience = patience_begin_firm(FILL_BOUND);
	_Atomic uint32_t *asked = ask_for(first);
	uint32_t seen = first + 1, bell;

	if (!asked)
		return false;
	bell = atomic_fetch_add(&choice->bell, 1) + 1;
	raw_futex((uint32_t *)&choice->bell, FUTEX_WAKE, INT_MAX, NULL);
	while (atomic_load(asked) == seen && is_heard(choice) &&
	       patience_wait(&patience, asked, seen))
		;
	if (atomic_exchange(asked, 0) == (seen | GUARD_FILLED))
		return true;
	if (is_heard(choice))
		atomic_store(&choice->unheard, bell);
	return false;
}

static void unmap_stashed(uint32_t at)
{
	uint32_t stashed = atomic_exchange(&stash[at], 0);

	if (stashed)
		unmap(stashed - 1, 2);
}

/* Other threads may be taking runs: each page is theirs or goes. */
bool pages_forgo(void)
{
	/* Under a filter every call may be the last. */
	if (agent_state.quiet || !atomic_load(&arena) || atomic_exchange(&forgone, true))
		return false;
	atomic_store(&usable, false);
	for (uint32_t first = 0, end; first < GUARD_PAGES; first = end + 1) {
		for (end = first; end < GUARD_PAGES && claim_page(end, GUARD_PAGE_OPENS); end++)
			;
		if (end > first)
			unmap(first, end - first);
	}
	for (uint32_t i = 0; i < RUNS; i++)
		unmap_stashed(i);
	return true;
}

static uint32_t take_stashed(void)
{
	uint32_t at = atomic_fetch_add_explicit(&stash_next, 1, memory_order_relaxed) % RUNS;

	return atomic_exchange_explicit(&stash[at], 0, memory_order_acquire);
}

/* Two threads may do so at once: of the places that both fill each has one run, and what is driven
 * out is nobody's again. */
static void stash_run(uint32_t at, uint32_t first)
{
	uint32_t driven_out = atomic_exchange_explicit(&stash[at], first + 1, memory_order_release);

	if (driven_out &&
	    !raw_syscall3(SYS_madvise, (long)address_of(driven_out - 1), GUARD_PAGE, MADV_DONTNEED))
		let_go(driven_out - 1, 2);
	if (is_forgone())
		unmap_stashed(at);
}

/* A run of one page and an empty one; GUARD_PAGES: there is no room for so many of them. */
static uint32_t take_one(void)
{
	uint32_t stashed = take_stashed(), runs = atomic_load(&batch), first;

	if (stashed)
		return stashed - 1;
	/* A program may limit itself at any time. */
	if (is_limited() || (first = find(2 * runs)) == GUARD_PAGES)
		return GUARD_PAGES;
	/* Who else touches one of these has that one filled alone. */
	for (uint32_t i = 1; i < 2 * runs; i++)
		atomic_store_explicit(&owner[first + i], GUARD_PAGE_OPENS | 1,
				      memory_order_relaxed);
	atomic_store_explicit(&owner[first], GUARD_PAGE_OPENS | GUARD_PAGE_RUNS | runs,
			      memory_order_release);
	if (!open_at(first))
		return GUARD_PAGES;
	for (uint32_t i = 1; i < runs; i++)
		stash_run(i, first + 2 * i);
	atomic_store_explicit(&stash_next, 1, memory_order_relaxed);
	if (runs < RUNS)
		atomic_store(&batch, 2 * runs);
	return first;
}

/* Filled, with what it holds for whoever takes it; GUARD_PAGES: there is none. */
static uint32_t take_run(uint32_t pages)
{
	uint32_t first = GUARD_PAGES;

	if (pages == 1 && agent_state.area->guard.all)
		first = take_one();
	if (first != GUARD_PAGES || is_limited())
		return first;
	first = find(pages + 1);
	return first != GUARD_PAGES && open_at(first) ? first : GUARD_PAGES;
}

static void count_unpaged(void)
{
	struct area_process *process = agent_state.process;

	if (process)
		atomic_fetch_add(&process->guard.unpaged, 1);
}

uint64_t pages_take(size_t room, uint32_t *pages)
{
	uint64_t start = atomic_load(&arena),
		 bytes = (room + GUARD_PAGE - 1) & ~(GUARD_PAGE - 1ull);
	uint32_t first;

	if (!atomic_load(&usable)) {
		if (atomic_load(&forgone))
			count_unpaged();
		return 0;
	}
	if (room > LENGTH / 4)
		return 0;
	if (atomic_fetch_add(&filled, bytes) + bytes > agent_state.area->guard.memory) {
		atomic_fetch_sub(&filled, bytes);
		return 0;
	}
	*pages = (uint32_t)(bytes / GUARD_PAGE);
	first = take_run(*pages);
	if (first == GUARD_PAGES) {
		count_unpaged();
		atomic_fetch_sub(&filled, bytes);
		return 0;
	}
	return start + (uint64_t)first * GUARD_PAGE;
}

void pages_own(uint64_t run, uint32_t pages, uint32_t place)
{
	uint32_t first = (uint32_t)((run - atomic_load(&arena)) / GUARD_PAGE);

	for (uint32_t i = 0; i <= pages; i++)
		atomic_store_explicit(&owner[first + i], place + 1, memory_order_release);
}

/* Under a filter every call may be the last: one that a forked child has from its parent, too, and
 * one for which the process is not watched any more. */
static bool is_quiet(void)
{
	const struct area_process *process = agent_state.process;

	return agent_state.quiet || !process || atomic_load(&process->quiet);
}

static bool empty(uint64_t run, long length)
{
	if (is_quiet())
		return false;
	/* The program may have forbidden itself whole pages, and then have given them back. */
	if (length > (long)GUARD_PAGE)
		raw_syscall3(SYS_mprotect, (long)run, length, PROT_READ | PROT_WRITE);
	if (!raw_syscall3(SYS_madvise, (long)run, length, MADV_DONTNEED))
		return true;
	/* It may have locked it (mlock(2)), which cannot be emptied. */
	return !raw_syscall3(SYS_munlock, (long)run, length, 0) &&
	       !raw_syscall3(SYS_madvise, (long)run, length, MADV_DONTNEED);
}

void pages_shut(uint64_t run)
{
	empty(run, GUARD_PAGE);
}

void pages_empty(uint64_t run, uint32_t pages)
{
	struct area_process *process = agent_state.process;

	/* Pages that could not be emptied, since they are locked for example, are tried again when
	 * they are given back. */
	if (!empty(run, (long)pages * GUARD_PAGE) && process)
		atomic_store(&process->guard.touched, 1);
	atomic_fetch_sub(&filled, (uint64_t)pages * GUARD_PAGE);
}

/*
 * Was anything touched that was to stay empty? The block is no longer in the table, so a page that
 * is touched from here on is filled with zeroes, and what was touched before is told: the fence
 * pairs with take() in src/heap/pages.c.
 */
static bool is_touched(void)
{
	atomic_thread_fence(memory_order_seq_cst);
	return !agent_state.process ||
	       atomic_load_explicit(&agent_state.process->guard.touched, memory_order_relaxed);
}

/* What is unmapped is the program's to map, so no page there may be found to be a block's. */
static void forgo_run(uint32_t first, uint32_t count)
{
	if (agent_state.quiet)
		return;
	for (uint32_t i = 0; i < count; i++)
		atomic_store(&owner[first + i], GUARD_PAGE_OPENS);
	unmap(first, count);
}

/* What was looked at since it was freed, and the page behind. */
static bool empty_again(uint64_t run, long length)
{
	return !is_quiet() && raw_syscall3(SYS_madvise, (long)run, length, MADV_DONTNEED) == 0;
}

void pages_give_back(uint64_t run, uint32_t pages)
{
	if (atomic_load(&forgone)) {
		forgo_run((uint32_t)((run - atomic_load(&arena)) / GUARD_PAGE), pages + 1);
		return;
	}
	/* A run that cannot be emptied is given to nobody. */
	if (is_touched() && !empty_again(run, ((long)pages + 1) * GUARD_PAGE))
		return;
	let_go((uint32_t)((run - atomic_load(&arena)) / GUARD_PAGE), pages + 1);
}
