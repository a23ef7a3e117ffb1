/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A copy of a function's first instructions that behaves as the original: operands relative to the
 * pc are set anew, jumps and calls lead where they led, and a call leaves the original's return
 * address, so that stacks unwind as before. At its end it goes on in the original.
 */
#include "patch/patch.h"

#include "insn/far_jump.h"
#include "insn/insn.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define REGISTER_PC 16
#define REGISTER_RSP 4
#define CALL_INDIRECT 2 /* the reg field of opcode ff: which operation; Intel SDM, table A-6 */
#define JUMP_INDIRECT 4

struct writer {
	const struct patch_site *site;
	uint8_t *to;
	size_t length;			/* bytes of the copy so far */
	uintptr_t from;			/* address of the instruction that is being copied, */
	uint8_t bytes[INSN_MAX_LENGTH]; /* its bytes, and what they mean */
	struct insn insn;
};

static void put(struct writer *writer, const void *bytes, size_t length)
{
	memcpy(writer->to + writer->length, bytes, length);
	writer->length += length;
}

static uintptr_t end_of_insn(const struct writer *writer)
{
	return writer->from + writer->insn.length;
}

static void put_far_jump(struct writer *writer, uintptr_t target)
{
	far_jump_put(writer->to + writer->length, target);
	writer->length += FAR_JUMP_LENGTH;
}

/* push $low; movl $high, 4(%rsp). */
static void put_push(struct writer *writer, uint64_t value)
{
	static const uint8_t push = 0x68, store[] = {0xc7, 0x44, 0x24, 0x04};
	uint32_t low = (uint32_t)value, high = (uint32_t)(value >> 32);

	put(writer, &push, sizeof(push));
	put(writer, &low, sizeof(low));
	put(writer, store, sizeof(store));
	put(writer, &high, sizeof(high));
}

/* A conditional branch becomes the opposite one over a far jump. Only jcc, short or long, can be
 * turned round: loop and jrcxz have no opposite. */
static int put_branch(struct writer *writer)
{
	uint8_t inverted[2] = {0, FAR_JUMP_LENGTH};

	if (writer->insn.conditional) {
		if (writer->bytes[0] >> 4 == 7)
			inverted[0] = writer->bytes[0] ^ 1;
		else if (writer->bytes[0] == 0x0f && writer->bytes[1] >> 4 == 8)
			inverted[0] = (uint8_t)(0x70 | ((writer->bytes[1] & 15) ^ 1));
		else
			return -ENOTSUP;
		put(writer, inverted, sizeof(inverted));
	}
	put_far_jump(writer, (uintptr_t)writer->insn.target);
	return 0;
}

/* Where in `bytes` the displacement of the pc-relative operand lies: at the only place where a
 * change of the bytes changes it. -1: it was not found. */
static int find_displacement(const uint8_t *bytes, const struct insn *insn, unsigned operand)
{
	uint8_t changed[INSN_MAX_LENGTH];
	struct insn decoded;

	for (int at = 1; at + 4 <= insn->length; at++) {
		int32_t value;

		memcpy(&value, bytes + at, sizeof(value));
		if (value != insn->operand[operand].displacement)
			continue;
		memcpy(changed, bytes, insn->length);
		changed[at] ^= 0x55;
		memcpy(&value, changed + at, sizeof(value));
		if (!insn_decode(changed, insn->length, 0, &decoded) &&
		    decoded.length == insn->length && operand < decoded.operand_count &&
		    decoded.operand[operand].base == REGISTER_PC &&
		    decoded.operand[operand].displacement == value)
			return at;
	}
	return -1;
}

static int relocate_operand(struct writer *writer, unsigned operand)
{
	int at = find_displacement(writer->bytes, &writer->insn, operand);
	intptr_t moved = (intptr_t)(writer->from - (uintptr_t)(writer->to + writer->length));
	int64_t displacement = writer->insn.operand[operand].displacement + moved;
	int32_t value = (int32_t)displacement;

	if (at < 0)
		return -ENOTSUP;
	if (value != displacement)
		return -ERANGE;
	memcpy(writer->bytes + at, &value, sizeof(value));
	return 0;
}

static int relocate_operands(struct writer *writer)
{
	bool done = false;
	int err = 0;

	/* A read-modify-write may be listed as two operands, with one displacement. */
	for (unsigned i = 0; i < writer->insn.operand_count && !err && !done; i++)
		if (writer->insn.operand[i].base == REGISTER_PC) {
			err = relocate_operand(writer, i);
			done = true;
		}
	return err;
}

