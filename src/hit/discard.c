/* SPDX-License-Identifier: Apache-2.0 */
/* Does a load touch what the other thread wrote only because the compiler loads more than the
 * program reads? */
#include "hit/hit.h"

#include "insn/discard.h"
#include "insn/hoist.h"

#include <errno.h>
#include <string.h>

#define WORD 8 /* bytes: longer ones are vectors */

/* Memory for reading, with the hit's copy of the stack in place of the stack as it is now: the
 * thread may have gone on, and later calls overwrite its stack. */
struct memory {
	struct space *space;
	const struct tl_stack *stack;
};

static size_t code_at(void *context, uint64_t pc, uint8_t *bytes, size_t most)
{
	const struct memory *memory = context;

	return space_code(memory->space, pc, bytes, most);
}

static int memory_at(void *context, uint64_t address, void *to, size_t length)
{
	const struct memory *memory = context;
	const struct tl_stack *stack = memory->stack;
	const uint64_t offset = address - stack->address;

	if (stack->bytes && offset < stack->length && length <= stack->length - offset) {
		memcpy(to, stack->bytes + offset, length);
		return 0;
	}
	return space_read(memory->space, address, to, length) == (ssize_t)length ? 0 : -EFAULT;
}

/* Is the access the C library's? What its string functions load is cut to what they are asked about
 * (extent.c), and is used. */
static bool is_of_library(struct space *space, const struct tl_access *access)
{
	return (access->traits & TL_TRAIT_BOUNDED) || space_is_libc(space, access->pc);
}

/* Does it access only some elements of a vector, chosen by a mask register, which is not noted? */
static bool is_of_some(struct space *space, const struct tl_access *access)
{
	uint8_t bytes[INSN_MAX_LENGTH];
	struct insn insn;

	if (!(access->traits & TL_TRAIT_VECTOR) ||
	    insn_decode(bytes, space_code(space, access->pc, bytes, sizeof(bytes)), access->pc,
			&insn))
		return false;
	for (unsigned i = 0; i < insn.operand_count; i++)
		if (insn.operand[i].masked && insn.operand[i].mask < 0)
			return true;
	return false;
}

bool discard_is(struct space *space, const struct hit *read, const struct hit *write)
{
	const struct tl_access *x = &read->access, *y = &write->access;
	const uint64_t begin = x->address > y->address ? x->address : y->address;
	const uint64_t x_end = x->address + x->length, y_end = y->address + y->length;
	const struct insn_bytes loaded = {x->address, x->length};
	const struct insn_bytes part = {begin, (x_end < y_end ? x_end : y_end) - begin};
	struct insn_registers registers;
	struct memory memory = {space, &read->stack};
	const struct insn_hoist hoist = {code_at, memory_at, &memory};
	uint8_t code[INSN_DISCARD_BYTES];
	size_t available;

	if (space && is_of_some(space, x))
		return true;
	if (!space || !x->registers || x->access != TL_READ || x->length > INSN_DISCARD_MOST ||
	    (x->length > WORD && is_of_library(space, x)))
		return false;
	registers = hit_registers(&read->stack.registers);
	available = space_code(space, x->pc, code, sizeof(code));
	if (insn_discards(code, available, x->pc, &hoist, &registers, x->before, &loaded, &part))
		return true;
	return x->length <= WORD && insn_is_hoisted(&hoist, x->pc, &registers, x->before);
}
