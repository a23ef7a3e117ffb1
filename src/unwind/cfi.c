/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/cfi.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* GCC and Clang nest remember_state once; hand-written assembly has been seen to do it twice. */
#define REMEMBER_DEPTH 4

/* First byte of an instruction; the upper two bits, where set, leave six for an operand. */
enum {
	ADVANCE = 0x40,
	OFFSET = 0x80,
	RESTORE = 0xc0,
	NOP = 0x00,
	SET_LOCATION = 0x01,
	ADVANCE_1 = 0x02,
	ADVANCE_2 = 0x03,
	ADVANCE_4 = 0x04,
	OFFSET_EXTENDED = 0x05,
	RESTORE_EXTENDED = 0x06,
	UNDEFINED = 0x07,
	SAME_VALUE = 0x08,
	REGISTER = 0x09,
	REMEMBER_STATE = 0x0a,
	RESTORE_STATE = 0x0b,
	FRAME = 0x0c,
	FRAME_REGISTER = 0x0d,
	FRAME_OFFSET = 0x0e,
	FRAME_EXPRESSION = 0x0f,
	EXPRESSION = 0x10,
	OFFSET_EXTENDED_SIGNED = 0x11,
	FRAME_SIGNED = 0x12,
	FRAME_OFFSET_SIGNED = 0x13,
	VALUE_OFFSET = 0x14,
	VALUE_OFFSET_SIGNED = 0x15,
	VALUE_EXPRESSION = 0x16,
	ADVANCE_8 = 0x1d,
	WINDOW_SAVE = 0x2d,
	ARGUMENTS_SIZE = 0x2e,
	OFFSET_EXTENDED_NEGATIVE = 0x2f,
};

struct machine {
	struct bytes code;
	const struct cfi_entry *entry;
	uint64_t location;
	uint64_t pc;
	unsigned depth;
	bool passed; /* the next row begins after pc */
	struct cfi_row row;
	struct cfi_row initial;
	struct cfi_row remembered[REMEMBER_DEPTH];
};

struct header {
	size_t content; /* position of the CIE id / CIE pointer */
	size_t end;
	uint32_t id;
};

static int read_header(const struct bytes *section, size_t position, struct header *header)
{
	struct bytes bytes = *section;
	uint64_t length;

	bytes.at = position;
	bytes.failed = false;
	length = bytes_unsigned(&bytes, 4);
	if (length == 0xffffffffu)
		length = bytes_unsigned(&bytes, 8);
	header->content = bytes.at;
	if (bytes.failed || length < 4 || length > section->length - bytes.at)
		return -EINVAL;
	header->end = bytes.at + (size_t)length;
	header->id = (uint32_t)bytes_unsigned(&bytes, 4);
	return 0;
}

size_t cfi_next_position(const struct bytes *section, size_t position)
{
	struct header header;

	if (read_header(section, position, &header))
		return 0;
	return header.end < section->length ? header.end : 0;
}

/* The characters after 'z', each with its part of the augmentation data. */
static void read_augmentation(struct bytes *bytes, const char *letters, struct cfi_entry *entry)
{
	for (; *letters && !bytes->failed; letters++) {
		switch (*letters) {
		case 'R':
			entry->pointer_encoding = (uint8_t)bytes_unsigned(bytes, 1);
			break;
		case 'P': {
			uint8_t encoding = (uint8_t)bytes_unsigned(bytes, 1);

			bytes_pointer(bytes, encoding, 0);
			break;
		}
		case 'L':
			bytes_unsigned(bytes, 1);
			break;
		case 'S':
			entry->signal_frame = true;
			break;
		default: /* its data's size is unknown, and so is the place of what follows */
			return;
		}
	}
}

static int read_common(const struct bytes *section, size_t position, struct cfi_entry *entry)
{
	struct bytes bytes = *section;
	struct header header;
	const char *augmentation;
	uint64_t version, return_register, data;

	if (read_header(section, position, &header) || header.id != 0)
		return -EINVAL;
	bytes.at = header.content + 4;
	bytes.length = header.end;
	version = bytes_unsigned(&bytes, 1);
	augmentation = (const char *)bytes.start + bytes.at;
	while (bytes_unsigned(&bytes, 1) != 0)
		continue;
	if (bytes.failed || (version != 1 && version != 3))
		return -EINVAL;
	entry->code_alignment = bytes_uleb128(&bytes);
	entry->data_alignment = bytes_sleb128(&bytes);
	return_register = version == 1 ? bytes_unsigned(&bytes, 1) : bytes_uleb128(&bytes);
	if (return_register >= UNWIND_REGISTER_COUNT)
		return -EINVAL;
	entry->return_register = (uint8_t)return_register;
	entry->pointer_encoding = POINTER_ABSOLUTE;
	entry->signal_frame = false;
	entry->sized = augmentation[0] == 'z';
	if (entry->sized) {
		data = bytes_uleb128(&bytes);
		entry->common_program.first = bytes.at;
		read_augmentation(&bytes, augmentation + 1, entry);
		bytes.at = entry->common_program.first;
		bytes_skip(&bytes, data);
	} else if (augmentation[0]) {
		return -EINVAL;
	}
	entry->common_program.first = bytes.at;
	entry->common_program.end = header.end;
	return bytes.failed ? -EINVAL : 0;
}

