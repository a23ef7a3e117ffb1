/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the first instructions of a function. The copy that is made of them is no longer
 * than it may be and does what they do: instructions that do not leave are the same but for where
 * they lie, and reach the same memory.
 */
#include <stdlib.h>
#include <string.h>

#include "insn/insn.h"
#include "patch/patch.h"

#define REGISTER_PC 16

/* Code and its copy are as near to each other as a site's are at most: 2 GiB. */
static uint8_t code[64], copy[PATCH_COPY_MAX];

/* As examine.c finds them: whole instructions until the jump has room. */
static bool find_beyond(struct patch_site *site)
{
	uintptr_t at = site->entry;
	struct insn insn;

	while (at < site->entry + PATCH_JUMP_LENGTH) {
		if (patch_decode(at, (uintptr_t)code + sizeof(code), &insn) ||
		    insn.flow == INSN_FLOW_TRAP)
			return false;
		site->boundaries |= (uint8_t)(1u << (at - site->entry));
		at += insn.length;
	}
	site->beyond = at;
	return true;
}

static uint64_t reached(const struct insn *insn, unsigned operand, uintptr_t at)
{
	return insn->operand[operand].base == REGISTER_PC
		       ? at + insn->length + (uint64_t)insn->operand[operand].displacement
		       : (uint64_t)insn->operand[operand].displacement;
}

static void check_copied(uintptr_t from, uintptr_t to)
{
	struct insn before, after;

	if (insn_decode((const uint8_t *)from, INSN_MAX_LENGTH, from, &before))
		abort();
	if (before.flow != INSN_FLOW_NEXT && before.flow != INSN_FLOW_RETURN &&
	    before.flow != INSN_FLOW_SYSCALL)
		return;
	if (insn_decode((const uint8_t *)to, INSN_MAX_LENGTH, to, &after) ||
	    after.length != before.length || after.flow != before.flow ||
	    after.operand_count != before.operand_count ||
	    after.address_taken != before.address_taken)
		abort();
	for (unsigned i = 0; i < before.operand_count; i++)
		if (reached(&before, i, from) != reached(&after, i, to))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct patch_site site = {.start = (uintptr_t)code, .entry = (uintptr_t)code};

	memset(code, 0xcc, sizeof(code));
	memcpy(code, bytes, size < sizeof(code) / 2 ? size : sizeof(code) / 2);
	if (!find_beyond(&site) || patch_copy(&site, copy))
		return 0;
	for (unsigned i = 0; i < PATCH_JUMP_LENGTH; i++)
		if (patch_begins(&site, i))
			check_copied(site.entry + i, (uintptr_t)copy + site.offset[i]);
	return 0;
}
