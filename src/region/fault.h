/* SPDX-License-Identifier: Apache-2.0 */
/* SIGSEGV beyond regions: faults that a service of ours makes happen on purpose. */
#ifndef REGION_FAULT_H
#define REGION_FAULT_H

#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

/* In the handler, every signal blocked. True: it was the service's own and is dealt with. */
typedef bool fault_fn(const siginfo_t *info, ucontext_t *context);

/* Ask `fn` about faults that are no region's, from now on, before the program's own handler. One
 * service can. 0 or -errno. */
int fault_claim(fault_fn *fn);

bool fault_is_claimed(void);

bool fault_offer(const siginfo_t *info, ucontext_t *context);

#endif
