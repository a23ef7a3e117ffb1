/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What insn_decode() says of each form of insn_decode_forms.def, where its operands point before
 * it, and that the registers after it tell the same unless the form says they cannot. Then
 * properties that need state of their own: masks, gathers, the direction flag, the way back from an
 * end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trapline/event.h>

#include "insn/extended.h"
#include "insn/insn.h"
#include "insn/operand.h"

#define CODE 0x400000ul

struct form {
	const char *text, *bytes, *marks;
	enum insn_flow flow;
	const char *operands, *changes;
};

static const struct form forms[] = {
#define FORM(text, bytes, marks, flow, operands, changes) \
	{text, bytes, marks, INSN_FLOW_##flow, operands, changes},
#include "insn_decode_forms.def"
#undef FORM
};

static const char *const register_names[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp",
					       "rsi", "rdi", "r8",  "r9",  "r10", "r11",
					       "r12", "r13", "r14", "r15"};

static size_t parse_bytes(const char *text, uint8_t *bytes)
{
	size_t length = 0;
	char *end;

	for (unsigned long byte = strtoul(text, &end, 16); end != text;
	     byte = strtoul(text, &end, 16)) {
		bytes[length++] = (uint8_t)byte;
		text = end;
	}
	return length;
}

static void registers_before(struct insn_registers *registers)
{
	memset(registers, 0, sizeof(*registers));
	for (unsigned i = 0; i < 16; i++)
		registers->general[i] = 0x10000 * (i + 1);
	registers->pc = CODE;
	registers->fs_base = 0x7000000;
	registers->gs_base = 0x8000000;
}

static unsigned register_named(const char *name)
{
	for (unsigned i = 0; i < 16; i++) {
		size_t length = strlen(register_names[i]);

		if (!strncmp(name, register_names[i], length) && strchr("+-=", name[length]))
			return i;
	}
	fail_msg("no register %s", name);
	return 0;
}

/* The registers after, and which of them changed. */
static unsigned apply_changes(const char *changes, struct insn_registers *registers)
{
	unsigned changed = 0;

	while (*changes) {
		unsigned number = register_named(changes);
		const char *operator= changes + strcspn(changes, "+-=");

		if (*operator== '=')
			registers->general[number] = strtoull(operator+ 1, NULL, 16);
		else
			registers->general[number] += (uint64_t)strtoll(operator, NULL, 10);
		changed |= 1u << number;
		changes += strcspn(changes, ",");
		changes += *changes == ',';
	}
	return changed;
}

static unsigned parse_access(const char **text)
{
	unsigned access = 0;

	for (; **text == 'R' || **text == 'W' || **text == '-'; (*text)++)
		access |= **text == 'R' ? TL_READ : **text == 'W' ? TL_WRITE : 0;
	return access;
}

static void check_operand(const struct form *form, const struct insn *insn, unsigned operand,
			  const char **text, const struct insn_registers *after)
{
	struct insn_registers before;
	unsigned access = parse_access(text);
	uint64_t first = 0, length = 0, expected_length, expected_first;
	char *end;

	expected_length = strtoull(*text, &end, 10);
	expected_first = strtoull(end + 1, &end, 16);
	registers_before(&before);
	if (operand >= insn->operand_count || insn->operand[operand].access != access ||
	    insn_operand_before(insn, operand, &before, &first, &length) ||
	    first != expected_first || length != expected_length)
		fail_msg("%s: operand %u: access %u, %llu bytes at %llx before", form->text,
			 operand, insn->operand[operand].access, (unsigned long long)length,
			 (unsigned long long)first);
	if (*end == '?') {
		assert_int_equal(insn_operand_after(insn, operand, after, &first, &length),
				 -ENODATA);
		end++;
	} else if (insn_operand_after(insn, operand, after, &first, &length) ||
		   first != expected_first || length != expected_length) {
		fail_msg("%s: operand %u: %llu bytes at %llx after", form->text, operand,
			 (unsigned long long)length, (unsigned long long)first);
	}
	*text = *end == ',' ? end + 1 : end;
}

static void check_operands(const struct form *form, const struct insn *insn)
{
	const char *text = form->operands;
	struct insn_registers after;
	unsigned count = 0, changed;

	registers_before(&after);
	changed = apply_changes(form->changes, &after);
	after.pc = CODE + insn->length;
	if ((changed & ~(unsigned)insn->written_registers) != 0)
		fail_msg("%s: writes %x, not %x", form->text, insn->written_registers, changed);
	while (*text)
		check_operand(form, insn, count++, &text, &after);
	if (count != insn->operand_count)
		fail_msg("%s: %u operands", form->text, insn->operand_count);
}

static bool marked(const struct form *form, char mark)
{
	return strchr(form->marks, mark) != NULL;
}

static void check_form(const struct form *form)
{
	uint8_t bytes[16];
	struct insn insn;
	size_t length = parse_bytes(form->bytes, bytes);

	if (insn_decode(bytes, length, CODE, &insn) || insn.length != length)
		fail_msg("%s: not decoded", form->text);
	if (insn.flow != form->flow || insn.plain_move != marked(form, 'p') ||
	    insn.atomic != marked(form, 'a') || insn.attempt != marked(form, 't') ||
	    insn.string != marked(form, 's') || insn.repeated != marked(form, 'r') ||
	    insn.vector != marked(form, 'v') || insn.whole_vector != marked(form, 'w') ||
	    insn.conditional != marked(form, 'c'))
		fail_msg(
			"%s: flow %u move %d atomic %d string %d rep %d vector %d whole %d cond %d",
			form->text, insn.flow, insn.plain_move, insn.atomic, insn.string,
			insn.repeated, insn.vector, insn.whole_vector, insn.conditional);
	check_operands(form, &insn);
	for (size_t less = 1; less < length; less++)
		if (insn_decode(bytes, less, CODE, &insn) == 0)
			assert_true(insn.length <= less);
}

#define SET(name)                                                                               \
	__asm__ volatile("push %1\n\tpopfq\n\tset" name " %0" : "=q"(set) : "r"(flags) : "cc"); \
	assert_int_equal(insn_condition_holds(flags, condition++), set)

/* As the processor takes them, for all values of the flags that conditions look at. */
static void conditions_hold(void **state)
{
	const uint64_t bits[] = {1, 4, 0x40, 0x80, 0x800};

	(void)state;
	for (unsigned mask = 0; mask < 32; mask++) {
		uint64_t flags = 0x202;
		unsigned condition = 0;
		uint8_t set;

		for (unsigned bit = 0; bit < 5; bit++)
			flags |= mask >> bit & 1 ? bits[bit] : 0;
		SET("o");
		SET("no");
		SET("b");
		SET("nb");
		SET("z");
		SET("nz");
		SET("be");
		SET("nbe");
		SET("s");
		SET("ns");
		SET("p");
		SET("np");
		SET("l");
		SET("nl");
		SET("le");
		SET("nle");
	}
}

static void moves_and_addresses(void **state)
{
	const uint8_t cmovne[] = {0x0f, 0x45, 0x05, 1, 2, 3, 4}; /* 0x4030201(%rip), %eax */
	const uint8_t load[] = {0x8b, 0x05, 1, 2, 3, 4};
	const uint8_t lea[] = {0x48, 0x8d, 0x05, 1, 2, 3, 4};
	const uint8_t nowhere[] = {0x48, 0x8d, 0x05, 0xf9, 0xff, 0xff, 0xff};
	const uint8_t low[] = {0x67, 0x48, 0x8d, 0x05, 1, 2, 3, 4}; /* 0x4030201(%eip), %rax */
	const uint8_t indexed[] = {0x48, 0x8d, 0x04, 0x08};
	const uint8_t setne[] = {0x0f, 0x95, 0x05, 1, 2, 3, 4};
	struct insn insn;

	(void)state;
	assert_int_equal(insn_decode(cmovne, sizeof(cmovne), CODE, &insn), 0);
	assert_int_equal(insn.move_condition, 5);
	assert_int_equal(insn.address_taken, 0);
	assert_int_equal(insn_decode(lea, sizeof(lea), CODE, &insn), 0);
	assert_int_equal(insn.address_taken, CODE + 7 + 0x4030201);
	assert_true(insn.takes_address);
	assert_int_equal(insn_decode(nowhere, sizeof(nowhere), 0, &insn), 0);
	assert_int_equal(insn.address_taken, 0);
	assert_true(insn.takes_address);
	assert_int_equal(insn_decode(low, sizeof(low), 0x7ffffffff000, &insn), 0);
	assert_int_equal(insn.address_taken, 0xfffff008 + 0x4030201ull - 0x100000000);
	assert_true(insn.takes_address);
	assert_int_equal(insn_decode(indexed, sizeof(indexed), CODE, &insn), 0);
	assert_false(insn.takes_address);
	assert_int_equal(insn_decode(load, sizeof(load), CODE, &insn), 0);
	assert_int_equal(insn.move_condition, -1);
	assert_int_equal(insn_decode(setne, sizeof(setne), CODE, &insn), 0);
	assert_int_equal(insn.move_condition, -1);
}

static void every_form_decodes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		check_form(&forms[i]);
}

