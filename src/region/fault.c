/* SPDX-License-Identifier: Apache-2.0 */
#include "region/fault.h"

#include "signal/ownership.h"
#include "region/key.h"
#include "region/stub.h"

#include <errno.h>
#include <stddef.h>

static fault_fn *claimant;

bool fault_is_claimed(void)
{
	return __atomic_load_n(&claimant, __ATOMIC_ACQUIRE);
}

bool fault_offer(const siginfo_t *info, ucontext_t *context)
{
	fault_fn *fn = __atomic_load_n(&claimant, __ATOMIC_ACQUIRE);

	return fn && fn(info, context);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
	int saved_errno = errno;

	if (!fault_offer(info, context))
		signal_chain(signal, info, context);
	errno = saved_errno;
}

int fault_claim(fault_fn *fn)
{
	fault_fn *none = NULL;

	if (!__atomic_compare_exchange_n(&claimant, &none, fn, false, __ATOMIC_RELEASE,
					 __ATOMIC_RELAXED) &&
	    none != fn)
		return -EBUSY;
	/* The regions' handler, where there may be regions: it asks fault_offer() too. Its entry
	 * needs the keys' instructions. */
	return signal_own(SIGSEGV, region_key_possible() ? region_enter_fault : on_fault);
}
