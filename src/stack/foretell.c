/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/foretell.h"

#include "insn/forward.h"
#include "insn/operand.h"

#include <errno.h>
#include <string.h>

#define STEPS 192 /* instructions that are followed */
#define FOUND 16  /* accesses to the memory in question that are compared */

struct pass {
	struct space *space;
	uint64_t start, end;
	uint64_t holder; /* where the pointer is: loaded again, it is another load */
	bool again;
	struct foretold found[FOUND];
	unsigned count;
};

static int read_memory(void *context, uint64_t address, void *to, size_t length)
{
	const struct pass *pass = context;

	return space_read(pass->space, address, to, length) == (ssize_t)length ? 0 : -EFAULT;
}

static void note(void *context, const struct insn_forward_access *access)
{
	struct pass *pass = context;

	if (insn_overlap(access->address, access->length, pass->holder, sizeof(uint64_t)))
		pass->again = true;
	if (!pass->again && access->address >= pass->start && access->address < pass->end &&
	    pass->count < FOUND)
		pass->found[pass->count++] = (struct foretold){.pc = access->pc,
							       .address = access->address,
							       .length = access->length,
							       .access = access->access};
}

static void run(struct pass *pass, const struct insn_registers *registers, uint16_t known)
{
	struct insn_forward forward = {.pc = registers->pc,
				       .known = known,
				       .read = read_memory,
				       .tell = note,
				       .context = pass};
	bool leaves = false;
	int err = 0;

	memcpy(forward.general, registers->general, sizeof(forward.general));
	for (unsigned i = 0; i < STEPS && !err && !pass->again; i++) {
		uint8_t bytes[INSN_MAX_LENGTH];
		size_t available = space_code(pass->space, forward.pc, bytes, sizeof(bytes));

		err = insn_forward_step(&forward, bytes, available, &leaves);
		/* What the C library does takes too long to follow. */
		if (!err && leaves && space_is_libc(pass->space, forward.pc))
			err = insn_forward_return(&forward);
	}
}

static bool has(const struct pass *pass, const struct foretold *use)
{
	for (unsigned i = 0; i < pass->count; i++)
		if (pass->found[i].pc == use->pc && pass->found[i].address == use->address)
			return true;
	return false;
}

static bool find_next(struct space *space, struct foretold *use)
{
	uint8_t bytes[INSN_MAX_LENGTH];
	struct insn insn;

	if (insn_decode(bytes, space_code(space, use->pc, bytes, sizeof(bytes)), use->pc, &insn))
		return false;
	use->next = use->pc + insn.length;
	return true;
}

bool foretell_use(struct space *space, const struct insn_registers *registers, uint16_t pointers,
		  uint64_t holder, uint64_t start, uint64_t end, struct foretold *use)
{
	struct pass with = {.space = space, .start = start, .end = end, .holder = holder};
	struct pass without = with;

	run(&with, registers, 0xffff);
	if (!with.count)
		return false;
	run(&without, registers, (uint16_t)~pointers);
	for (unsigned i = 0; i < with.count; i++)
		if (!has(&without, &with.found[i])) {
			*use = with.found[i];
			return find_next(space, use);
		}
	return false;
}
