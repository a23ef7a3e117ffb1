/* SPDX-License-Identifier: Apache-2.0 */
#include "region/region.h"

#include "base/counters.h"
#include "insn/insn.h"
#include "region/copy.h"
#include "region/decode.h"
#include "region/fault.h"
#include "region/key.h"
#include "region/pages.h"
#include "region/set.h"
#include "region/thread.h"
#include "signal/registers.h"

#include <errno.h>
#include <string.h>
#include <trapline/event.h>

#define TRAP_FLAG 0x100 /* EFLAGS.TF */
#define FAULT_WRITE 2	/* page fault error code: the access was a write */

/* What a step leaves unblocked: its own end, and what the instruction may raise itself. */
#define STEP_SIGNALS (SIGNAL_BIT(SIGTRAP) | FAULT_SIGNALS)

struct touch {
	uintptr_t first;
	uint32_t length;
	uint32_t access;
};

/*
 * The thread's step. No signal but the instruction's own can come between its begin and its end,
 * so there is never a second one beneath it; one whose instruction faulted and was left by
 * longjmp() is overwritten by the next.
 */
struct step {
	bool active;
	bool reported;	   /* not an access of a handler's own */
	bool trap_flag;	   /* the program's */
	bool pushes_flags; /* pushf: stores our trap flag */
	bool repeated;
	uint8_t flow;
	uint8_t touch_count;
	uint32_t rights; /* the thread's rights to the key before */
	uint64_t mask;	 /* the program's signal mask */
	uintptr_t pc;
	struct touch touch[INSN_MAX_OPERANDS];
};

static __thread struct step own_step __attribute__((tls_model("initial-exec")));

/* ---- what the instruction will touch ---------------------------------------------------- */

/* The page at pc was fetched from just now; the next may not exist. */
static size_t read_code(uintptr_t pc, uint8_t *bytes)
{
	size_t here = REGION_PAGE - pc % REGION_PAGE;

	if (here >= INSN_MAX_LENGTH) {
		memcpy(bytes, (const void *)pc, INSN_MAX_LENGTH);
		return INSN_MAX_LENGTH;
	}
	memcpy(bytes, (const void *)pc, here);
	return here + region_copy_part(bytes + here, pc + here, INSN_MAX_LENGTH - here);
}

static void add_touch(struct step *step, uint64_t first, uint64_t length, unsigned access)
{
	if (length && access)
		step->touch[step->touch_count++] = (struct touch){first, (uint32_t)length, access};
}

static void guess_touch(struct step *step, const siginfo_t *info, const ucontext_t *context)
{
	bool write = context->uc_mcontext.gregs[REG_ERR] & FAULT_WRITE;

	add_touch(step, (uintptr_t)info->si_addr, 1, (write ? TL_WRITE : TL_READ) | TL_GUESSED);
}

/* A gather's bounds hold more than it touches; other operands may not happen at all. */
static unsigned operand_access(const struct insn *insn, const struct insn_operand *operand)
{
	bool unsure = operand->conditional || operand->vector_index >= 0;

	return operand->access | (insn->atomic ? TL_ATOMIC : 0) | (unsure ? TL_GUESSED : 0);
}

static void decode(struct step *step, const siginfo_t *info, const ucontext_t *context)
{
	struct insn_registers registers;
	struct insn_extended extended;
	uint8_t bytes[INSN_MAX_LENGTH];
	struct insn insn;
	uint64_t first, length;

	step->touch_count = 0;
	step->flow = INSN_FLOW_NEXT;
	step->repeated = step->pushes_flags = false;
	if (region_decode(bytes, read_code(step->pc, bytes), step->pc, &insn)) {
		guess_touch(step, info, context);
		return;
	}
	registers_from_context(context, &registers, &extended);
	step->flow = insn.flow;
	step->repeated = insn.repeated;
	step->pushes_flags = bytes[insn.length - 1] == 0x9c && insn.operand_count == 1 &&
			     insn.operand[0].stack_push && insn.length <= 2;
	for (unsigned i = 0; i < insn.operand_count; i++)
		if (insn.operand[i].access &&
		    !insn_operand_before(&insn, i, &registers, &first, &length))
			add_touch(step, first, length, operand_access(&insn, &insn.operand[i]));
	if (!step->touch_count)
		guess_touch(step, info, context);
}

/* ---- begin ------------------------------------------------------------------------------ */

static bool is_region_fault(const siginfo_t *info)
{
	return info->si_code == SEGV_PKUERR && region_key >= 0 && (int)info->si_pkey == region_key;
}

/*
 * The kernel reads the key off the mapping after the fact (Linux, arch/x86/mm/fault.c,
 * bad_area_access_error()): a region that another thread closed meanwhile has left key 0 there. A
 * key to which the interrupted thread has the right was not what stopped it, and the processor
 * decides anew.
 */
static bool key_is_gone(const siginfo_t *info, const ucontext_t *context)
{
	bool write = context->uc_mcontext.gregs[REG_ERR] & FAULT_WRITE;
	uint32_t rights;

	return info->si_code == SEGV_PKUERR && region_key >= 0 && info->si_pkey < REGION_KEYS &&
	       region_key_read_saved(context, &rights) &&
	       region_rights_allow(rights, (int)info->si_pkey, write);
}

/* A callback runs with SIGTRAP blocked; one that was left by longjmp() has it open again. */
static bool inside_handler(uint64_t mask)
{
	return mask & SIGNAL_BIT(SIGTRAP) && region_events->is_inside();
}

