/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Zydis says which operands are read and written; effect_operation() tells the operation by the
 * mnemonic. What it does not know is INSN_COMPUTE, which claims nothing.
 */
#include "insn/effect_operation.h"
#include "insn/effect_place.h"
#include "insn/effect_shuffle.h"

#include <errno.h>
#include <string.h>

#define X86_RAX 0
#define X86_RCX 1
#define X86_RDX 2
#define X86_RBX 3
#define X86_RSP 4
#define X86_RBP 5

static struct insn_result *add_result(struct insn_effect *effect, struct insn_place to,
				      enum insn_operation operation)
{
	struct insn_result *result = &effect->result[effect->count];

	if (effect->count == INSN_EFFECT_RESULTS) {
		effect->more = true;
		return NULL;
	}
	effect->count++;
	result->to = to;
	result->operation = (uint8_t)operation;
	result->clears = to.kind == INSN_PLACE_GENERAL && to.length == 4;
	return result;
}

/* Sources that do not fit make it depend on anything: said by an unknown one. */
static void add_source(struct insn_result *result, struct insn_place place)
{
	if (result->source_count < INSN_EFFECT_SOURCES)
		result->source[result->source_count++] = place;
	else
		result->source[INSN_EFFECT_SOURCES - 1] =
			(struct insn_place){.kind = INSN_PLACE_OTHER};
}

static void add_constant(struct insn_result *result, uint64_t constant)
{
	result->constant = constant;
	add_source(result, (struct insn_place){.kind = INSN_PLACE_CONSTANT, .length = 8});
}

/* EVEX instructions name a mask, k0 where there is none. As another operand k0 is one as any. */
static bool is_no_mask(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       operand->encoding == ZYDIS_OPERAND_ENCODING_MASK &&
	       operand->reg.value == ZYDIS_REGISTER_K0;
}

