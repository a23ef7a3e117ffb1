/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What src/trap and the services know of an architecture (insn/hooks.h has how one is chosen).
 * "trap/arch.h" has trap_arch, the struct below. Beside it an architecture has
 *   trap/registers.h  registers_probe() and registers_from_context()
 *   trap/cause.h      cause_is_missing()
 *   trap/region_…     region_key.h, region_stub.h, and region_on_trap(), region_on_fault(),
 *                     region_on_call(), region_on_visit(): regions rest on protection keys. Where
 *                     there are none region_key_possible() says so and nothing of it is ever
 * called.
 */
#ifndef TRAP_HOOKS_H
#define TRAP_HOOKS_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

struct trap_hooks {
	/* Of an interrupted thread. */
	uintptr_t (*pc)(const ucontext_t *context);
	uintptr_t (*stack)(const ucontext_t *context);
	/* It goes on at `pc` when the handler returns. An execution breakpoint there fires, unless
	 * it is the one that the thread was stopped by. */
	void (*go_on_at)(ucontext_t *context, uintptr_t pc);
};

#endif
