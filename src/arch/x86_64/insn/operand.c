/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Effective addresses, from the registers before or after an instruction. "After" means that the
 * registers an address was made of may have changed: what the instruction is known to do to rsp,
 * rbp, rsi and rdi is undone, what it merely overwrote is gone. Frames here are below 256 bytes.
 */
#include "insn/operand.h"
#include "insn/extended.h"

#include <errno.h>
#include <string.h>
#include <trapline/event.h>

#define FLAG_ZERO (1u << 6)
#define FLAG_DIRECTION (1u << 10)
#define LINE_SIZE 64u

enum { REGISTER_PC = INSN_PC };

/* One question about one operand: where its registers come from. */
struct view {
	const struct insn *insn;
	const struct insn_operand *operand;
	const struct insn_registers *registers;
	bool after;
};

static bool overwritten(const struct insn *insn, unsigned number)
{
	return insn->written_registers >> number & 1;
}

static uint64_t string_step(const struct view *view, const struct insn_operand *operand)
{
	return view->registers->flags & FLAG_DIRECTION ? -(uint64_t)operand->size : operand->size;
}

/* rsp before the instruction. */
static int stack_before(const struct view *view, uint64_t *value)
{
	*value = view->registers->general[X86_RSP];
	if (!view->after || !overwritten(view->insn, X86_RSP))
		return 0;
	if (!view->insn->stack_change_known)
		return -ENODATA;
	*value -= (uint64_t)(int64_t)view->insn->stack_change;
	return 0;
}

/* A general register as it was when the address was made. */
static int register_before(const struct view *view, unsigned number, uint64_t *value)
{
	const struct insn *insn = view->insn;

	*value = view->registers->general[number];
	if (!view->after || !overwritten(insn, number))
		return 0;
	if (number == X86_RSP)
		return stack_before(view, value);
	if (insn->frame_leave && number == X86_RBP) {
		*value = view->registers->general[X86_RSP] - sizeof(uint64_t);
		return 0;
	}
	if (insn->string && (number == X86_RSI || number == X86_RDI)) {
		*value -= string_step(view, view->operand);
		return 0;
	}
	return -ENODATA;
}

/* `pop mem` computes an address made of rsp after it has moved rsp. Intel SDM volume 2, POP. */
static uint64_t pop_adjustment(const struct view *view)
{
	const struct insn *insn = view->insn;

	if (view->operand->base != X86_RSP || view->operand->stack_pop ||
	    view->operand->stack_push || insn->operand_count != 2)
		return 0;
	return insn->operand[1].stack_pop && insn->flow == INSN_FLOW_NEXT ? insn->operand[1].size
									  : 0;
}

static int implicit_stack(const struct view *view, uint64_t *address)
{
	int err = stack_before(view, address);

	if (view->operand->stack_push)
		*address -= view->operand->size;
	return err;
}

static int add_base(const struct view *view, uint64_t next, uint64_t *address)
{
	uint64_t value;
	int err;

	if (view->operand->base < 0)
		return 0;
	if (view->operand->base == REGISTER_PC) {
		*address += next;
		return 0;
	}
	err = register_before(view, (unsigned)view->operand->base, &value);
	*address += value + pop_adjustment(view);
	return err;
}

static int add_index(const struct view *view, uint64_t *address)
{
	uint64_t value;
	int err;

	if (view->operand->index < 0)
		return 0;
	err = register_before(view, (unsigned)view->operand->index, &value);
	if (view->operand->byte_index)
		value &= 0xff;
	*address += value * view->operand->scale;
	return err;
}

/* bt and its kin take a signed bit number of operand width; the unit accessed is the operand-sized
 * word it falls into. Intel SDM volume 2, BT. */
static int add_bits(const struct view *view, uint64_t *address)
{
	const struct insn_operand *operand = view->operand;
	unsigned bits = operand->size * 8u;
	int64_t number;
	uint64_t value;
	int err;

	if (operand->bit_index < 0 || !bits)
		return 0;
	err = register_before(view, (unsigned)operand->bit_index, &value);
	number = (int64_t)(value << (64 - bits)) >> (64 - bits);
	*address += (uint64_t)(number >> __builtin_ctz(bits)) * operand->size;
	return err;
}

static uint64_t segment_base(const struct view *view)
{
	if (view->operand->segment == 1)
		return view->registers->fs_base;
	return view->operand->segment == 2 ? view->registers->gs_base : 0;
}

/* The registers' pc is the instruction's own before it, and after it that of whatever runs next:
 * only where the instruction falls through is that its own end. pc-relative operands of calls and
 * jumps are given through `next`. */
