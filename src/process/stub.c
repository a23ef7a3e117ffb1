/* SPDX-License-Identifier: Apache-2.0 */
#include "process/stub.h"

uint64_t stub_slot(struct space *space, uint64_t target)
{
	uint8_t bytes[2 * INSN_MAX_LENGTH] = {0};
	size_t length = space_code(space, target, bytes, sizeof(bytes));
	unsigned skip = insn_arch.landing_length(bytes);
	struct insn insn;

	if (insn_decode(bytes + skip, length - skip, target + skip, &insn) ||
	    insn.flow != INSN_FLOW_JUMP_INDIRECT || insn.operand_count != 1 ||
	    insn.operand[0].base != INSN_PC)
		return 0;
	return target + skip + insn.length + (uint64_t)insn.operand[0].displacement;
}

uint64_t stub_target(struct space *space, uint64_t target)
{
	uint64_t slot = stub_slot(space, target), bound;

	return slot && space_read(space, slot, &bound, sizeof(bound)) == sizeof(bound) ? bound
										       : target;
}