int cfi_read_entry(const struct bytes *section, size_t position, struct cfi_entry *entry)
{
	struct bytes bytes = *section;
	struct header header;
	uint64_t length;

	if (read_header(section, position, &header))
		return -EINVAL;
	if (header.id == 0)
		return -ENOENT;
	if (header.id > header.content)
		return -EINVAL;
	if (read_common(section, header.content - header.id, entry))
		return -EINVAL;
	bytes.at = header.content + 4;
	bytes.length = header.end;
	bytes.failed = false;
	entry->start = bytes_pointer(&bytes, entry->pointer_encoding, 0);
	length = bytes_pointer(&bytes, entry->pointer_encoding & POINTER_FORMAT, 0);
	entry->end = entry->start + length;
	if (entry->sized)
		bytes_skip(&bytes, bytes_uleb128(&bytes));
	entry->program.first = bytes.at;
	entry->program.end = header.end;
	return bytes.failed || entry->end < entry->start ? -EINVAL : 0;
}

static int32_t narrow(struct machine *machine, int64_t value)
{
	if (value < INT32_MIN || value > INT32_MAX)
		machine->code.failed = true;
	return (int32_t)value;
}

static int32_t factored(struct machine *machine, int64_t value)
{
	int64_t product;

	if (__builtin_mul_overflow(value, machine->entry->data_alignment, &product))
		machine->code.failed = true;
	return machine->code.failed ? 0 : narrow(machine, product);
}

static int32_t unsigned_factored(struct machine *machine)
{
	return factored(machine, (int64_t)bytes_uleb128(&machine->code));
}

static int32_t signed_factored(struct machine *machine)
{
	return factored(machine, bytes_sleb128(&machine->code));
}

/* Position of a block with its length before it; steps over it. */
static int32_t block(struct machine *machine)
{
	size_t position = machine->code.at;

	bytes_skip(&machine->code, bytes_uleb128(&machine->code));
	return narrow(machine, (int64_t)position);
}

/* Rules for registers we do not follow (vector registers) are read and forgotten. */
static void set_rule(struct machine *machine, uint64_t number, enum cfi_rule rule, int32_t operand)
{
	if (number >= UNWIND_REGISTER_COUNT)
		return;
	machine->row.rule[number] = (uint8_t)rule;
	machine->row.operand[number] = operand;
}

static void restore_rule(struct machine *machine, uint64_t number)
{
	if (number < UNWIND_REGISTER_COUNT)
		set_rule(machine, number, machine->initial.rule[number],
			 machine->initial.operand[number]);
}

static void set_frame(struct machine *machine, uint64_t number, int32_t offset)
{
	if (number >= UNWIND_REGISTER_COUNT)
		machine->code.failed = true;
	machine->row.frame_register = (uint8_t)number;
	machine->row.frame_operand = offset;
}

static void advance(struct machine *machine, uint64_t steps)
{
	machine->location += steps * machine->entry->code_alignment;
	machine->passed = machine->location > machine->pc;
}

static void remember(struct machine *machine)
{
	if (machine->depth == REMEMBER_DEPTH)
		machine->code.failed = true;
	else
		machine->remembered[machine->depth++] = machine->row;
}

static void recall(struct machine *machine)
{
	if (machine->depth == 0)
		machine->code.failed = true;
	else
		machine->row = machine->remembered[--machine->depth];
}

/* Instructions that say where the frame is. False: not one of them. */
static bool run_frame(struct machine *machine, uint8_t instruction)
{
	struct bytes *code = &machine->code;
	uint64_t number;

	switch (instruction) {
	case FRAME:
		number = bytes_uleb128(code);
		set_frame(machine, number, narrow(machine, (int64_t)bytes_uleb128(code)));
		return true;
	case FRAME_SIGNED:
		number = bytes_uleb128(code);
		set_frame(machine, number, signed_factored(machine));
		return true;
	case FRAME_REGISTER:
		set_frame(machine, bytes_uleb128(code), machine->row.frame_operand);
		return true;
	case FRAME_OFFSET:
		machine->row.frame_operand = narrow(machine, (int64_t)bytes_uleb128(code));
		return true;
	case FRAME_OFFSET_SIGNED:
		machine->row.frame_operand = signed_factored(machine);
		return true;
	case FRAME_EXPRESSION:
		machine->row.frame_register = CFI_FRAME_BY_EXPRESSION;
		machine->row.frame_operand = block(machine);
		return true;
	case REMEMBER_STATE:
		remember(machine);
		return true;
	case RESTORE_STATE:
		recall(machine);
		return true;
	default:
		return false;
	}
}