static uint64_t truncated(const struct view *view, uint64_t address)
{
	if (view->operand->address_bits == 32)
		address = (uint32_t)address;
	address += segment_base(view);
	return view->operand->line ? address & ~(uint64_t)(LINE_SIZE - 1) : address;
}

static int effective_address(const struct view *view, uint64_t *address)
{
	const struct insn_operand *operand = view->operand;
	uint64_t next = view->registers->pc + (view->after ? 0 : view->insn->length);
	int err;

	if (operand->stack_push || operand->stack_pop)
		return implicit_stack(view, address);
	*address = (uint64_t)operand->displacement;
	err = add_base(view, next, address);
	if (!err)
		err = add_index(view, address);
	if (!err)
		err = add_bits(view, address);
	*address = truncated(view, *address);
	return err;
}

static unsigned element_count(const struct insn_operand *operand)
{
	if (operand->vector_index >= 0)
		return operand->elements;
	return operand->element ? operand->size / operand->element : 0;
}

/* Selected elements as a bit set. -ENODATA where the mask is not known (any more). */
static int selected_by_register(const struct view *view, uint64_t *selected)
{
	const struct insn_operand *operand = view->operand;

	if (view->after && (view->insn->mask_written || operand->vector_index >= 0))
		return -ENODATA;
	if (!view->registers->opmasks)
		return insn_extended_mask(view->registers->extended, (unsigned)operand->mask,
					  selected);
	*selected = view->registers->opmasks[operand->mask];
	return 0;
}

static int selected_by_signs(const struct view *view, uint64_t *selected)
{
	const struct insn_operand *operand = view->operand;
	unsigned count = element_count(operand);
	uint8_t vector[64];
	int err;

	if (view->after && operand->mask_vector < 16 &&
	    (view->insn->written_vectors >> operand->mask_vector & 1))
		return -ENODATA;
	err = insn_extended_vector(view->registers->extended, (unsigned)operand->mask_vector, 0,
				   count * operand->element, vector);
	if (err)
		return err;
	*selected = 0;
	for (unsigned i = 0; i < count; i++)
		*selected |= (uint64_t)(vector[(i + 1) * operand->element - 1] >> 7) << i;
	return 0;
}

static uint64_t low_bits(unsigned count)
{
	return count >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << count) - 1;
}

static int selected_elements(const struct view *view, uint64_t *selected)
{
	const struct insn_operand *operand = view->operand;
	int err = -ENODATA;

	if (!element_count(operand))
		return -ENODATA;
	if (operand->mask >= 0)
		err = selected_by_register(view, selected);
	else if (operand->mask_vector >= 0)
		err = selected_by_signs(view, selected);
	if (err)
		return err;
	*selected &= low_bits(element_count(operand));
	if (operand->packed)
		*selected = low_bits((unsigned)__builtin_popcountll(*selected));
	return 0;
}

/* A broadcast element, and the single one of a scalar move, is touched if any bit selects it; Zydis
 * calls both one element. The mask has more bits than that for a broadcast. */
static bool single_element(const struct insn_operand *operand)
{
	return operand->vector_index < 0 && operand->element && operand->size == operand->element;
}

static int hull_of_selected(const struct view *view, uint64_t address, uint64_t *first,
			    uint64_t *length)
{
	const struct insn_operand *operand = view->operand;
	uint64_t selected;
	unsigned low, high;

	if (single_element(operand) || selected_elements(view, &selected))
		return 0;
	if (!selected) {
		*length = 0;
		return 0;
	}
	low = (unsigned)__builtin_ctzll(selected);
	high = 63 - (unsigned)__builtin_clzll(selected);
	*first = address + (uint64_t)low * operand->element;
	*length = (uint64_t)(high - low + 1) * operand->element;
	return 0;
}

/* Address of element `which` of a gather or scatter whose scalar part is `address`. */
static int vector_element(const struct view *view, uint64_t address, unsigned which,
			  uint64_t *element)
{
	const struct insn_operand *operand = view->operand;
	union {
		uint8_t bytes[8];
		int32_t narrow;
		int64_t wide;
	} index;
	int err;

	if (view->after && operand->vector_index < 16 &&
	    (view->insn->written_vectors >> operand->vector_index & 1))
		return -ENODATA;
	err = insn_extended_vector(view->registers->extended, (unsigned)operand->vector_index,
				   which * operand->index_size, operand->index_size, index.bytes);
	if (err)
		return err;
	address -= segment_base(view);
	address +=
		(uint64_t)(operand->index_size == 8 ? index.wide : index.narrow) * operand->scale;
	*element = truncated(view, address);
	return 0;
}

