/* SPDX-License-Identifier: Apache-2.0 */
/* What the code around an access does with the value. */
#include "tool/around.h"

#include "control/control.h"
#include "insn/update.h"
#include "tool/host.h"

#include <string.h>

#define FUNCTION_MAX 4096 /* bytes of one that is decoded to the end */

/* Sets the registers to what they are behind the load; false when the load changed a register of
 * its own address. */
static bool behind(const struct tl_access *access, const struct insn *load,
		   struct insn_registers *registers)
{
	const struct insn_operand *operand = &load->operand[0];

	if (!access->before)
		return true;
	registers->pc = access->pc + load->length;
	return !(operand->base >= 0 && operand->base < INSN_GENERAL &&
		 load->written_registers >> operand->base & 1) &&
	       !(operand->index >= 0 && operand->index < INSN_GENERAL &&
		 load->written_registers >> operand->index & 1);
}

static unsigned behind_load(struct space *space, const struct tl_access *access,
			    struct insn_registers *registers, const struct insn_bytes *object)
{
	uint8_t code[INSN_UPDATE_BYTES + INSN_MAX_LENGTH];
	size_t available = space_code(space, access->pc, code, INSN_MAX_LENGTH);
	struct insn load;

	if (insn_decode(code, available, access->pc, &load) || load.operand_count != 1 ||
	    !behind(access, &load, registers))
		return 0;
	available = space_code(space, registers->pc, code, sizeof(code));
	if (insn_retry_follows(code, available, registers, load.loaded, object))
		return TL_AROUND_RETRY;
	return insn_update_follows(code, available, &load, registers, object) ? TL_AROUND_UPDATE
									      : 0;
}

static unsigned before_store(struct space *space, const struct tl_access *access,
			     struct insn_registers *registers, const struct insn_bytes *object)
{
	static uint8_t code[FUNCTION_MAX]; /* one thread */
	uint64_t start, end;

	/* A store changes no register of its own address. */
	registers->pc = access->pc;
	if (space_function(space, access->pc, &start, &end) || end - start > FUNCTION_MAX ||
	    space_code(space, start, code, end - start) != end - start)
		return 0;
	return insn_update_begun(code, end - start, start, registers, object) ? TL_AROUND_UPDATE
									      : 0;
}

unsigned host_around(struct tl_host *host, const struct tl_access *access)
{
	struct space *space = control_space(host->set->control, access->pid);
	struct insn_bytes object = {access->address, access->length};
	struct insn_registers registers;

	if (!space || !access->stack || access->length > 8 || !(access->traits & TL_TRAIT_PLAIN) ||
	    access->access & (TL_ATOMIC | TL_KERNEL))
		return 0;
	registers = (struct insn_registers){.pc = access->stack->registers.pc,
					    .flags = access->stack->registers.flags,
					    .fs_base = access->stack->registers.fs_base};
	memcpy(registers.general, access->stack->registers.general, sizeof(registers.general));
	return access->access & TL_WRITE ? before_store(space, access, &registers, &object)
					 : behind_load(space, access, &registers, &object);
}
