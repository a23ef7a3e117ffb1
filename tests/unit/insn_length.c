/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insn_length() measures common shapes from its own table. Every opcode of the one- and two-byte
 * maps, with every ModRM and the prefixes the table knows, must come out as the full decoder has
 * it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "insn/insn.h"
#include "insn/length.h"

static unsigned compare(const uint8_t *code)
{
	struct insn insn;
	int length = insn_length(code, INSN_MAX_LENGTH);
	int err = insn_decode(code, INSN_MAX_LENGTH, 0x1000, &insn);

	if (length == (err ? err : insn.length))
		return 0;
	print_error("%02x %02x %02x %02x %02x: %d, not %d\n", code[0], code[1], code[2], code[3],
		    code[4], length, err ? err : insn.length);
	return 1;
}

static unsigned compare_opcodes(uint8_t *code, unsigned at)
{
	unsigned wrong = 0;

	for (unsigned opcode = 0; opcode < 256; opcode++)
		for (unsigned modrm = 0; modrm < 256; modrm++) {
			code[at] = (uint8_t)opcode;
			code[at + 1] = (uint8_t)modrm;
			/* The SIB byte, with and without the base that brings a displacement. */
			code[at + 2] = (uint8_t)(modrm & 1 ? 0x25 : 0x24);
			wrong += compare(code);
		}
	return wrong;
}

static void every_shape_is_measured_as_decoded(void **state)
{
	static const uint8_t legacy[] = {0, 0x66, 0xf2, 0xf3};
	static const uint8_t rex[] = {0, 0x40, 0x48, 0x4f};
	unsigned wrong = 0;

	(void)state;
	for (unsigned i = 0; i < sizeof(legacy) * sizeof(rex) * 2; i++) {
		uint8_t code[INSN_MAX_LENGTH];
		unsigned at = 0;

		memset(code, 0x11, sizeof(code));
		if (legacy[i % 4])
			code[at++] = legacy[i % 4];
		if (rex[i / 4 % 4])
			code[at++] = rex[i / 4 % 4];
		if (i / 16)
			code[at++] = 0x0f;
		wrong += compare_opcodes(code, at);
	}
	assert_int_equal(wrong, 0);
}

static void cut_instructions_need_more(void **state)
{
	static const uint8_t code[] = {0x48, 0x81, 0x84, 0x24, 0x78, 0x56, 0x34, 0x12, 1, 2, 3, 4};

	(void)state;
	assert_int_equal(insn_length(code, sizeof(code)), sizeof(code));
	for (size_t available = 0; available < sizeof(code); available++)
		assert_int_equal(insn_length(code, available), -ENODATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_shape_is_measured_as_decoded),
		cmocka_unit_test(cut_instructions_need_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
