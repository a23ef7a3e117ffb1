/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread that is held before a chosen instruction is about to access. */
#include "answer/held.h"

#include "choice/code.h"
#include "explore/manner.h"

/* Bytes above the stack pointer that are taken for the thread's own stack. */
#define OWN_STACK 65536

bool held_may_share(struct target *target, const struct hit *hit, uint64_t address)
{
	uint64_t stack = hit->stack.registers.general[insn_arch.stack_pointer];

	return address >= 4096 && !(address >> 47) &&
	       !space_is_own_stack(target->space, stack, address, OWN_STACK) &&
	       space_writable(target->space, address);
}

static unsigned aligned_length(uint64_t address, uint64_t length)
{
	unsigned result = 8;

	while (result > length || address % result)
		result /= 2;
	return result;
}

/* Chooses one of the first two arguments: the one whose memory a conflict was foreseen at, else
 * either. */
static uint64_t choose_argument(struct target *target, const struct hit *hit)
{
	bool first = random_next(&target->program->random) & 1;
	const uint64_t *general = hit->stack.registers.general;
	uint64_t drawn = general[insn_arch.function_argument[!first]];
	uint64_t other = general[insn_arch.function_argument[first]];

	return foresight_view(&target->explored->memory.foresight, other) == FORESIGHT_SHARED
		       ? other
		       : drawn;
}

/* At a call that leaves the program's own code: watches memory that it is handed to read or
 * write. */
static bool watch_argument(struct target *target, const struct hit *hit, struct tl_watch *watch)
{
	uint64_t argument = choose_argument(target, hit);

	if (is_off(target, HEURISTIC_ARGUMENT) || !held_may_share(target, hit, argument))
		return false;
	watch->address = argument & ~7ull;
	watch->length = 8;
	watch->access = TL_READ | TL_WRITE;
	return true;
}

bool held_watch(struct target *target, const struct hit *hit, struct tl_watch *watch)
{
	*watch = (struct tl_watch){
		.size = sizeof(*watch), .pid = target->pid, .hold = COLD_HOLD, .priority = 60};
	if (!hit->usable)
		return watch_argument(target, hit, watch);
	if (!held_may_share(target, hit, hit->access.address) || hit->access.length == 0)
		return false;
	watch->length = aligned_length(hit->access.address, hit->access.length);
	watch->address = hit->access.address;
	/* If the held thread reads, only writes of others conflict with it. */
	watch->access = hit->access.access & TL_WRITE ? TL_READ | TL_WRITE : TL_WRITE;
	if (is_off(target, HEURISTIC_WIDENING))
		watch->access = TL_READ | TL_WRITE;
	watch->widen = watch->access == TL_WRITE && !arms_slowly(target);
	if (manner_of(target)->suit)
		manner_of(target)->suit(target, watch);
	return true;
}
