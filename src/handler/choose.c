/* SPDX-License-Identifier: Apache-2.0 */
#include "handler/choose.h"

#include "agent/state.h"
#include "base/glob.h"
#include "base/syscall.h"
#include "signal/arch.h"
#include "unwind/unwind.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>

/* Frames searched for a caller that excludes the hit; the controller searches the rest. */
#define CALLERS_MAX 32

static bool is_quiet(const struct area_process *process)
{
	return atomic_load_explicit(&process->quiet, memory_order_relaxed);
}

static void read_value(struct agent_choice *choice, uint64_t address, bool possible)
{
	ssize_t count = 0;

	choice->value_address = address & ~7ull;
	if (possible)
		count = raw_read_memory(choice->value, choice->value_address,
					area_value_length(choice->value_address));
	choice->value_length = count > 0 ? (uint32_t)count : 0;
}

/* Extends a value of `length` bytes to 64 bits: by its sign bit if its type is signed, else by
 * zeros. */
static uint64_t extend(uint64_t value, uint32_t length, bool is_signed)
{
	unsigned shift = 64 - 8 * length;

	return is_signed && shift ? (uint64_t)((int64_t)(value << shift) >> shift) : value;
}

/* The last value seen by this thread, by slot. For slots that watch another address in each thread
 * (a thread-local variable); all others keep the last value in the slot. */
static __thread struct {
	uint32_t generation, rests;
	uint64_t value;
} own_last[AREA_SLOTS] __attribute__((tls_model("initial-exec")));

static void exchange_last(struct area_slot *slot, uint32_t index, uint64_t value,
			  struct agent_choice *choice)
{
	uint32_t generation = atomic_load_explicit(&slot->generation, memory_order_relaxed);
	uint32_t rests = atomic_load_explicit(&slot->rests, memory_order_relaxed);

	if (slot->address) {
		choice->before_known =
			atomic_load_explicit(&slot->last_known, memory_order_relaxed);
		choice->before = atomic_exchange_explicit(&slot->last, value, memory_order_relaxed);
		atomic_store_explicit(&slot->last_known, 1, memory_order_relaxed);
		return;
	}
	choice->before_known = own_last[index].generation == generation &&
			       own_last[index].rests == rests;
	choice->before = own_last[index].value;
	own_last[index].generation = generation;
	own_last[index].rests = rests;
	own_last[index].value = value;
}

/* Notes by how much the value changed. No lock: two threads that call this at once mark the stride
 * as uneven at worst. */
static void note_stride(struct area_slot *slot, uint64_t stride)
{
	if (!atomic_fetch_add_explicit(&slot->strides, 1, memory_order_relaxed))
		atomic_store_explicit(&slot->stride, stride, memory_order_relaxed);
	else if (atomic_load_explicit(&slot->stride, memory_order_relaxed) != stride)
		atomic_store_explicit(&slot->uneven, 1, memory_order_relaxed);
}

static void note_values(struct area_slot *slot, uint32_t index, uint64_t address,
			struct agent_choice *choice, struct condition_values *values)
{
	uint64_t offset = address - choice->value_address, value = 0;
	uint32_t length = slot->length;

	if (!length || length > 8 || offset + length > choice->value_length)
		return;
	memcpy(&value, choice->value + offset, length);
	exchange_last(slot, index, value, choice);
	if (choice->before_known)
		note_stride(slot, value - choice->before);
	values->is_signed = slot->is_signed;
	values->new_known = true;
	values->new_value = extend(value, length, slot->is_signed);
	values->old_known = choice->before_known;
	values->old_value = extend(choice->before, length, slot->is_signed);
}

static bool thread_is_wanted(const struct filter *filter, const struct area_process *process)
{
	char glob[FILTER_GLOB], name[AREA_NAME] = "";

	if (!filter->thread[0] || is_quiet(process) ||
	    raw_syscall6(SYS_prctl, PR_GET_NAME, (long)name, 0, 0, 0, 0))
		return true;
	name[AREA_NAME - 1] = '\0';
	memcpy(glob, filter->thread, sizeof(glob));
	glob[FILTER_GLOB - 1] = '\0';
	return glob_match(glob, name);
}

static bool in_ranges(const struct filter_range *range, uint64_t pc)
{
	for (int i = 0; i < FILTER_RANGES; i++)
		if (range[i].start <= pc && pc < range[i].end)
			return true;
	return false;
}

static bool caller_is_refused(const struct filter_process *own, const ucontext_t *context)
{
	uintptr_t pcs[CALLERS_MAX];
	int count;

	if (!own->caller[0].end)
		return false;
	count = unwind_backtrace(context, pcs, CALLERS_MAX, NULL);
	for (int i = 0; i < count; i++)
		/* pcs[0] is where the thread is; the others are return addresses, and the call lies
		 * before them. */
		if (in_ranges(own->caller, i ? pcs[i] - 1 : pcs[i]))
			return true;
	return false;
}

static enum filter_refusal refusal(const struct filter *filter, const struct area_process *process,
				   const struct condition_values *values, const ucontext_t *context)
{
	if (!thread_is_wanted(filter, process))
		return FILTER_THREAD;
	if (!condition_holds(&filter->condition, values))
		return FILTER_VALUES;
	if (!is_quiet(process) && caller_is_refused(&process->filter, context))
		return FILTER_CALLER;
	return FILTER_REFUSALS;
}

/* For a hit that the filter lets pass. True: it is to be sent, because it is its turn, or because
 * only the controller can tell whether it counts. False: it was counted at its place, which the
 * controller has described before. */
static bool take_turn(struct filter *filter, const struct area_slot *slot,
		      struct agent_choice *choice)
{
	bool chosen = true;

	if (slot->certain) {
		choice->number =
			atomic_fetch_add_explicit(&filter->matched, 1, memory_order_relaxed) + 1;
		chosen = filter_chooses(filter, choice->number);
	}
	if (!choice->place || (chosen && !filter->count_only))
		return true;
	if (filter->refresh &&
	    !atomic_exchange_explicit(&choice->place->sent, 1, memory_order_relaxed))
		return true;
	atomic_fetch_add_explicit(&choice->place->count, 1, memory_order_relaxed);
	return false;
}

static bool is_unwanted(const struct filter_place *place)
{
	return place && atomic_load_explicit(&place->key, memory_order_relaxed) & FILTER_UNWANTED;
}

bool agent_choose(struct area_process *process, uint32_t index, uint64_t address,
		  const ucontext_t *context, uint64_t now, struct agent_choice *choice)
{
	struct filter *filter = &agent_state.area->filter;
	struct area_slot *slot = &process->slot[index];
	struct condition_values values = {0};
	enum filter_refusal refused = FILTER_REFUSALS;
	uint64_t pc = signal_arch.pc(context);
	uint64_t watched = slot->address ? slot->address : address;

	memset(choice, 0, sizeof(*choice));
	read_value(choice, watched, slot->values && !is_quiet(process));
	if (!address)
		return true;
	note_values(slot, index, watched, choice, &values);
	choice->place = filter_place_find(&process->filter, pc, index);
	if (now < filter->not_before)
		refused = FILTER_EARLY;
	else if (is_unwanted(choice->place))
		refused = FILTER_KIND;
	else
		refused = refusal(filter, process, &values, context);
	if (refused == FILTER_REFUSALS)
		return take_turn(filter, slot, choice);
	atomic_fetch_add_explicit(&process->filter.refused[refused], 1, memory_order_relaxed);
	return false;
}