static bool run_location(struct machine *machine, uint8_t instruction)
{
	struct bytes *code = &machine->code;

	switch (instruction) {
	case SET_LOCATION:
		machine->location = bytes_pointer(code, machine->entry->pointer_encoding, 0);
		advance(machine, 0);
		return true;
	case ADVANCE_1:
		advance(machine, bytes_unsigned(code, 1));
		return true;
	case ADVANCE_2:
		advance(machine, bytes_unsigned(code, 2));
		return true;
	case ADVANCE_4:
		advance(machine, bytes_unsigned(code, 4));
		return true;
	case ADVANCE_8:
		advance(machine, bytes_unsigned(code, 8));
		return true;
	default:
		return false;
	}
}

/* Instructions that say where a register was saved; each begins with the register. */
static bool run_register(struct machine *machine, uint8_t instruction)
{
	struct bytes *code = &machine->code;
	uint64_t number = bytes_uleb128(code);

	switch (instruction) {
	case OFFSET_EXTENDED:
		set_rule(machine, number, CFI_OFFSET, unsigned_factored(machine));
		return true;
	case OFFSET_EXTENDED_SIGNED:
		set_rule(machine, number, CFI_OFFSET, signed_factored(machine));
		return true;
	case OFFSET_EXTENDED_NEGATIVE:
		set_rule(machine, number, CFI_OFFSET,
			 factored(machine, (int64_t)(0 - bytes_uleb128(code))));
		return true;
	case VALUE_OFFSET:
		set_rule(machine, number, CFI_VALUE_OFFSET, unsigned_factored(machine));
		return true;
	case VALUE_OFFSET_SIGNED:
		set_rule(machine, number, CFI_VALUE_OFFSET, signed_factored(machine));
		return true;
	case REGISTER:
		set_rule(machine, number, CFI_REGISTER,
			 narrow(machine, (int64_t)bytes_uleb128(code)));
		return true;
	case EXPRESSION:
		set_rule(machine, number, CFI_EXPRESSION, block(machine));
		return true;
	case VALUE_EXPRESSION:
		set_rule(machine, number, CFI_VALUE_EXPRESSION, block(machine));
		return true;
	case RESTORE_EXTENDED:
		restore_rule(machine, number);
		return true;
	case UNDEFINED:
		set_rule(machine, number, CFI_UNDEFINED, 0);
		return true;
	case SAME_VALUE:
		set_rule(machine, number, CFI_SAME, 0);
		return true;
	default:
		return false;
	}
}

static bool run_other(struct machine *machine, uint8_t instruction)
{
	switch (instruction) {
	case NOP:
	case WINDOW_SAVE:
		return true;
	case ARGUMENTS_SIZE: /* for landing pads alone */
		bytes_uleb128(&machine->code);
		return true;
	default:
		return false;
	}
}

static void run_instruction(struct machine *machine)
{
	uint8_t instruction = (uint8_t)bytes_unsigned(&machine->code, 1);
	uint8_t low = instruction & 0x3f;

	switch (instruction & 0xc0) {
	case ADVANCE:
		advance(machine, low);
		return;
	case OFFSET:
		set_rule(machine, low, CFI_OFFSET, unsigned_factored(machine));
		return;
	case RESTORE:
		restore_rule(machine, low);
		return;
	default:
		break;
	}
	if (!run_other(machine, instruction) && !run_location(machine, instruction) &&
	    !run_frame(machine, instruction) && !run_register(machine, instruction))
		machine->code.failed = true;
}

/* Every instruction takes a byte at least, so this ends. */
static int run_program(struct machine *machine, struct cfi_range range)
{
	machine->code.at = range.first;
	machine->code.length = range.end;
	while (machine->code.at < range.end && !machine->code.failed && !machine->passed)
		run_instruction(machine);
	return machine->code.failed ? -EINVAL : 0;
}

int cfi_find_row(const struct bytes *section, const struct cfi_entry *entry, uint64_t pc,
		 struct cfi_row *row)
{
	struct machine machine;

	machine.code = *section;
	machine.code.failed = false;
	machine.entry = entry;
	machine.location = entry->start;
	machine.pc = pc;
	machine.depth = 0;
	machine.passed = false;
	memset(&machine.row, 0, sizeof(machine.row));
	machine.row.frame_register = UNWIND_SP;
	machine.initial = machine.row;
	if (run_program(&machine, entry->common_program))
		return -EINVAL;
	machine.initial = machine.row;
	machine.location = entry->start;
	machine.passed = false;
	if (run_program(&machine, entry->program))
		return -EINVAL;
	*row = machine.row;
	return 0;
}
