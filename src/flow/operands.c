/* SPDX-License-Identifier: Apache-2.0 */
/* Which memory operand it was, where it pointed, and which of its bytes are asked about. */
#include "flow/origin_tree.h"

#include "flow/scan.h"
#include "insn/effect.h"
#include "tool/registers.h"

#include <stdio.h>
#include <string.h>

#define PROLOGUE_MOST 4 /* instructions in which a function takes its frame pointer */

static bool overlaps(uint64_t a, uint64_t a_length, uint64_t b, uint64_t b_length)
{
	return a - b < b_length || b - a < a_length;
}

void flow_take_part(const struct flow_value *value, uint64_t *address, uint64_t *length)
{
	if (!value->wanted || value->first >= *length)
		return;
	*address += value->first;
	*length -= value->first;
	if (*length > value->wanted)
		*length = value->wanted;
}

/* The wanted bytes of memory among those of the operand at `address`. */
static struct flow_stored part_of(unsigned operand, uint64_t address, uint64_t length,
				  const struct flow_value *wanted)
{
	uint64_t first = wanted->address > address ? wanted->address - address : 0;
	uint64_t before = address > wanted->address ? address - wanted->address : 0;
	uint64_t end = wanted->address + wanted->length - address;
	uint64_t bits = before < 8 ? wanted->bits >> 8 * before : 0;

	if (first >= length)
		first = bits = 0;
	if (end > length || end <= first) {
		end = length;
		bits = wanted->bits && end <= 8 ? bits : 0;
	}
	return (struct flow_stored){operand, (unsigned)first, (unsigned)(end - first), bits};
}

bool flow_stored_operand(struct flow_tree *tree, const struct flow_store *store,
			 const struct flow_value *wanted, struct flow_stored *stored)
{
	struct insn_registers registers = {.fs_base = store->fs_base};
	struct insn insn;
	uint64_t address, length;
	unsigned candidates = 0;

	if (!flow_decode_at(tree, store->pid, store->pc, &insn))
		return false;
	memcpy(registers.general, store->general, sizeof(registers.general));
	registers.pc = store->pc + insn.length;
	for (unsigned i = 0; i < insn.operand_count; i++) {
		if (!(insn.operand[i].access & TL_WRITE))
			continue;
		if (!insn_operand_after(&insn, i, &registers, &address, &length) &&
		    overlaps(address, length, store->address, store->length)) {
			*stored = part_of(i, address, length, wanted);
			return true;
		}
		*stored = part_of(i, store->address, store->length, wanted);
		candidates++;
	}
	return candidates == 1;
}

/* Of a string instruction that moves: how far behind its source it stores. */
static bool find_distance(const struct insn *insn, const struct insn_registers *after,
			  uint64_t *distance)
{
	uint64_t from = 0, to = 0, length;

	for (unsigned i = 0; i < insn->operand_count; i++)
		if (insn_operand_after(insn, i, after,
				       insn->operand[i].access & TL_WRITE ? &to : &from, &length))
			return false;
	*distance = to - from;
	return from && to;
}

bool flow_string_source(const struct insn *insn, const struct insn_registers *after,
			uint64_t stored, uint64_t *address)
{
	uint64_t distance;

	if (!insn->string || !find_distance(insn, after, &distance))
		return false;
	*address = stored - distance;
	return true;
}

bool flow_stored_by(struct flow_tree *tree, const struct flow_value *store,
		    const struct tl_access *load, uint64_t loaded, uint64_t *address,
		    uint64_t *length)
{
	struct insn_registers registers;
	uint64_t distance;
	struct insn insn;

	if (!load->registers || !flow_decode_at(tree, load->pid, load->pc, &insn) ||
	    store->operand >= insn.operand_count)
		return false;
	registers = tool_registers(load->registers, load->pc + insn.length);
	if (insn.string && find_distance(&insn, &registers, &distance)) {
		*address = loaded + distance;
		return true;
	}
	if (insn_operand_after(&insn, store->operand, &registers, address, length) || !*length)
		return false;
	flow_take_part(store, address, length);
	return true;
}

static bool takes_frame_pointer(const struct insn_effect *effect)
{
	for (unsigned i = 0; i < effect->count; i++) {
		const struct insn_result *result = &effect->result[i];

		if (result->to.kind == INSN_PLACE_GENERAL &&
		    result->to.number == insn_arch.frame_pointer)
			return result->operation == INSN_COPY && result->source_count == 1 &&
			       result->source[0].kind == INSN_PLACE_GENERAL &&
			       result->source[0].number == insn_arch.stack_pointer;
	}
	return false;
}

/* Without one rbp is a register as any other, and may go along an array. */
static bool has_frame_pointer(struct flow_tree *tree, pid_t pid, uint64_t pc)
{
	uint64_t at, end;

	if (tree->services->function(tree->host, pid, pc, &at, &end))
		return false;
	for (unsigned i = 0; i < PROLOGUE_MOST; i++) {
		uint8_t bytes[INSN_MAX_LENGTH];
		ssize_t got = tree->services->read(tree->host, pid, at, bytes, sizeof(bytes));
		struct insn_effect effect;

		if (got <= 0 || insn_effect_decode(bytes, (size_t)got, at, &effect))
			return false;
		if (takes_frame_pointer(&effect))
			return true;
		at += effect.insn.length;
	}
	return false;
}