static void restore(struct step *step, ucontext_t *context)
{
	greg_t *registers = context->uc_mcontext.gregs;
	uint32_t pkru;

	region_key_change_saved(context, region_key_bits(), step->rights, &pkru);
	registers[REG_EFL] &= ~(greg_t)TRAP_FLAG;
	if (step->trap_flag)
		registers[REG_EFL] |= TRAP_FLAG;
	set_saved_mask(context, step->mask);
	step->active = false;
}

/* A region's page was touched: returning from the signal runs the instruction, as it does where
 * the region is gone already, without a step. False: not ours;
 * a step that it interrupted is undone in `context`. */
static bool begin_step(const siginfo_t *info, ucontext_t *context)
{
	struct step *step = &own_step;
	greg_t *registers = context->uc_mcontext.gregs;
	uint32_t pkru;

	if (step->active && step->pc == (uintptr_t)registers[REG_RIP] &&
	    registers[REG_EFL] & TRAP_FLAG)
		restore(step, context);
	if (!is_region_fault(info) && key_is_gone(info, context)) {
		counter_increment(COUNTER_FAULTS_OUTRUN);
		return true;
	}
	if (!is_region_fault(info) ||
	    !region_key_change_saved(context, region_key_bits(), 0, &pkru))
		return false;
	step->pc = (uintptr_t)registers[REG_RIP];
	step->mask = saved_mask(context);
	step->trap_flag = registers[REG_EFL] & TRAP_FLAG;
	step->rights = pkru & region_key_bits();
	step->reported = !inside_handler(step->mask) && !region_thread_owns_code(step->pc);
	decode(step, info, context);
	step->active = true;
	registers[REG_EFL] |= TRAP_FLAG;
	set_saved_mask(context, ~STEP_SIGNALS);
	return true;
}

/* ---- end -------------------------------------------------------------------------------- */

static bool touches(const struct touch *touch, const struct region_entry *entry)
{
	return touch->access & entry->access && touch->first < entry->end &&
	       entry->first < touch->first + touch->length;
}

static bool touched_before(const struct step *step, unsigned at, const struct region_entry *entry)
{
	for (unsigned i = 0; i < at; i++)
		if (touches(&step->touch[i], entry))
			return true;
	return false;
}

/* One hit for a region, whatever the number of operands that touch it. */
static void deliver(const struct step *step, unsigned at, const struct region_entry *entry,
		    ucontext_t *context, struct region_guard guard)
{
	struct insn_access access; /* of its instruction, the flow alone */

	access.pc = step->pc;
	access.first = step->touch[at].first;
	access.length = step->touch[at].length;
	access.access = step->touch[at].access;
	access.decoded = !(access.access & TL_GUESSED);
	access.insn.flow = step->flow;
	for (unsigned i = at + 1; i < step->touch_count; i++)
		if (touches(&step->touch[i], entry))
			access.access |= step->touch[i].access;
	region_callback_begin(guard);
	region_events->hit(entry->index, entry->generation, &access, context);
	region_callback_end();
}

static void deliver_all(const struct step *step, ucontext_t *context, struct region_guard guard)
{
	for (unsigned i = 0; i < step->touch_count; i++) {
		const struct touch *touch = &step->touch[i];
		struct region_cursor cursor = {0};
		struct region_entry entry;

		while (region_set_next(touch->first, touch->first + touch->length, &cursor, &entry))
			if (!(touch->access & entry.access))
				counter_increment(COUNTER_HITS_FILTERED);
			else if (!touched_before(step, i, &entry))
				deliver(step, i, &entry, context, guard);
	}
}

/* pushf has stored the trap flag that is ours. Its page is open to this handler. */
static void clean_pushed_flags(const struct step *step)
{
	uint16_t flags;

	if (!step->pushes_flags || step->trap_flag)
		return;
	memcpy(&flags, (const void *)step->touch[0].first, sizeof(flags));
	flags &= (uint16_t)~TRAP_FLAG;
	memcpy((void *)step->touch[0].first, &flags, sizeof(flags));
}

/* A SIGTRAP that was pending came in through the opened mask: the instruction has not run. */
static bool has_run(const struct step *step, const siginfo_t *info, const ucontext_t *context)
{
	return info->si_code == TRAP_TRACE || step->repeated ||
	       (uintptr_t)context->uc_mcontext.gregs[REG_RIP] != step->pc;
}

/*
 * Any SIGTRAP ends the step: where a watchpoint fires at the same instruction the kernel keeps one
 * of the two signals. One that came too early makes the instruction fault again.
 */
bool region_on_trap(const siginfo_t *info, ucontext_t *context)
{
	struct region_guard guard;
	struct step step;

	if (!own_step.active)
		return false;
	guard = region_guard_enter(region_rights_read());
	region_rights_write(0);
	step = own_step;
	restore(&own_step, context);
	if (has_run(&step, info, context)) {
		clean_pushed_flags(&step);
		if (step.reported)
			deliver_all(&step, context, guard);
		else
			counter_increment(COUNTER_HITS_SELF);
	}
	region_guard_leave(guard);
	return info->si_code == TRAP_TRACE;
}

/* A copy of ours has met memory that is not there: region/copy.h. */
static bool ends_copy(ucontext_t *context)
{
	greg_t *registers = context->uc_mcontext.gregs;

	if ((uintptr_t)registers[REG_RIP] != (uintptr_t)region_stub_copies)
		return false;
	registers[REG_RIP] = (greg_t)region_stub_copied;
	return true;
}

void region_on_fault(int signal, siginfo_t *info, void *context, uint32_t rights)
{
	struct region_guard guard = region_guard_enter(rights);
	int saved_errno = errno;
	bool ours = ends_copy(context) || begin_step(info, context) || fault_offer(info, context);

	region_guard_leave(guard);
	if (!ours) {
		region_rights_write(rights);
		region_thread_chain(signal, info, context);
	}
	errno = saved_errno;
}
