/* SPDX-License-Identifier: Apache-2.0 */
#include "signal/borrower.h"

#include "base/memory.h"
#include "base/syscall.h"

#define PAGE 4096

/*
 * The owner's process id stands in a page that the kernel empties in a child with memory of its own
 * (MADV_WIPEONFORK, Linux 4.14): fork(), also by a raw system call, makes a new owner, and a child
 * that borrows sees an id which is not its own. Without the page nobody counts as a borrower.
 */
static pid_t *owner;
static bool shared;  /* the dispositions: nobody counts as a borrower any more */
static bool unasked; /* getpid(2) is forbidden */

void borrower_begin(void)
{
	pid_t *page = __atomic_load_n(&owner, __ATOMIC_ACQUIRE), *none = NULL;

	if (page) {
		borrower_is();
		return;
	}
	page = page_allocate(PAGE);
	if (!page)
		return;
	*page = raw_getpid();
	if (raw_syscall3(SYS_madvise, (long)page, PAGE, MADV_WIPEONFORK) ||
	    !__atomic_compare_exchange_n(&owner, &none, page, false, __ATOMIC_RELEASE,
					 __ATOMIC_RELAXED))
		page_free(page, PAGE);
}

void borrower_share(void)
{
	__atomic_store_n(&shared, true, __ATOMIC_RELAXED);
}

void borrower_forbid_asking(void)
{
	__atomic_store_n(&unasked, true, __ATOMIC_RELAXED);
}

/* Accepted: after a fork by a raw system call, a vfork()ed child may be the first to ask and is
 * taken for the owner; its parent then leaves its own signals to the kernel, and is not watched. */
bool borrower_has_mask(void)
{
	pid_t *page = __atomic_load_n(&owner, __ATOMIC_ACQUIRE);
	pid_t noted, self;

	if (!page || __atomic_load_n(&unasked, __ATOMIC_RELAXED))
		return false;
	self = raw_getpid();
	noted = __atomic_load_n(page, __ATOMIC_RELAXED);
	if (!noted)
		__atomic_store_n(page, self, __ATOMIC_RELAXED);
	return noted && noted != self;
}

bool borrower_is(void)
{
	return !__atomic_load_n(&shared, __ATOMIC_RELAXED) && borrower_has_mask();
}
