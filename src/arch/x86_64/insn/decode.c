/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One x86-64 instruction, from bytes to struct insn. Zydis 4.0 knows the encodings; what follows
 * adds what its operand lists leave out (the index of xlat, where bt reg,mem really points, the
 * pointers cmps and scas advance, …). Frames: insn_decode about 1.3 KiB, of which Zydis' operand
 * array is 800 bytes; Zydis itself needs less than 1 KiB more.
 */
#include "insn/insn.h"
#include "insn/vector.h"

#include <Zydis/Zydis.h>
#include <errno.h>
#include <string.h>
#include <trapline/event.h>

#define LINE_SIZE 64

enum { REGISTER_PC = INSN_PC };

struct decoded {
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
};

/* Number of a general register of any width; -1 none or another kind; 16 = pc. */
static int8_t register_number(ZydisRegister name)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);

	if (whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15)
		return (int8_t)(whole - ZYDIS_REGISTER_RAX);
	/* Zydis encloses the instruction pointer in nothing. */
	return name == ZYDIS_REGISTER_RIP || name == ZYDIS_REGISTER_EIP ? REGISTER_PC : -1;
}

static int8_t vector_number(ZydisRegister name)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);

	if (whole >= ZYDIS_REGISTER_ZMM0 && whole <= ZYDIS_REGISTER_ZMM31)
		return (int8_t)(whole - ZYDIS_REGISTER_ZMM0);
	return -1;
}

static bool is_high_byte(ZydisRegister name)
{
	return name >= ZYDIS_REGISTER_AH && name <= ZYDIS_REGISTER_BH;
}

