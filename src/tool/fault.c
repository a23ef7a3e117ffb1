/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/fault.h"

#include "control/control.h"
#include "hit/page_fault.h"
#include "hit/stack.h"
#include "sample/fault.h"

#include <errno.h>
#include <string.h>

#define WAIT_MOST 100 /* ms: the thread can run at once, and does where a processor is free */

/* What a told access points to. The controller's thread alone comes here. */
static struct {
	struct fault_seen seen;
	struct tl_registers registers;
	struct tl_stack stack;
} told;

static void fill_registers(void)
{
	const struct insn_registers *from = &told.seen.sample.registers;

	told.registers = (struct tl_registers){.pc = from->pc, .flags = from->flags};
	memcpy(told.registers.general, from->general, sizeof(told.registers.general));
	told.stack = (struct tl_stack){.known = (1u << INSN_GENERAL) - 1,
				       .address = from->general[insn_arch.stack_pointer],
				       .length = told.seen.stack_length,
				       .bytes = told.seen.stack};
	told.stack.registers.pc = from->pc;
	told.stack.registers.flags = from->flags;
	memcpy(told.stack.registers.general, from->general, sizeof(told.stack.registers.general));
}

static int tell(struct tl_host *host, const struct tl_fault *fault, struct tl_access *access)
{
	struct space *space = control_space(host->set->control, fault->pid);

	if (!space)
		return -ESRCH;
	fill_registers();
	*access = (struct tl_access){.size = sizeof(*access),
				     .pid = fault->pid,
				     .tid = fault->tid,
				     .identity = (uint64_t)fault->tid,
				     .time = told.seen.sample.time,
				     .registers = &told.registers,
				     .stack = &told.stack};
	return page_fault_attribute(space, &told.seen, fault, access) ? 0 : -ENODATA;
}

int host_complete_fault(struct tl_host *host, const struct tl_fault *fault,
			struct tl_access *access)
{
	struct fault_events events;
	int err = fault_open(&events, fault->tid);

	fault->fill(fault->context);
	if (err)
		return err;
	err = fault_take(&events, fault->address, WAIT_MOST, &told.seen) ? 0 : -ETIMEDOUT;
	fault_close(&events);
	return err ? err : tell(host, fault, access);
}
