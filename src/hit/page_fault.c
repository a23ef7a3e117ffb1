/* SPDX-License-Identifier: Apache-2.0 */
#include "hit/page_fault.h"

#include "hit/hit.h"
#include "hit/system_call.h"

/* Does the operand have the byte, and is it accessed in this direction? */
static bool is_faulted(const struct insn *insn, unsigned number, const struct fault_seen *seen,
		       unsigned direction, struct tl_access *access)
{
	const struct insn_operand *operand = &insn->operand[number];

	return operand->access & direction &&
	       !insn_operand_before(insn, number, &seen->sample.registers, &access->address,
				    &access->length) &&
	       seen->address - access->address < access->length;
}

/* An access that begins on the page before has not been made at all: no byte of it. */
static bool by_instruction(struct space *space, const struct fault_seen *seen, unsigned direction,
			   struct tl_access *access)
{
	uint64_t pc = seen->sample.registers.pc;
	uint8_t bytes[INSN_MAX_LENGTH];
	size_t available = space_code(space, pc, bytes, sizeof(bytes));
	struct insn insn;

	if (insn_decode(bytes, available, pc, &insn))
		return false;
	for (unsigned i = 0; i < insn.operand_count; i++) {
		if (!is_faulted(&insn, i, seen, direction, access))
			continue;
		hit_note_operand(&insn, i, seen->sample.registers.flags, access);
		return true;
	}
	return false;
}

/* A call reads memory in other ways than by its arguments, too: that of /proc/self/mem. And the
 * kernel may bring in more pages than it comes to copy from or to, as for direct input and output
 * (pin_user_pages(), fault_in_writeable()), so the byte's access is a guess. */
static bool by_call(struct space *space, const struct fault_seen *seen, int call,
		    unsigned direction, struct tl_access *access)
{
	const struct insn_memory memory = space_insn_memory(space);
	const struct insn_bytes byte = {seen->address, 1};
	struct system_call_copy copy;

	access->address = seen->address;
	access->length = 1;
	access->access = TL_KERNEL | TL_GUESSED | direction;
	access->traits = TL_TRAIT_BOUNDED;
	access->call_known = true;
	access->call = call;
	/* The call has no result yet, so all that it was asked for counts. */
	return system_call_copied_by(call, &seen->sample.registers, &memory, &byte, direction,
				     &copy);
}

bool page_fault_attribute(struct space *space, const struct fault_seen *seen,
			  const struct tl_fault *fault, struct tl_access *access)
{
	unsigned direction = fault->write ? TL_WRITE : TL_READ;

	access->pc = seen->sample.registers.pc;
	access->before = true;
	return seen->kernel ? by_call(space, seen, fault->call, direction, access)
			    : by_instruction(space, seen, direction, access);
}