static unsigned access_of(ZydisOperandActions actions)
{
	unsigned access = 0;

	if (actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		access |= TL_READ;
	if (actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		access |= TL_WRITE;
	return access;
}

/* Instructions that name memory without reading or writing it. */
static bool only_names_memory(const ZydisDecodedInstruction *instruction)
{
	switch (instruction->meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_PREFETCH:
	case ZYDIS_CATEGORY_CLDEMOTE:
		return true;
	default:
		return false;
	}
}

static bool is_line_operation(ZydisMnemonic mnemonic)
{
	return mnemonic == ZYDIS_MNEMONIC_CLFLUSH || mnemonic == ZYDIS_MNEMONIC_CLFLUSHOPT ||
	       mnemonic == ZYDIS_MNEMONIC_CLWB;
}

static bool is_state_area(const ZydisDecodedInstruction *instruction)
{
	return instruction->meta.category == ZYDIS_CATEGORY_XSAVE ||
	       instruction->meta.category == ZYDIS_CATEGORY_XSAVEOPT ||
	       instruction->meta.category == ZYDIS_CATEGORY_AMX_TILE;
}

static uint8_t segment_of(ZydisRegister segment)
{
	if (segment == ZYDIS_REGISTER_FS)
		return 1;
	return segment == ZYDIS_REGISTER_GS ? 2 : 0;
}

static void clear_operand(struct insn_operand *operand)
{
	memset(operand, 0, sizeof(*operand));
	operand->base = -1;
	operand->index = -1;
	operand->scale = 1;
	operand->address_bits = 64;
	operand->mask = -1;
	operand->mask_vector = -1;
	operand->vector_index = -1;
	operand->bit_index = -1;
}

static void describe_address(const ZydisDecodedInstruction *instruction,
			     const ZydisDecodedOperand *from, struct insn_operand *operand)
{
	operand->base = register_number(from->mem.base);
	operand->segment = segment_of(from->mem.segment);
	operand->displacement = from->mem.disp.value;
	operand->address_bits = instruction->address_width == 32 ? 32 : 64;
	operand->scale = from->mem.scale ? from->mem.scale : 1;
	if (from->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
		operand->vector_index = vector_number(from->mem.index);
	else
		operand->index = register_number(from->mem.index);
}

/* Hidden stack operands. Zydis names rsp as their base, which is right before a pop and `size` off
 * before a push. */
static void describe_stack(const ZydisDecodedOperand *from, struct insn_operand *operand)
{
	if (from->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN ||
	    from->mem.segment != ZYDIS_REGISTER_SS || operand->base != X86_RSP)
		return;
	if (operand->access == TL_WRITE)
		operand->stack_push = true;
	else
		operand->stack_pop = true;
	operand->address_bits = 64;
}

/* AVX and AVX2 select by the sign bits of a vector register: the maskmov family by its second
 * operand, gathers by their last; maskmovq and maskmovdqu by their second. */
static int8_t selecting_vector(const struct decoded *decoded)
{
	switch (decoded->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_VMASKMOVPS:
	case ZYDIS_MNEMONIC_VMASKMOVPD:
	case ZYDIS_MNEMONIC_VPMASKMOVD:
	case ZYDIS_MNEMONIC_VPMASKMOVQ:
	case ZYDIS_MNEMONIC_MASKMOVDQU:
	case ZYDIS_MNEMONIC_VMASKMOVDQU:
		return vector_number(decoded->operand[1].reg.value);
	default:
		break;
	}
	if (decoded->instruction.meta.category == ZYDIS_CATEGORY_AVX2GATHER)
		return vector_number(decoded->operand[2].reg.value);
	return -1;
}

/* Faults and data breakpoints of masked-out elements are suppressed except in the exception classes
 * marked NF, which access the whole operand. Intel SDM volume 2, 2.8.1 (EVEX exception classes). */
static bool whole_despite_mask(ZydisExceptionClass class)
{
	switch (class) {
	case ZYDIS_EXCEPTION_CLASS_E1NF:
	case ZYDIS_EXCEPTION_CLASS_E2NF:
	case ZYDIS_EXCEPTION_CLASS_E3NF:
	case ZYDIS_EXCEPTION_CLASS_E4NF:
	case ZYDIS_EXCEPTION_CLASS_E5NF:
	case ZYDIS_EXCEPTION_CLASS_E6NF:
	case ZYDIS_EXCEPTION_CLASS_E9NF:
	case ZYDIS_EXCEPTION_CLASS_E10NF:
	case ZYDIS_EXCEPTION_CLASS_E11NF:
		return true;
	default:
		return false;
	}
}

static bool has_mask_register(const ZydisDecodedInstruction *instruction)
{
	return instruction->avx.mask.reg > ZYDIS_REGISTER_K0 &&
	       instruction->avx.mask.reg <= ZYDIS_REGISTER_K7;
}

static void describe_mask(const struct decoded *decoded, const ZydisDecodedOperand *from,
			  struct insn_operand *operand)
{
	const ZydisDecodedInstruction *instruction = &decoded->instruction;

	operand->element = (uint8_t)(from->element_size / 8);
	operand->mask_vector = selecting_vector(decoded);
	operand->masked = operand->mask_vector >= 0;
	if (instruction->mnemonic == ZYDIS_MNEMONIC_MASKMOVDQU ||
	    instruction->mnemonic == ZYDIS_MNEMONIC_VMASKMOVDQU)
		operand->element = 1;
	/* maskmovq selects by an MMX register, which no saved vector state here holds. */
	if (instruction->mnemonic == ZYDIS_MNEMONIC_MASKMOVQ) {
		operand->masked = true;
		operand->element = 1;
	}
	if (!has_mask_register(instruction))
		return;
	operand->mask = (int8_t)(instruction->avx.mask.reg - ZYDIS_REGISTER_K0);
	operand->masked = operand->vector_index >= 0 ||
			  !whole_despite_mask(instruction->meta.exception_class);
	operand->packed = instruction->meta.category == ZYDIS_CATEGORY_COMPRESS ||
			  instruction->meta.category == ZYDIS_CATEGORY_EXPAND;
}

/* Bytes of one index of a gather or scatter. */
static unsigned vector_index_size(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_VGATHERQPD:
	case ZYDIS_MNEMONIC_VGATHERQPS:
	case ZYDIS_MNEMONIC_VPGATHERQD:
	case ZYDIS_MNEMONIC_VPGATHERQQ:
	case ZYDIS_MNEMONIC_VSCATTERQPD:
	case ZYDIS_MNEMONIC_VSCATTERQPS:
	case ZYDIS_MNEMONIC_VPSCATTERQD:
	case ZYDIS_MNEMONIC_VPSCATTERQQ:
		return 8;
	default:
		return 4;
	}
}

static void describe_vector_index(const ZydisDecodedInstruction *instruction,
				  struct insn_operand *operand)
{
	unsigned widest, vector_bytes = instruction->avx.vector_length / 8;

	if (operand->vector_index < 0)
		return;
	operand->element = (uint8_t)operand->size;
	operand->index_size = (uint8_t)vector_index_size(instruction->mnemonic);
	widest = operand->size > operand->index_size ? operand->size : operand->index_size;
	operand->elements = (uint8_t)(vector_bytes / widest);
	operand->masked = true;
}

static bool is_bit_string(ZydisMnemonic mnemonic)
{
	return mnemonic == ZYDIS_MNEMONIC_BT || mnemonic == ZYDIS_MNEMONIC_BTS ||
	       mnemonic == ZYDIS_MNEMONIC_BTR || mnemonic == ZYDIS_MNEMONIC_BTC;
}

static void describe_peculiarities(const struct decoded *decoded, struct insn_operand *operand)
{
	const ZydisDecodedInstruction *instruction = &decoded->instruction;

	if (only_names_memory(instruction))
		operand->access = 0;
	if (is_line_operation(instruction->mnemonic)) {
		operand->size = LINE_SIZE;
		operand->line = true;
		operand->conditional = true;
	}
	if (is_state_area(instruction)) {
		operand->extent_unknown = true;
		operand->conditional = true;
		/* Of what xsave stores it reads one word of the header, to put it back. */
		if (operand->access == (TL_READ | TL_WRITE))
			operand->access = TL_WRITE;
	}
	if (is_bit_string(instruction->mnemonic) &&
	    decoded->operand[1].type == ZYDIS_OPERAND_TYPE_REGISTER)
		operand->bit_index = register_number(decoded->operand[1].reg.value);
	if (instruction->mnemonic == ZYDIS_MNEMONIC_XLAT) {
		operand->index = X86_RAX;
		operand->byte_index = true;
	}
}

static void add_operand(const struct decoded *decoded, const ZydisDecodedOperand *from,
			struct insn *insn)
{
	struct insn_operand *operand;

	if (from->mem.type == ZYDIS_MEMOP_TYPE_AGEN || insn->operand_count == INSN_MAX_OPERANDS)
		return;
	operand = &insn->operand[insn->operand_count++];
	clear_operand(operand);
	operand->access = (uint8_t)access_of(from->actions);
	operand->size = from->size / 8;
	describe_address(&decoded->instruction, from, operand);
	describe_stack(from, operand);
	describe_mask(decoded, from, operand);
	describe_vector_index(&decoded->instruction, operand);
	describe_peculiarities(decoded, operand);
	/* Zydis calls bound-table accesses MIB; nothing since Linux 5.6 runs them. */
	if (from->mem.type == ZYDIS_MEMOP_TYPE_MIB)
		operand->access = 0;
}

static void note_register(const struct decoded *decoded, const ZydisDecodedOperand *from,
			  struct insn *insn)
{
	int8_t general = register_number(from->reg.value);
	int8_t vector = vector_number(from->reg.value);

	if (!(from->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
		return;
	if (general >= 0 && general < REGISTER_PC)
		insn->written_registers |= (uint16_t)(1u << general);
	if (vector >= 0 && vector < 16)
		insn->written_vectors |= (uint16_t)(1u << vector);
	if (from->reg.value == decoded->instruction.avx.mask.reg &&
	    has_mask_register(&decoded->instruction))
		insn->mask_written = true;
}

static void describe_operands(const struct decoded *decoded, struct insn *insn)
{
	for (unsigned i = 0; i < decoded->instruction.operand_count; i++) {
		const ZydisDecodedOperand *from = &decoded->operand[i];

		if (from->type == ZYDIS_OPERAND_TYPE_MEMORY)
			add_operand(decoded, from, insn);
		else if (from->type == ZYDIS_OPERAND_TYPE_REGISTER)
			note_register(decoded, from, insn);
	}
}

/* The 64-byte line that clzero writes is no operand to Zydis. */
static void describe_clzero(const struct decoded *decoded, struct insn *insn)
{
	struct insn_operand *operand = &insn->operand[0];

	if (decoded->instruction.mnemonic != ZYDIS_MNEMONIC_CLZERO)
		return;
	insn->operand_count = 1;
	clear_operand(operand);
	operand->access = TL_WRITE;
	operand->size = LINE_SIZE;
	operand->line = true;
	operand->base = X86_RAX;
	operand->address_bits = decoded->instruction.address_width == 32 ? 32 : 64;
}

static void describe_string(const ZydisDecodedInstruction *instruction, struct insn *insn)
{
	if (instruction->meta.category != ZYDIS_CATEGORY_STRINGOP &&
	    instruction->meta.category != ZYDIS_CATEGORY_IOSTRINGOP)
		return;
	insn->string = true;
	insn->repeated = instruction->attributes &
			 (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
	for (unsigned i = 0; i < insn->operand_count; i++)
		insn->written_registers |= (uint16_t)(1u << insn->operand[i].base);
	if (insn->repeated)
		insn->written_registers |= 1u << X86_RCX;
}

static int64_t immediate(const struct decoded *decoded, unsigned which)
{
	for (unsigned i = 0; i < decoded->instruction.operand_count; i++)
		if (decoded->operand[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && which-- == 0)
			return decoded->operand[i].imm.value.s;
	return 0;
}

/* enter: pushes rbp, for nested levels copies level-1 words from below the old frame and pushes the
 * new frame's address, then allocates. Intel SDM volume 2, ENTER. */
static void describe_enter(const struct decoded *decoded, struct insn *insn)
{
	unsigned allocated = (unsigned)immediate(decoded, 0) & 0xffff;
	unsigned level = (unsigned)immediate(decoded, 1) & 31;
	unsigned word = insn->operand[0].size;
	unsigned words = level ? level + 1 : 1;

	insn->operand[0].size = (uint16_t)(words * word);
	insn->stack_change = -(int32_t)(words * word + allocated);
	insn->stack_change_known = true;
	if (level < 2)
		return;
	clear_operand(&insn->operand[1]);
	insn->operand[1].access = TL_READ;
	insn->operand[1].size = (uint16_t)((level - 1) * word);
	insn->operand[1].base = X86_RBP;
	insn->operand[1].displacement = -(int64_t)((level - 1) * word);
	insn->operand_count = 2;
}

static void describe_stack_change(const struct decoded *decoded, struct insn *insn)
{
	const ZydisDecodedInstruction *instruction = &decoded->instruction;

	if (instruction->mnemonic == ZYDIS_MNEMONIC_ENTER) {
		describe_enter(decoded, insn);
		return;
	}
	if (instruction->mnemonic == ZYDIS_MNEMONIC_LEAVE) {
		insn->frame_leave = insn->operand[0].size == 8;
		return;
	}
	/* `pop %rsp` leaves in rsp what it loaded. */
	if (instruction->mnemonic == ZYDIS_MNEMONIC_POP &&
	    decoded->operand[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    register_number(decoded->operand[0].reg.value) == X86_RSP)
		return;
	for (unsigned i = 0; i < insn->operand_count; i++) {
		if (!insn->operand[i].stack_push && !insn->operand[i].stack_pop)
			continue;
		insn->stack_change_known = true;
		insn->stack_change += insn->operand[i].stack_push ? -insn->operand[i].size
								  : insn->operand[i].size;
	}
	if (instruction->meta.category == ZYDIS_CATEGORY_RET && insn->stack_change_known)
		insn->stack_change += (int32_t)((uint32_t)immediate(decoded, 0) & 0xffff);
	/* iret loads rsp from the frame it pops. */
	if (instruction->meta.branch_type == ZYDIS_BRANCH_TYPE_NONE &&
	    instruction->meta.category == ZYDIS_CATEGORY_RET)
		insn->stack_change_known = false;
}

/* Not Zydis' attribute of that name: jumps through pc-relative memory have it too. */
static bool is_relative(const struct decoded *decoded)
{
	return decoded->operand[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	       decoded->operand[0].imm.is_relative;
}

static enum insn_flow interrupt_flow(const struct decoded *decoded)
{
	return decoded->instruction.mnemonic == ZYDIS_MNEMONIC_INT &&
			       (immediate(decoded, 0) & 0xff) == 0x80
		       ? INSN_FLOW_SYSCALL
		       : INSN_FLOW_TRAP;
}

static enum insn_flow flow_of(const struct decoded *decoded)
{
	const ZydisDecodedInstruction *instruction = &decoded->instruction;

	switch (instruction->meta.category) {
	case ZYDIS_CATEGORY_CALL:
		return is_relative(decoded) ? INSN_FLOW_CALL : INSN_FLOW_CALL_INDIRECT;
	case ZYDIS_CATEGORY_COND_BR:
		return INSN_FLOW_BRANCH;
	case ZYDIS_CATEGORY_UNCOND_BR:
		if (instruction->mnemonic == ZYDIS_MNEMONIC_XABORT)
			return INSN_FLOW_NEXT;
		return is_relative(decoded) ? INSN_FLOW_BRANCH : INSN_FLOW_JUMP_INDIRECT;
	case ZYDIS_CATEGORY_RET:
		return INSN_FLOW_RETURN;
	case ZYDIS_CATEGORY_SYSCALL:
		return INSN_FLOW_SYSCALL;
	case ZYDIS_CATEGORY_SYSRET:
		return INSN_FLOW_TRAP;
	case ZYDIS_CATEGORY_INTERRUPT:
		return interrupt_flow(decoded);
	default:
		break;
	}
	switch (instruction->mnemonic) {
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_HLT:
		return INSN_FLOW_TRAP;
	default:
		return INSN_FLOW_NEXT;
	}
}

/* It accesses no memory, so it has no operand in struct insn. */
static void describe_address_taken(const struct decoded *decoded, uint64_t pc, struct insn *insn)
{
	const ZydisDecodedOperand *from = &decoded->operand[1];

	if (decoded->instruction.mnemonic != ZYDIS_MNEMONIC_LEA ||
	    register_number(from->mem.base) != REGISTER_PC)
		return;
	insn->takes_address = true;
	insn->address_taken = pc + insn->length + (uint64_t)from->mem.disp.value;
	if (decoded->instruction.address_width == 32)
		insn->address_taken = (uint32_t)insn->address_taken;
}

static enum insn_zero_branch zero_branch_of(const struct decoded *decoded)
{
	switch (decoded->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_JZ:
		return INSN_ZERO_BRANCH_IF;
	case ZYDIS_MNEMONIC_JNZ:
		return INSN_ZERO_BRANCH_UNLESS;
	default:
		return INSN_ZERO_BRANCH_NONE;
	}
}

static void describe_flow(const struct decoded *decoded, uint64_t pc, struct insn *insn)
{
	insn->flow = (uint8_t)flow_of(decoded);
	insn->conditional = decoded->instruction.meta.category == ZYDIS_CATEGORY_COND_BR;
	insn->zero_branch = (uint8_t)zero_branch_of(decoded);
	insn->move_condition = decoded->instruction.meta.category == ZYDIS_CATEGORY_CMOV
				       ? (int8_t)(decoded->instruction.opcode & 15)
				       : -1;
	insn->target_register = -1;
	describe_address_taken(decoded, pc, insn);
	if (is_relative(decoded))
		insn->target = (int64_t)(pc + insn->length + (uint64_t)immediate(decoded, 0));
	else if (insn->flow == INSN_FLOW_CALL_INDIRECT || insn->flow == INSN_FLOW_JUMP_INDIRECT)
		if (decoded->operand[0].type == ZYDIS_OPERAND_TYPE_REGISTER)
			insn->target_register = register_number(decoded->operand[0].reg.value);
	/* The system call's result, and the registers the instruction itself destroys. */
	if (insn->flow == INSN_FLOW_SYSCALL)
		insn->written_registers |= 1u << X86_RAX | 1u << X86_RCX | 1u << X86_R11;
}

static bool is_plain_move(ZydisMnemonic mnemonic)
{
	return mnemonic == ZYDIS_MNEMONIC_MOV || mnemonic == ZYDIS_MNEMONIC_MOVZX ||
	       mnemonic == ZYDIS_MNEMONIC_MOVSX || mnemonic == ZYDIS_MNEMONIC_MOVSXD;
}

static void describe_store(const struct decoded *decoded, struct insn *insn)
{
	const ZydisDecodedOperand *source = &decoded->operand[1];

	if (!insn->plain_move || decoded->operand[0].type != ZYDIS_OPERAND_TYPE_MEMORY)
		return;
	insn->stored_constant = source->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
	if (insn->stored_constant)
		insn->constant = source->imm.value.s;
	else if (source->type == ZYDIS_OPERAND_TYPE_REGISTER && !is_high_byte(source->reg.value))
		insn->stored = register_number(source->reg.value);
}

/* What a lock is taken by: of one that is held already the value stays as it is. Those that add,
 * count or complement change it. */
static bool may_keep_value(ZydisMnemonic name)
{
	return name == ZYDIS_MNEMONIC_CMPXCHG || name == ZYDIS_MNEMONIC_CMPXCHG8B ||
	       name == ZYDIS_MNEMONIC_CMPXCHG16B || name == ZYDIS_MNEMONIC_XCHG ||
	       name == ZYDIS_MNEMONIC_BTS || name == ZYDIS_MNEMONIC_BTR ||
	       name == ZYDIS_MNEMONIC_OR || name == ZYDIS_MNEMONIC_AND;
}

static void describe_kind(const struct decoded *decoded, struct insn *insn)
{
	const ZydisDecodedInstruction *instruction = &decoded->instruction;
	const ZydisDecodedOperand *first = &decoded->operand[0];

	insn->atomic = (instruction->attributes & ZYDIS_ATTRIB_HAS_LOCK) ||
		       (instruction->mnemonic == ZYDIS_MNEMONIC_XCHG && insn->operand_count);
	insn->attempt = insn->atomic && may_keep_value(instruction->mnemonic);
	insn->vector = vector_is(instruction);
	insn->whole_vector = vector_moves_whole(instruction);
	insn->vector_outcome = vector_is_outcome(instruction, decoded->operand);
	insn->plain_move = is_plain_move(instruction->mnemonic) && insn->operand_count == 1;
	insn->loaded = -1;
	if ((insn->plain_move || instruction->mnemonic == ZYDIS_MNEMONIC_POP) &&
	    first->type == ZYDIS_OPERAND_TYPE_REGISTER && !is_high_byte(first->reg.value) &&
	    (first->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
		insn->loaded = register_number(first->reg.value);
	describe_store(decoded, insn);
}

static int decode_all(const uint8_t *bytes, size_t available, struct decoded *decoded)
{
	ZydisDecoder decoder;
	ZydisDecoderContext context;
	ZyanStatus status;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (available > INSN_MAX_LENGTH)
		available = INSN_MAX_LENGTH;
	status = ZydisDecoderDecodeInstruction(&decoder, &context, bytes, available,
					       &decoded->instruction);
	if (status == ZYDIS_STATUS_NO_MORE_DATA && available < INSN_MAX_LENGTH)
		return -ENODATA;
	if (!ZYAN_SUCCESS(status))
		return -EILSEQ;
	status = ZydisDecoderDecodeOperands(&decoder, &context, &decoded->instruction,
					    decoded->operand, decoded->instruction.operand_count);
	return ZYAN_SUCCESS(status) ? 0 : -EILSEQ;
}

int insn_decode(const uint8_t *bytes, size_t available, uint64_t pc, struct insn *insn)
{
	struct decoded decoded;
	int err;

	memset(insn, 0, sizeof(*insn));
	insn->loaded = insn->stored = -1;
	insn->target_register = -1;
	err = decode_all(bytes, available, &decoded);
	if (err)
		return err;
	insn->length = decoded.instruction.length;
	describe_operands(&decoded, insn);
	describe_clzero(&decoded, insn);
	describe_string(&decoded.instruction, insn);
	describe_stack_change(&decoded, insn);
	describe_flow(&decoded, pc, insn);
	describe_kind(&decoded, insn);
	return 0;
}
