/* SPDX-License-Identifier: Apache-2.0 */
/* Does what a call prints depend on a value? */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "uninit/output.h"

#define BASE 0x10000u
#define TEXT (BASE + 512)
#define FIRST (insn_arch.function_argument[0])
#define SECOND (insn_arch.function_argument[1])
#define THIRD (insn_arch.function_argument[2])

static char memory[4096];
static struct shadow_state walk;
static struct shadow_answer answer;

static int read_memory(void *context, uint64_t address, void *to, size_t length)
{
	(void)context;
	if (address < BASE || address - BASE > sizeof(memory) - length)
		return -EFAULT;
	memcpy(to, memory + (address - BASE), length);
	return 0;
}

static bool is_one(void *context, uint64_t address)
{
	(void)context, (void)address;
	return true;
}

static int set_up(void **state)
{
	(void)state;
	memset(memory, 0, sizeof(memory));
	memset(&walk, 0, sizeof(walk));
	memset(&answer, 0, sizeof(answer));
	walk.forward.read = read_memory;
	walk.forward.known = 0xffff;
	walk.forward.general[FIRST] = BASE;
	walk.forward.general[SECOND] = TEXT;
	return 0;
}

static bool prints(const char *function)
{
	const struct uninit_streams streams = {is_one, NULL, false};

	memset(&answer, 0, sizeof(answer));
	return uninit_output(c_output_find(function), &walk, &streams, &answer);
}

static void digits_depend_on_it(void **state)
{
	(void)state;
	strcpy(memory, "%d %d\n");
	assert_true(prints("printf"));
	assert_false(answer.depends);
	walk.shadow.general[THIRD] = 0x100;
	assert_true(prints("printf"));
	assert_true(answer.depends);
	assert_false(answer.vague);
	/* Higher bits are not printed. */
	walk.shadow.general[THIRD] = 1ull << 32;
	assert_true(prints("printf"));
	assert_false(answer.depends);
}

static void characters_are_copied(void **state)
{
	(void)state;
	strcpy(memory, "%c%d\n");
	walk.shadow.general[SECOND] = 0xff;
	assert_false(prints("printf"));
	walk.shadow.general[THIRD] = 0xff;
	assert_true(prints("printf"));
	assert_true(answer.depends);
	assert_true(prints("putchar"));
	assert_false(answer.depends);
	walk.shadow.general[FIRST] = 0x80;
	assert_false(prints("putchar"));
}

static void strings_depend_as_far_as_they_go(void **state)
{
	static const uint8_t bits = 0xff;

	(void)state;
	strcpy(memory, "%s\n");
	strcpy(memory + (TEXT - BASE), "ten bytes.");
	shadow_write(&walk.shadow, TEXT + 20, &bits, 1);
	assert_true(prints("printf"));
	assert_false(answer.depends);
	shadow_write(&walk.shadow, TEXT + 3, &bits, 1);
	assert_true(prints("printf"));
	assert_true(answer.depends);
	assert_false(answer.vague);
	walk.shadow.vague_memory = true;
	assert_true(prints("printf"));
	assert_true(answer.depends);
	assert_true(answer.vague);
}

static void what_is_not_known_is_not_guessed(void **state)
{
	static const char *const formats[] = {"%ls", "%lc", "%d %n", "%1$d", "%"};

	(void)state;
	for (unsigned i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		strcpy(memory, formats[i]);
		assert_false(prints("printf"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(digits_depend_on_it, set_up),
		cmocka_unit_test_setup(characters_are_copied, set_up),
		cmocka_unit_test_setup(strings_depend_as_far_as_they_go, set_up),
		cmocka_unit_test_setup(what_is_not_known_is_not_guessed, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
