/* SPDX-License-Identifier: Apache-2.0 */
#include "handler/note.h"

#include "agent/arch.h"
#include "agent/opmask.h"
#include "agent/state.h"
#include "base/syscall.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>

static void note_registers(struct area_registers *registers, const ucontext_t *context)
{
	agent_arch.registers(context, registers);
	registers->fs_base = agent_state.can_read_fs_base ? agent_arch.pointer_by_instruction() : 0;
}

static uint32_t read_stack(struct area_hit *hit, uint64_t stack_address)
{
	ssize_t count = raw_read_memory(hit->stack, stack_address, AREA_STACK);

	return count > 0 ? (uint32_t)count : 0;
}

/* Copies the watched value and the top of the stack in one system call. What cannot be read has
 * length 0. */
static void note_memory(struct area_hit *hit, uint64_t value_address, uint64_t stack_address)
{
	struct iovec local[2] = {{hit->value, area_value_length(value_address)},
				 {hit->stack, AREA_STACK}};
	/* The copy ends with the value's page: the next one may be unmapped or guarded. */
	const size_t length = area_value_length(value_address);
	struct iovec remote[2] = {{(void *)value_address, length},
				  {(void *)stack_address, AREA_STACK}};
	ssize_t count = raw_read_pieces(local, remote, 2);

	hit->value_until = agent_now();
	hit->value_address = value_address;
	hit->stack_address = stack_address;
	if (count >= (ssize_t)length) {
		hit->value_length = (uint32_t)length;
		hit->stack_length = (uint32_t)((size_t)count - length);
		return;
	}
	hit->value_length = 0;
	hit->stack_length = read_stack(hit, stack_address);
}

/* Takes the value over from the filter, so that the record holds the value that the filter
 * judged. */
static void note_choice(struct area_hit *hit, const struct agent_choice *choice)
{
	hit->flags |= AREA_HIT_JUDGED | (choice->before_known ? AREA_HIT_BEFORE : 0);
	hit->before = choice->before;
	hit->number = choice->number;
	hit->value_address = choice->value_address;
	hit->value_length = choice->value_length;
	memcpy(hit->value, choice->value, AREA_VALUE);
}

static void note_nothing(struct area_hit *hit, uint64_t value_address, uint64_t stack_address)
{
	hit->value_address = value_address;
	hit->stack_address = stack_address;
	hit->value_length = 0;
	hit->stack_length = 0;
}

static bool returns_open(const ucontext_t *context)
{
	uint64_t mask; /* the kernel's mask is the first word of libc's sigset_t */

	memcpy(&mask, &context->uc_sigmask, sizeof(mask));
	return !(mask & 1ull << (SIGTRAP - 1));
}

void note_hit(struct area_hit *hit, const struct perf_siginfo *info, const ucontext_t *context,
	      struct area_slot *slot, bool quiet, const struct agent_choice *choice)
{
	/* A slot that watches another address in each thread, and a region, show the accessed word;
	 * any other slot shows the watched one. */
	bool whole = slot->address && slot->length <= 8;
	uint64_t value = (whole ? slot->address : info->address) & ~7ull;

	note_registers(&hit->registers, context);
	hit->address = info->address;
	hit->tid = quiet ? 0 : raw_gettid();
	hit->identity = hit->tid ? (uint64_t)hit->tid : hit->registers.fs_base;
	hit->flags = info->flags & PERF_SIGINFO_LATE ? AREA_HIT_LATE : 0;
	hit->flags |= returns_open(context) ? AREA_HIT_OPEN : 0;
	if (opmask_note(context, agent_state.opmask_at, hit->opmask))
		hit->flags |= AREA_HIT_OPMASKS;
	hit->thread[0] = '\0';
	hit->number = hit->value_until = 0;
	if (!quiet && slot->patience)
		raw_syscall6(SYS_prctl, PR_GET_NAME, (long)hit->thread, 0, 0, 0, 0);
	if (quiet)
		note_nothing(hit, value, hit->registers.general[insn_arch.stack_pointer]);
	else if (choice)
		hit->stack_length =
			read_stack(hit, hit->registers.general[insn_arch.stack_pointer]);
	else
		note_memory(hit, value, hit->registers.general[insn_arch.stack_pointer]);
	hit->stack_address = hit->registers.general[insn_arch.stack_pointer];
	if (choice)
		note_choice(hit, choice);
}