static void decode(const char *bytes, struct insn *insn)
{
	uint8_t code[16];
	size_t length = parse_bytes(bytes, code);

	assert_int_equal(insn_decode(code, length, CODE, insn), 0);
}

static void branch_targets_are_absolute(void **state)
{
	struct insn insn;

	(void)state;
	decode("e8 00 01 00 00", &insn);
	assert_int_equal(insn.target, CODE + 5 + 0x100);
	decode("eb fe", &insn);
	assert_int_equal(insn.target, CODE);
	decode("0f 84 fa ff ff ff", &insn);
	assert_int_equal(insn.target, CODE);
	decode("ff d3", &insn); /* call *%rbx */
	assert_int_equal(insn.target_register, 3);
	decode("41 ff e4", &insn); /* jmp *%r12 */
	assert_int_equal(insn.target_register, 12);
}

static void bad_and_short_bytes_are_told_apart(void **state)
{
	struct insn insn;
	uint8_t bad[15] = {0x06}, cut[3] = {0x48, 0x8b, 0x80};

	(void)state;
	assert_int_equal(insn_decode(bad, sizeof(bad), CODE, &insn), -EILSEQ);
	assert_int_equal(insn_decode(cut, sizeof(cut), CODE, &insn), -ENODATA);
	assert_int_equal(insn_decode(cut, 0, CODE, &insn), -ENODATA);
}