bool flow_is_fixed(struct flow_tree *tree, pid_t pid, uint64_t pc, unsigned number)
{
	const int stack_pointer = insn_arch.stack_pointer, frame_pointer = insn_arch.frame_pointer;
	const struct insn_operand *operand;
	struct insn insn;

	if (!flow_decode_at(tree, pid, pc, &insn) || number >= insn.operand_count)
		return false;
	operand = &insn.operand[number];
	return operand->index < 0 && operand->vector_index < 0 &&
	       (operand->base == INSN_PC || operand->base == stack_pointer ||
		(operand->base == frame_pointer && has_frame_pointer(tree, pid, pc)));
}

uint64_t flow_bytes_at(const struct tl_access *access, uint64_t address, uint64_t length,
		       uint64_t *bytes)
{
	uint64_t first = address - access->address, offset = address - access->watched_address;
	uint64_t watched = 0, moved = 0, known;

	if (first >= access->length || access->access & (TL_GUESSED | TL_LATE))
		return 0;
	if (offset < access->watched_length)
		watched = access->watched_length - offset;
	if (access->value_known && first < 8)
		moved = 8 - first;
	/* Of what is not aligned a part is watched, and the access tells the whole. */
	known = watched < length && watched < moved ? moved : watched;
	if (!known)
		return 0;
	*bytes = known == watched ? access->watched_value >> 8 * offset
				  : access->value >> 8 * first;
	if (length > known)
		length = known;
	return first + length > access->length ? access->length - first : length;
}

/* Small numbers, of either sign, are everywhere. */
bool flow_is_telling(uint64_t bytes, uint64_t length)
{
	uint64_t mask = length < 8 ? (1ull << 8 * length) - 1 : UINT64_MAX;

	return (bytes & mask) >> 16 && (~bytes & mask) >> 16;
}

/* At the call of a copy: rdi to rdx. */
static bool copy_address(const struct flow_value *value, const struct tl_registers *registers,
			 uint64_t *address, uint64_t *length)
{
	uint64_t to = registers->general[insn_arch.function_argument[0]],
		 from = registers->general[insn_arch.function_argument[1]];

	if (value->copy_offset - to >=
	    (value->sized ? registers->general[insn_arch.function_argument[2]] : UINT32_MAX))
		return false;
	*address = from + (value->copy_offset - to);
	*length = 1;
	return true;
}

/* A string of the process's, as far as there is room; what is longer ends there. */
static bool read_text(struct flow_tree *tree, pid_t pid, uint64_t address, char *text, size_t size)
{
	ssize_t got = tree->services->read(tree->host, pid, address, text, size - 1);
	size_t page = 4096 - address % 4096;

	/* The next page may be none of the process's. */
	if (got <= 0 && page < size - 1)
		got = tree->services->read(tree->host, pid, address, text, page);
	if (got <= 0)
		return false;
	text[got] = '\0';
	return true;
}

/* Which of sscanf()'s pointers the value was stored through; -1: none of those in registers. */
static int conversion_of(const struct flow_value *value, const struct tl_registers *registers)
{
	for (unsigned i = 2; i < INSN_FUNCTION_ARGUMENTS; i++)
		if (value->copy_offset == registers->general[insn_arch.function_argument[i]])
			return (int)i - 2;
	return -1;
}

/* At the call of what reads a text: the byte that the value begins with. */
static bool text_address(struct flow_tree *tree, const struct flow_value *value,
			 const struct tl_access *access, uint64_t *address, uint64_t *length)
{
	const uint64_t *general = access->registers->general;
	int conversion = conversion_of(value, access->registers), offset;
	char text[256], format[256];

	if (!read_text(tree, access->pid, general[insn_arch.function_argument[0]], text,
		       sizeof(text)))
		return false;
	if (value->parsed == FLOW_PARSED_NUMBER)
		offset = (int)flow_scan_number(text);
	else if (conversion < 0 ||
		 !read_text(tree, access->pid, general[insn_arch.function_argument[1]], format,
			    sizeof(format)))
		return false;
	else
		offset = flow_scan_find(format, text, (unsigned)conversion);
	if (offset < 0)
		return false;
	*address = general[insn_arch.function_argument[0]] + (unsigned)offset;
	*length = 1;
	return true;
}

bool flow_tree_address(struct flow_tree *tree, const struct flow_value *value,
		       const struct tl_access *access, uint64_t *address, uint64_t *length)
{
	struct insn_registers registers = {.pc = access->pc};
	uint8_t bytes[INSN_MAX_LENGTH];
	struct insn insn;
	ssize_t got;

	if (!access->registers)
		return false;
	if (value->parsed)
		return text_address(tree, value, access, address, length);
	if (value->copied)
		return copy_address(value, access->registers, address, length);
	got = tree->services->read(tree->host, access->pid, access->pc, bytes, sizeof(bytes));
	if (got <= 0 || insn_decode(bytes, (size_t)got, access->pc, &insn))
		return false;
	memcpy(registers.general, access->registers->general, sizeof(registers.general));
	registers.flags = access->registers->flags;
	registers.fs_base = access->registers->fs_base;
	if (insn_operand_before(&insn, value->operand, &registers, address, length) || !*length)
		return false;
	flow_take_part(value, address, length);
	return true;
}

bool flow_tree_end_constant(struct flow_tree *tree, struct flow_value *value)
{
	struct tl_memory memory;

	/* What processes share another one may have mapped to write to it. */
	if (tree->services->memory(tree->host, value->pid, value->address, &memory) ||
	    memory.writable || memory.shared)
		return false;
	value->state = FLOW_VALUE_ENDED;
	snprintf(value->end, sizeof(value->end), "a constant in memory that is never written");
	return true;
}