/* Hidden flags and instruction pointers are no sources of their own. */
static bool counts_as_source(const ZydisDecodedOperand *operand)
{
	if (!(operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) &&
	    operand->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return false;
	return operand->type != ZYDIS_OPERAND_TYPE_REGISTER ||
	       (operand->reg.value != ZYDIS_REGISTER_RFLAGS &&
		operand->reg.value != ZYDIS_REGISTER_RIP && !is_no_mask(operand));
}

static struct insn_place source_place(const struct effect_decoded *decoded, unsigned index)
{
	struct insn_place place = effect_place(decoded, index);
	unsigned scalar = effect_scalar_taken(decoded->instruction.mnemonic);

	if (scalar && place.kind == INSN_PLACE_VECTOR)
		place.length = (uint16_t)scalar;
	return place;
}

static void add_sources(const struct effect_decoded *decoded, struct insn_result *result)
{
	for (unsigned i = 0; i < decoded->instruction.operand_count; i++) {
		const ZydisDecodedOperand *operand = &decoded->operand[i];

		if (!counts_as_source(operand) || (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
						   operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN))
			continue;
		if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
			add_constant(result, operand->imm.value.u);
		else
			add_source(result, source_place(decoded, i));
	}
}

static void add_address(const ZydisDecodedOperand *operand, struct insn_result *result)
{
	struct insn_place place;

	if (operand->mem.base == ZYDIS_REGISTER_RIP)
		return; /* a constant */
	if (operand->mem.base != ZYDIS_REGISTER_NONE)
		add_source(result, effect_register_place(operand->mem.base));
	if (operand->mem.index != ZYDIS_REGISTER_NONE) {
		place = effect_register_place(operand->mem.index);
		for (unsigned scale = operand->mem.scale; scale > 1; scale /= 2)
			place.shift++;
		add_source(result, place);
	}
	add_constant(result, (uint64_t)operand->mem.disp.value);
}

static bool reads_flags_for_value(enum insn_operation operation, unsigned flags)
{
	return flags && operation != INSN_SELECT && operation != INSN_CONSTANT &&
	       operation != INSN_COPY;
}

/* The scalar moves and those of half a register, whose operands Zydis calls whole. */
static void narrow(const struct effect_decoded *decoded, struct insn_result *result)
{
	struct insn_place *to = &result->to, *from = &result->source[0];

	switch (decoded->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_MOVSS:
	case ZYDIS_MNEMONIC_MOVSD:
		from->length = decoded->instruction.mnemonic == ZYDIS_MNEMONIC_MOVSS ? 4 : 8;
		if (from->kind == INSN_PLACE_VECTOR || to->kind == INSN_PLACE_MEMORY)
			to->length = from->length;
		break;
	case ZYDIS_MNEMONIC_MOVQ:
	case ZYDIS_MNEMONIC_VMOVQ:
		from->length = 8;
		break;
	case ZYDIS_MNEMONIC_MOVD:
	case ZYDIS_MNEMONIC_VMOVD:
		if (from->length > 8)
			from->length = to->length;
		break;
	default:
		break;
	}
}

static void write_operand(const struct effect_decoded *decoded, unsigned index,
			  enum insn_operation operation, unsigned element,
			  struct insn_effect *effect)
{
	struct insn_result *result = add_result(effect, effect_place(decoded, index), operation);

	if (!result)
		return;
	result->element = (uint8_t)element;
	result->conditional = !(decoded->operand[index].actions & ZYDIS_OPERAND_ACTION_WRITE);
	if (result->to.kind == INSN_PLACE_VECTOR)
		result->clears = decoded->instruction.encoding > ZYDIS_INSTRUCTION_ENCODING_3DNOW;
	result->equal = operation == INSN_ELEMENTS &&
			effect_compares_equal(decoded->instruction.mnemonic);
	if (operation == INSN_CONSTANT) {
		result->constant = effect_constant(decoded);
		return;
	}
	if (decoded->instruction.mnemonic == ZYDIS_MNEMONIC_LEA)
		add_address(&decoded->operand[1], result);
	else if (operation == INSN_SELECT) {
		add_source(result, effect_place(decoded, 0));
		add_source(result, effect_place(decoded, 1));
		result->condition = decoded->instruction.opcode & 15u;
	} else
		add_sources(decoded, result);
	if (operation == INSN_SELECT ||
	    reads_flags_for_value(operation, effect_flags_read(decoded)))
		add_source(result, effect_flags_place(effect_flags_read(decoded)));
	if (operation == INSN_COPY)
		narrow(decoded, result);
	if (operation == INSN_SHUFFLE || operation == INSN_CONVERT)
		effect_lane(decoded, result->lane);
	if (operation == INSN_ELEMENTS)
		effect_element(decoded, result);
	if ((decoded->instruction.mnemonic == ZYDIS_MNEMONIC_INC ||
	     decoded->instruction.mnemonic == ZYDIS_MNEMONIC_DEC))
		add_constant(result, 1);
}

/* Scalar forms of AVX with three registers, and moves of three, take their upper part from another
 * one than their lower. */
static bool is_three_way_move(const struct effect_decoded *decoded, enum insn_operation operation)
{
	unsigned operands = decoded->instruction.operand_count_visible;

	for (unsigned i = 0; i < decoded->instruction.operand_count_visible; i++)
		operands -= is_no_mask(&decoded->operand[i]);
	return operation == INSN_COPY && operands > 2;
}

static void write_flags(const struct effect_decoded *decoded, enum insn_operation operation,
			struct insn_effect *effect)
{
	unsigned flags = effect_flags_written(decoded);
	struct insn_result *result;

	if (!flags)
		return;
	result = add_result(effect, effect_flags_place(flags), operation);
	if (!result || operation == INSN_CONSTANT)
		return;
	add_sources(decoded, result);
	if (reads_flags_for_value(operation, effect_flags_read(decoded)))
		add_source(result, effect_flags_place(effect_flags_read(decoded)));
	if (decoded->instruction.mnemonic == ZYDIS_MNEMONIC_INC ||
	    decoded->instruction.mnemonic == ZYDIS_MNEMONIC_DEC)
		add_constant(result, 1);
}

static void write_all(const struct effect_decoded *decoded, struct insn_effect *effect)
{
	unsigned element = 0;
	enum insn_operation operation = effect->insn.vector ? effect_shuffle(decoded, &element)
							    : INSN_COMPUTE;

	if (operation == INSN_COMPUTE)
		operation = effect_operation(decoded, &element);
	if (is_three_way_move(decoded, operation))
		operation = INSN_COMPUTE;
	for (unsigned i = 0; i < decoded->instruction.operand_count; i++) {
		const ZydisDecodedOperand *operand = &decoded->operand[i];
		bool flags = operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
			     operand->reg.value == ZYDIS_REGISTER_RFLAGS;

		if ((operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) && !flags &&
		    (operand->type != ZYDIS_OPERAND_TYPE_REGISTER ||
		     operand->reg.value != ZYDIS_REGISTER_RIP))
			write_operand(decoded, i, operation, element, effect);
	}
	write_flags(decoded, operation, effect);
}

/* ------------------------------------------------------------------------------------------- */
/* Instructions with several results of different kinds */

static void move_pointer(struct insn_effect *effect, unsigned number)
{
	struct insn_place place = {
		.kind = INSN_PLACE_GENERAL, .number = (uint8_t)number, .length = 8};
	struct insn_result *result = add_result(effect, place, INSN_ADD);

	if (result)
		add_source(result, place);
}

static void copy(struct insn_effect *effect, struct insn_place to, struct insn_place from)
{
	struct insn_result *result = add_result(effect, to, INSN_COPY);

	if (result)
		add_source(result, from);
}

static struct insn_place memory_place(const struct insn_effect *effect, unsigned number)
{
	return (struct insn_place){.kind = INSN_PLACE_MEMORY,
				   .number = (uint8_t)number,
				   .length = effect->insn.operand[number].size};
}

static int stack_operand(const struct insn *insn)
{
	for (int i = 0; i < insn->operand_count; i++)
		if (insn->operand[i].stack_push || insn->operand[i].stack_pop)
			return i;
	return -1;
}

static bool write_stack(const struct effect_decoded *decoded, struct insn_effect *effect)
{
	int slot = stack_operand(&effect->insn);
	struct insn_place memory;

	if (slot < 0)
		return false;
	memory = memory_place(effect, (unsigned)slot);
	switch (decoded->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
		if (decoded->operand[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
			add_result(effect, memory, INSN_CONSTANT)->constant =
				decoded->operand[0].imm.value.u;
		else
			copy(effect, memory, effect_place(decoded, 0));
		move_pointer(effect, X86_RSP);
		return true;
	case ZYDIS_MNEMONIC_POP:
		move_pointer(effect, X86_RSP);
		copy(effect, effect_place(decoded, 0), memory);
		return true;
	case ZYDIS_MNEMONIC_CALL:
		add_result(effect, memory, INSN_CONSTANT);
		move_pointer(effect, X86_RSP);
		return true;
	case ZYDIS_MNEMONIC_RET:
		effect->decides = memory;
		move_pointer(effect, X86_RSP);
		return true;
	default:
		return false;
	}
}

static struct insn_place general_place(unsigned number, unsigned length)
{
	return (struct insn_place){
		.kind = INSN_PLACE_GENERAL, .number = (uint8_t)number, .length = (uint16_t)length};
}

/* What is expected says whether something is stored, and nothing of what is stored. */
static void compare_and_exchange(const struct effect_decoded *decoded, struct insn_effect *effect)
{
	struct insn_place place = effect_place(decoded, 0);

	copy(effect, place, effect_place(decoded, 1));
	effect->result[0].conditional = true;
	copy(effect, general_place(X86_RAX, place.length), place);
	effect->result[1].conditional = true;
	write_flags(decoded, INSN_COMPUTE, effect);
}

/* Of two words: rcx:rbx is stored, or rdx:rax loaded. */
static void compare_and_exchange_two(const struct effect_decoded *decoded,
				     struct insn_effect *effect)
{
	struct insn_place place = memory_place(effect, 0);
	struct insn_result *stored = add_result(effect, place, INSN_COMPUTE);
	static const uint8_t loaded[] = {X86_RAX, X86_RDX};

	stored->conditional = true;
	add_source(stored, general_place(X86_RBX, place.length / 2u));
	add_source(stored, general_place(X86_RCX, place.length / 2u));
	for (unsigned i = 0; i < 2; i++) {
		struct insn_result *result = add_result(
			effect, general_place(loaded[i], place.length / 2u), INSN_COMPUTE);

		result->conditional = true;
		add_source(result, place);
	}
	write_flags(decoded, INSN_COMPUTE, effect);
}

static bool write_exchange(const struct effect_decoded *decoded, struct insn_effect *effect)
{
	struct insn_place first = effect_place(decoded, 0), second = effect_place(decoded, 1);
	struct insn_result *sum;

	switch (decoded->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_XCHG:
		copy(effect, first, second);
		copy(effect, second, first);
		return true;
	case ZYDIS_MNEMONIC_XADD:
		sum = add_result(effect, first, INSN_ADD);
		add_source(sum, first);
		add_source(sum, second);
		copy(effect, second, first);
		write_flags(decoded, INSN_ADD, effect);
		return true;
	case ZYDIS_MNEMONIC_LEAVE:
		copy(effect, general_place(X86_RSP, 8), general_place(X86_RBP, 8));
		copy(effect, general_place(X86_RBP, 8), memory_place(effect, 0));
		return true;
	case ZYDIS_MNEMONIC_CMPXCHG:
		compare_and_exchange(decoded, effect);
		return true;
	case ZYDIS_MNEMONIC_CMPXCHG8B:
	case ZYDIS_MNEMONIC_CMPXCHG16B:
		compare_and_exchange_two(decoded, effect);
		return true;
	default:
		return false;
	}
}

static bool write_string(const struct effect_decoded *decoded, struct insn_effect *effect)
{
	const struct insn *insn = &effect->insn;
	struct insn_result *flags;

	if (!insn->string || decoded->instruction.meta.category != ZYDIS_CATEGORY_STRINGOP)
		return false;
	switch (decoded->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_MOVSB:
	case ZYDIS_MNEMONIC_MOVSW:
	case ZYDIS_MNEMONIC_MOVSD:
	case ZYDIS_MNEMONIC_MOVSQ:
		copy(effect, memory_place(effect, 0), memory_place(effect, 1));
		break;
	case ZYDIS_MNEMONIC_STOSB:
	case ZYDIS_MNEMONIC_STOSW:
	case ZYDIS_MNEMONIC_STOSD:
	case ZYDIS_MNEMONIC_STOSQ:
		copy(effect, memory_place(effect, 0),
		     (struct insn_place){.kind = INSN_PLACE_GENERAL,
					 .number = X86_RAX,
					 .length = insn->operand[0].size});
		break;
	case ZYDIS_MNEMONIC_LODSB:
	case ZYDIS_MNEMONIC_LODSW:
	case ZYDIS_MNEMONIC_LODSD:
	case ZYDIS_MNEMONIC_LODSQ:
		copy(effect, effect_place(decoded, 0), memory_place(effect, 0));
		break;
	default: /* cmps, scas */
		flags = add_result(effect, effect_flags_place(INSN_FLAGS_ALL), INSN_SUBTRACT);
		if (insn->operand_count < 2)
			add_source(flags, (struct insn_place){.kind = INSN_PLACE_GENERAL,
							      .number = X86_RAX,
							      .length = insn->operand[0].size});
		for (unsigned i = 0; i < insn->operand_count; i++)
			add_source(flags, memory_place(effect, i));
	}
	for (unsigned i = 0; i < insn->operand_count; i++)
		move_pointer(effect, (unsigned)insn->operand[i].base);
	if (insn->repeated)
		move_pointer(effect, X86_RCX);
	return true;
}

#define VALUES 3

/* The operands that are neither masks nor constants. */
static unsigned value_operands(const struct effect_decoded *decoded, unsigned index[VALUES])
{
	unsigned count = 0;

	for (unsigned i = 0; i < decoded->instruction.operand_count_visible && count < VALUES; i++)
		if (decoded->operand[i].encoding != ZYDIS_OPERAND_ENCODING_MASK &&
		    decoded->operand[i].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
			index[count++] = i;
	return count;
}

/* movlps, movhps and their like: half a register, the rest stays. Those of AVX that load one take
 * the rest from another register: shuffles. */
static bool write_half(const struct effect_decoded *decoded, struct insn_effect *effect)
{
	unsigned index[VALUES] = {0, 1};
	const unsigned count = value_operands(decoded, index);
	struct insn_place to = effect_place(decoded, index[0]),
			  from = effect_place(decoded, index[1]);
	struct insn_place *vector = to.kind == INSN_PLACE_VECTOR ? &to : &from;

	switch (decoded->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_MOVHPS:
	case ZYDIS_MNEMONIC_MOVHPD:
		vector->first = 8;
		break;
	case ZYDIS_MNEMONIC_MOVLHPS:
		to.first = 8;
		break;
	case ZYDIS_MNEMONIC_MOVHLPS:
		from.first = 8;
		break;
	case ZYDIS_MNEMONIC_MOVLPS:
	case ZYDIS_MNEMONIC_MOVLPD:
		break;
	case ZYDIS_MNEMONIC_VMOVHPS:
	case ZYDIS_MNEMONIC_VMOVHPD:
		if (count > 2)
			return false;
		vector->first = 8;
		break;
	case ZYDIS_MNEMONIC_VMOVLPS:
	case ZYDIS_MNEMONIC_VMOVLPD:
		if (count > 2)
			return false;
		break;
	default:
		return false;
	}
	to.length = from.length = 8;
	copy(effect, to, from);
	return true;
}

static void add_scalar_source(const struct effect_decoded *decoded, unsigned index,
			      struct insn_result *result)
{
	struct insn_place place = effect_place(decoded, index);

	if (place.kind == INSN_PLACE_VECTOR && decoded->operand[index].element_size)
		place.length = (uint16_t)(decoded->operand[index].element_size / 8);
	add_source(result, place);
}

/* One element is computed. Of the rest of 16 bytes the older encoding keeps what is there, the
 * newer one takes it from its second operand, or keeps it where the first is a source, too. */
static bool write_scalar(const struct effect_decoded *decoded, struct insn_effect *effect)
{
	const ZydisDecodedInstruction *instruction = &decoded->instruction;
	unsigned index[VALUES] = {0}, count = value_operands(decoded, index);
	bool takes_first = true;
	const unsigned fused = effect_scalar_fused(instruction->mnemonic);
	const unsigned bytes = fused ? fused : effect_scalar(instruction->mnemonic, &takes_first);
	struct insn_place to = effect_place(decoded, 0), rest = to;
	struct insn_result *result;

	/* A masked one keeps, or clears, what is there. */
	if (!bytes || instruction->avx.mask.reg > ZYDIS_REGISTER_K0 ||
	    to.kind != INSN_PLACE_VECTOR || count < 2)
		return false;
	to.length = (uint16_t)bytes;
	result = add_result(effect, to, INSN_COMPUTE);
	if (fused)
		add_scalar_source(decoded, index[0], result);
	if (takes_first)
		add_scalar_source(decoded, index[count - 2], result);
	add_scalar_source(decoded, index[count - 1], result);
	if (count < 3)
		return true;
	rest.first = (uint8_t)bytes;
	rest.length = (uint16_t)(16 - bytes);
	to = effect_place(decoded, fused ? index[0] : index[1]);
	to.first = rest.first;
	to.length = rest.length;
	copy(effect, rest, to);
	effect->result[effect->count - 1].clears = true;
	return true;
}

/* ------------------------------------------------------------------------------------------- */
/* Where it goes on */

static void tell_decision(const struct effect_decoded *decoded, struct insn_effect *effect)
{
	switch (effect->insn.flow) {
	case INSN_FLOW_BRANCH:
		if (!effect->insn.conditional)
			return;
		effect->decides = effect_flags_read(decoded)
					  ? effect_flags_place(effect_flags_read(decoded))
					  : (struct insn_place){.kind = INSN_PLACE_GENERAL,
								.number = X86_RCX,
								.length = 8};
		return;
	case INSN_FLOW_JUMP_INDIRECT:
	case INSN_FLOW_CALL_INDIRECT:
		effect->decides = effect_place(decoded, 0);
		return;
	default:
		return;
	}
}

/* By a frame of its own: what is decoded takes nearly all that one may have. */
__attribute__((noinline)) static void write_results(const struct effect_decoded *decoded,
						    struct insn_effect *effect)
{
	tell_decision(decoded, effect);
	if (!write_stack(decoded, effect) && !write_exchange(decoded, effect) &&
	    !write_string(decoded, effect) && !write_half(decoded, effect) &&
	    !write_scalar(decoded, effect))
		write_all(decoded, effect);
}

int insn_effect_decode(const uint8_t *bytes, size_t available, uint64_t pc,
		       struct insn_effect *effect)
{
	struct effect_decoded decoded;
	ZydisDecoder decoder;
	int err;

	memset(effect, 0, sizeof(*effect));
	err = insn_decode(bytes, available, pc, &effect->insn);
	if (err)
		return err;
	if (!ZYAN_SUCCESS(
		    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, effect->insn.length,
						 &decoded.instruction, decoded.operand)))
		return -EILSEQ;
	write_results(&decoded, effect);
	return 0;
}