static void the_direction_flag_turns_strings_around(void **state)
{
	struct insn_registers registers;
	struct insn insn;
	uint64_t first, length;

	(void)state;
	decode("f3 48 a5", &insn); /* rep movsq */
	registers_before(&registers);
	registers.flags = 1u << 10;
	registers.general[7] -= 8;
	assert_int_equal(insn_operand_after(&insn, 0, &registers, &first, &length), 0);
	assert_int_equal(first, 0x80000);
	registers.general[1] = 0;
	assert_int_equal(insn_operand_before(&insn, 0, &registers, &first, &length), 0);
	assert_int_equal(length, 0);
}

static void negative_bit_numbers_count_down(void **state)
{
	struct insn_registers registers;
	struct insn insn;
	uint64_t first, length;

	(void)state;
	decode("0f a3 07", &insn); /* bt %eax,(%rdi) */
	registers_before(&registers);
	registers.general[0] = 0x1ffffffffu; /* only eax counts: -1 */
	assert_int_equal(insn_operand_before(&insn, 0, &registers, &first, &length), 0);
	assert_int_equal(first, 0x80000 - 4);
}

/* An XSAVE area as an AVX-512 machine without MPX lays it out. */
struct state_area {
	uint8_t bytes[2696];
	struct insn_extended extended;
};

static void make_area(struct state_area *area)
{
	memset(area->bytes, 0, sizeof(area->bytes));
	area->bytes[512] = 0xe7; /* x87, SSE, AVX, opmask, both ZMM parts */
	area->extended.area = area->bytes;
	area->extended.length = sizeof(area->bytes);
	area->extended.layout = (struct insn_xsave_layout){576, 832, 896, 1408};
}

static void masks_select_elements(void **state)
{
	struct insn_registers registers;
	struct state_area area;
	struct insn insn;
	uint64_t first, length;

	(void)state;
	make_area(&area);
	registers_before(&registers);
	registers.extended = &area.extended;
	area.bytes[832 + 8] = 0x0c;	    /* k1: elements 2 and 3 */
	decode("62 f1 7e 49 7f 07", &insn); /* vmovdqu32 %zmm0,(%rdi){%k1} */
	assert_int_equal(insn_operand_before(&insn, 0, &registers, &first, &length), 0);
	assert_int_equal(first, 0x80008);
	assert_int_equal(length, 8);
	assert_int_equal(insn_operand_touch(&insn, 0, &registers, 0x80000, 8, &first, &length),
			 INSN_TOUCH_NO);
	assert_int_equal(insn_operand_touch(&insn, 0, &registers, 0x80004, 8, &first, &length),
			 INSN_TOUCH_YES);
	area.bytes[512] &= (uint8_t)~0x20; /* opmask in its initial state: no element */
	assert_int_equal(insn_operand_before(&insn, 0, &registers, &first, &length), 0);
	assert_int_equal(length, 0);
	registers.extended = NULL;
	assert_int_equal(insn_operand_touch(&insn, 0, &registers, 0x80000, 8, &first, &length),
			 INSN_TOUCH_MAYBE);
}