/* An indirect call becomes a push of the original's return address and an indirect jump by the same
 * operand. An operand that counts from rsp is refused, since the push has moved rsp. */
static int put_indirect_call(struct writer *writer)
{
	struct insn decoded;
	unsigned opcode = 0;
	int err;

	for (unsigned i = 0; i < writer->insn.operand_count; i++)
		if (!writer->insn.operand[i].stack_push &&
		    (writer->insn.operand[i].base == REGISTER_RSP ||
		     writer->insn.operand[i].index == REGISTER_RSP))
			return -ENOTSUP;
	while (opcode + 2u < writer->insn.length && writer->bytes[opcode] != 0xff)
		opcode++;
	if (writer->bytes[opcode] != 0xff || (writer->bytes[opcode + 1] >> 3 & 7) != CALL_INDIRECT)
		return -ENOTSUP;
	put_push(writer, end_of_insn(writer));
	err = relocate_operands(writer);
	writer->bytes[opcode + 1] ^= (CALL_INDIRECT ^ JUMP_INDIRECT) << 3;
	if (!err && (insn_decode(writer->bytes, writer->insn.length, 0, &decoded) ||
		     decoded.flow != INSN_FLOW_JUMP_INDIRECT))
		err = -ENOTSUP;
	put(writer, writer->bytes, writer->insn.length);
	return err;
}

/* The displacement of a lea is its last four bytes, since no immediate follows it. A lea that
 * computes only the low 32 bits is right at any distance: the decoder tells whether the address
 * that it takes is still the same. */
static int relocate_address(struct writer *writer)
{
	const struct insn *insn = &writer->insn;
	uintptr_t at = (uintptr_t)(writer->to + writer->length);
	int32_t displacement = (int32_t)(insn->address_taken - (at + insn->length));
	struct insn moved;

	memcpy(writer->bytes + insn->length - sizeof(displacement), &displacement,
	       sizeof(displacement));
	if (insn_decode(writer->bytes, insn->length, at, &moved) || !moved.takes_address)
		return -ENOTSUP;
	return moved.address_taken == insn->address_taken ? 0 : -ERANGE;
}

static int put_plain(struct writer *writer)
{
	int err = writer->insn.takes_address ? relocate_address(writer) : relocate_operands(writer);

	put(writer, writer->bytes, writer->insn.length);
	return err;
}

/* A call is copied as a push and a jump, which put nothing on a shadow stack: the return would be a
 * fault. So a function that begins with a call is refused in a process that has one. */
static bool has_shadow_stack(void)
{
	FILE *status = fopen("/proc/self/status", "re");
	char line[256];
	bool found = false;

	while (status && !found && fgets(line, sizeof(line), status))
		found = strstr(line, "x86_Thread_features:") && strstr(line, "shstk");
	if (status)
		fclose(status);
	return found;
}

static int put_insn(struct writer *writer)
{
	switch (writer->insn.flow) {
	case INSN_FLOW_BRANCH:
		return put_branch(writer);
	case INSN_FLOW_CALL:
		if (has_shadow_stack())
			return -ENOTSUP;
		put_push(writer, end_of_insn(writer));
		put_far_jump(writer, (uintptr_t)writer->insn.target);
		return 0;
	case INSN_FLOW_CALL_INDIRECT:
		return has_shadow_stack() ? -ENOTSUP : put_indirect_call(writer);
	default:
		return put_plain(writer);
	}
}

/* Each instruction becomes at most a push of 13 bytes and INSN_MAX_LENGTH more, and at most five
 * begin in the jump's bytes. */
_Static_assert(PATCH_JUMP_LENGTH *(13 + INSN_MAX_LENGTH) + FAR_JUMP_LENGTH <= PATCH_COPY_MAX,
	       "a copy has room");

int patch_copy(struct patch_site *site, uint8_t *out)
{
	struct writer writer = {.site = site, .to = out, .from = site->entry};
	int err = 0;

	while (writer.from < site->beyond && !err) {
		if (writer.from < site->entry + PATCH_JUMP_LENGTH)
			site->offset[writer.from - site->entry] = (uint16_t)writer.length;
		err = patch_decode(writer.from, site->beyond, &writer.insn);
		if (!err &&
		    patch_read(writer.from, writer.bytes, writer.insn.length) != writer.insn.length)
			err = -EFAULT;
		if (!err)
			err = put_insn(&writer);
		writer.from += writer.insn.length;
	}
	put_far_jump(&writer, site->beyond);
	return err;
}
