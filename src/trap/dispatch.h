/* SPDX-License-Identifier: Apache-2.0 */
/* From a SIGTRAP to the callback of the event it belongs to. */
#ifndef TRAP_DISPATCH_H
#define TRAP_DISPATCH_H

#include "trap/hit.h"
#include "trap/running.h"

#include <signal.h>

/* Own SIGTRAP in this process, once. 0 or -errno. */
int dispatch_install(void);

/* Hand a hit that came another way than by a perf signal to the callback of event number `index`,
 * if it is still of that generation and covers this thread. Runs as the program does: its own
 * faults and system calls are handled. */
void dispatch_region(unsigned index, uint32_t generation, const struct insn_access *access,
		     ucontext_t *context);

#endif