static void gathers_follow_their_indices(void **state)
{
	struct insn_registers registers;
	struct state_area area;
	struct insn insn;
	uint64_t first, length;
	int32_t indices[4] = {3, -1, 100, 0};

	(void)state;
	make_area(&area);
	memcpy(area.bytes + 160 + 2 * 16, indices, sizeof(indices));
	memset(area.bytes + 160 + 1 * 16, 0xff, 16);
	registers_before(&registers);
	registers.extended = &area.extended;
	decode("c4 e2 71 92 1c 97", &insn); /* vgatherdps %xmm1,(%rdi,%xmm2,4),%xmm3 */
	assert_int_equal(insn_operand_before(&insn, 0, &registers, &first, &length), 0);
	assert_int_equal(first, 0x80000 - 4);
	assert_int_equal(length, 4 * 101 + 4);
	assert_int_equal(insn_operand_touch(&insn, 0, &registers, 0x80190, 1, &first, &length),
			 INSN_TOUCH_MAYBE); /* the mask is gone afterwards */
	assert_int_equal(first, 0x80190);
	assert_int_equal(insn_operand_touch(&insn, 0, &registers, 0x80010, 4, &first, &length),
			 INSN_TOUCH_NO);
}

static void ranges_wrap_around(void **state)
{
	(void)state;
	assert_true(insn_overlap(UINT64_MAX - 3, 8, 0, 1));
	assert_true(insn_overlap(0, 1, UINT64_MAX - 3, 8));
	assert_false(insn_overlap(8, 8, 0, 8));
	assert_false(insn_overlap(0, 8, 8, 8));
}

static void previous_is_found_from_the_start_only(void **state)
{
	/* mov $0xc3c3c3c3,%eax; lock incl (%rdi); nop */
	static const uint8_t code[] = {0xb8, 0xc3, 0xc3, 0xc3, 0xc3, 0xf0, 0xff, 0x07, 0x90};
	struct insn insn, candidates[INSN_MAX_LENGTH];
	uint64_t at;
	int count;

	(void)state;
	assert_int_equal(insn_previous(code, sizeof(code), CODE, CODE + 8, &at, &insn), 0);
	assert_int_equal(at, CODE + 5);
	assert_true(insn.atomic);
	assert_int_equal(insn_previous(code, sizeof(code), CODE, CODE + 7, &at, &insn), -ENOENT);
	assert_int_equal(insn_previous(code, sizeof(code), CODE, CODE, &at, &insn), -ENOENT);
	assert_int_equal(insn_previous(code, 4, CODE, CODE + 8, &at, &insn), -ENOENT);
	count = insn_previous_candidates(code, 8, CODE + 8, candidates, INSN_MAX_LENGTH);
	assert_true(count >= 2);
	for (int i = 1; i < count; i++)
		assert_true(candidates[i].length < candidates[i - 1].length);
	assert_int_equal(insn_previous_candidates(code, 8, CODE + 8, candidates, 1), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conditions_hold),
		cmocka_unit_test(moves_and_addresses),
		cmocka_unit_test(every_form_decodes),
		cmocka_unit_test(branch_targets_are_absolute),
		cmocka_unit_test(bad_and_short_bytes_are_told_apart),
		cmocka_unit_test(the_direction_flag_turns_strings_around),
		cmocka_unit_test(negative_bit_numbers_count_down),
		cmocka_unit_test(masks_select_elements),
		cmocka_unit_test(gathers_follow_their_indices),
		cmocka_unit_test(ranges_wrap_around),
		cmocka_unit_test(previous_is_found_from_the_start_only),
	};

	_Static_assert(sizeof(forms) / sizeof(forms[0]) >= 120, "the table is meant to be broad");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