static int hull_of_vector(const struct view *view, uint64_t address, uint64_t *first,
			  uint64_t *length)
{
	uint64_t selected, element, low = UINT64_MAX, high = 0;

	if (selected_elements(view, &selected))
		selected = low_bits(view->operand->elements);
	for (unsigned i = 0; i < view->operand->elements; i++) {
		int err;

		if (!(selected >> i & 1))
			continue;
		err = vector_element(view, address, i, &element);
		if (err)
			return err;
		low = element < low ? element : low;
		high = element > high ? element : high;
	}
	*first = selected ? low : address;
	*length = selected ? high - low + view->operand->element : 0;
	return 0;
}

static int operand_hull(const struct view *view, uint64_t *first, uint64_t *length)
{
	const struct insn_operand *operand = view->operand;
	uint64_t address;
	int err = effective_address(view, &address);

	if (err)
		return err;
	if (operand->vector_index >= 0)
		return hull_of_vector(view, address, first, length);
	*first = address;
	*length = operand->size;
	if (view->insn->repeated && !view->after && !view->registers->general[X86_RCX])
		*length = 0;
	return operand->masked ? hull_of_selected(view, address, first, length) : 0;
}

int insn_operand_before(const struct insn *insn, unsigned operand,
			const struct insn_registers *registers, uint64_t *first, uint64_t *length)
{
	struct view view = {insn, &insn->operand[operand], registers, false};

	return operand_hull(&view, first, length);
}

int insn_operand_after(const struct insn *insn, unsigned operand,
		       const struct insn_registers *registers, uint64_t *first, uint64_t *length)
{
	struct view view = {insn, &insn->operand[operand], registers, true};

	return operand_hull(&view, first, length);
}

static enum insn_touch touch_vector(const struct view *view, uint64_t address, uint64_t watched,
				    uint64_t watched_length, uint64_t *first, uint64_t *length)
{
	uint64_t selected = 0, element;
	bool known = !selected_elements(view, &selected);

	if (!known)
		selected = low_bits(view->operand->elements);
	for (unsigned i = 0; i < view->operand->elements; i++) {
		if (!(selected >> i & 1))
			continue;
		if (vector_element(view, address, i, &element))
			return INSN_TOUCH_MAYBE;
		if (!insn_overlap(element, view->operand->element, watched, watched_length))
			continue;
		*first = element;
		*length = view->operand->element;
		return known ? INSN_TOUCH_YES : INSN_TOUCH_MAYBE;
	}
	return INSN_TOUCH_NO;
}

static enum insn_touch touch_masked(const struct view *view, uint64_t address, uint64_t watched,
				    uint64_t watched_length, uint64_t *first, uint64_t *length)
{
	const struct insn_operand *operand = view->operand;
	uint64_t selected;

	*first = address;
	*length = operand->size;
	if (!insn_overlap(address, operand->size, watched, watched_length))
		return INSN_TOUCH_NO;
	if (single_element(operand) || selected_elements(view, &selected))
		return INSN_TOUCH_MAYBE;
	for (unsigned i = 0; i < element_count(operand); i++)
		if ((selected >> i & 1) &&
		    insn_overlap(address + i * operand->element, operand->element, watched,
				 watched_length)) {
			hull_of_selected(view, address, first, length);
			return INSN_TOUCH_YES;
		}
	return INSN_TOUCH_NO;
}

static enum insn_touch touch_plain(const struct view *view, uint64_t address, uint64_t watched,
				   uint64_t watched_length, uint64_t *first, uint64_t *length)
{
	const struct insn_operand *operand = view->operand;

	*first = address;
	*length = operand->size;
	if (insn_overlap(address, operand->size, watched, watched_length))
		return operand->conditional ? INSN_TOUCH_MAYBE : INSN_TOUCH_YES;
	if (!operand->extent_unknown || watched < address)
		return INSN_TOUCH_NO;
	*length = watched + watched_length - address;
	return INSN_TOUCH_MAYBE;
}

enum insn_touch insn_operand_touch(const struct insn *insn, unsigned operand,
				   const struct insn_registers *after, uint64_t watched,
				   uint64_t watched_length, uint64_t *first, uint64_t *length)
{
	struct view view = {insn, &insn->operand[operand], after, true};
	uint64_t address;

	*first = 0;
	*length = 0;
	if (!view.operand->access)
		return INSN_TOUCH_NO;
	if (effective_address(&view, &address))
		return INSN_TOUCH_MAYBE;
	if (view.operand->vector_index >= 0)
		return touch_vector(&view, address, watched, watched_length, first, length);
	if (view.operand->masked)
		return touch_masked(&view, address, watched, watched_length, first, length);
	return touch_plain(&view, address, watched, watched_length, first, length);
}
