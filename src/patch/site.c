/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sites, and what a thread does that meets a trap of one.
 *
 * Sites are never freed or moved: a trap may be delivered long after the original bytes were put
 * back. Handling it is right even then: a thread at the function's entry is sent where calls lead
 * now; one inside the replaced bytes goes on in their copy, which does what the originals do.
 *
 * Several sites change at one instant: each operation has a number, and `done` is the last one that
 * had its instant. A site whose `serial` is beyond `done` leads to `previous`, else to `next`.
 * patch_site_prepare() writes `previous`, `serial` and `next` in this order, and
 * patch_site_destination() reads `serial` before and after the others: where both reads agree, all
 * belong to one operation. All these accesses are sequentially consistent.
 */
#include "patch/patch.h"

#include "base/counters.h"
#include "base/syscall.h"
#include "signal/arch.h"
#include "signal/ownership.h"

#include <ucontext.h>

/* Written under the lock of object.c, as all that follows. A handler reads the sites below
 * `site_count`, which patch_site_keep() raises with release once the site is whole. */
static struct patch_site sites[PATCH_SITES];
static size_t site_count;
static uint64_t operations; /* how many have begun */
static uint64_t done;	    /* the number of the last one that had its instant */
static bool traps_stand;    /* between the first step of an operation and its last */

/* ---- in the thread that trapped --------------------------------------------------------- */

/* The site that has one of its traps at `pc`. An entry may have had several sites: the last counts.
 * The acquire pairs with the release in patch_site_keep(). */
static const struct patch_site *find_by_pc(uintptr_t pc)
{
	for (size_t i = __atomic_load_n(&site_count, __ATOMIC_ACQUIRE); i > 0; i--) {
		const struct patch_site *site = &sites[i - 1];

		if (site->copy && pc >= site->entry && pc < site->entry + PATCH_JUMP_LENGTH &&
		    patch_begins(site, (unsigned)(pc - site->entry)))
			return site;
	}
	return NULL;
}

uintptr_t patch_site_destination(const struct patch_site *site)
{
	uint64_t serial, again;
	uintptr_t destination;

	do {
		serial = __atomic_load_n(&site->serial, __ATOMIC_SEQ_CST);
		destination = __atomic_load_n(&done, __ATOMIC_SEQ_CST) >= serial
				      ? __atomic_load_n(&site->next, __ATOMIC_SEQ_CST)
				      : __atomic_load_n(&site->previous, __ATOMIC_SEQ_CST);
		again = __atomic_load_n(&site->serial, __ATOMIC_SEQ_CST);
	} while (serial != again);
	return destination;
}

/* Where the scheduler has taken the CPU from the patcher between two steps, every call by every
 * thread traps until the patcher runs again: each such thread offers it the CPU. Relaxed: a value
 * that is out of date costs one system call or one more trap. */
static void let_patcher_finish(void)
{
	if (__atomic_load_n(&traps_stand, __ATOMIC_RELAXED))
		raw_syscall3(SYS_sched_yield, 0, 0, 0);
}

static bool send_on(uintptr_t pc, ucontext_t *context)
{
	const struct patch_site *site = find_by_pc(pc);
	uintptr_t to;

	if (!site)
		return false;
	to = pc == site->entry ? patch_site_destination(site) : 0;
	counter_increment(pc == site->entry ? COUNTER_PATCH_TRAPS : COUNTER_PATCH_MOVES);
	let_patcher_finish();
	signal_arch.go_on_at(context, to ? to : site->copy + site->offset[pc - site->entry]);
	return true;
}

/* The handler of SIGILL. It calls no function that could itself be replaced, since that would trap
 * here again and again; SIGILL is not blocked while it runs. */
static void on_illegal_instruction(int signal, siginfo_t *info, void *context)
{
	if (info->si_code <= 0 || !send_on(signal_arch.pc(context), context))
		signal_chain(signal, info, context);
}

/* ---- the rest --------------------------------------------------------------------------- */

/* The handler of the signal as the kernel has it, since our own record does not see what the
 * program has set by a raw rt_sigaction(2). */
static uintptr_t kernel_handler(int signal)
{
	struct {
		uintptr_t handler, flags, restorer;
		uint64_t mask;
	} action = {0};

	raw_syscall6(SYS_rt_sigaction, signal, 0, (long)&action, sizeof(action.mask), 0, 0);
	return action.handler;
}

static uintptr_t installed; /* our handler as the kernel has it; 0: not ours yet */

int patch_site_own_signal(void)
{
	int err = signal_own(SIGILL, on_illegal_instruction);

	if (!err && !installed)
		installed = kernel_handler(SIGILL);
	return err;
}

bool patch_site_lost_signal(void)
{
	return kernel_handler(SIGILL) != installed;
}

struct patch_site *patch_site_find(uintptr_t start)
{
	for (size_t i = site_count; i > 0; i--)
		if (sites[i - 1].start == start)
			return &sites[i - 1];
	return NULL;
}

struct patch_site *patch_site_keep(const struct patch_site *site)
{
	struct patch_site *kept = &sites[site_count];

	if (site_count == PATCH_SITES)
		return NULL;
	*kept = *site;
	__atomic_store_n(&site_count, site_count + 1, __ATOMIC_RELEASE);
	return kept;
}

uint64_t patch_site_operation(void)
{
	return ++operations;
}

/* Until the operation's instant the site leads where it did, which `previous` keeps. */
void patch_site_prepare(struct patch_site *site, uint64_t operation, uintptr_t next)
{
	__atomic_store_n(&site->previous, site->next, __ATOMIC_SEQ_CST);
	__atomic_store_n(&site->serial, operation, __ATOMIC_SEQ_CST);
	__atomic_store_n(&site->next, next, __ATOMIC_SEQ_CST);
}

void patch_site_instant(uint64_t operation)
{
	__atomic_store_n(&done, operation, __ATOMIC_SEQ_CST);
}

void patch_site_traps(bool standing)
{
	__atomic_store_n(&traps_stand, standing, __ATOMIC_RELAXED);
}
