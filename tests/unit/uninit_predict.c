/* SPDX-License-Identifier: Apache-2.0 */
/* What is loaded of a frame before it is stored to, and which of that tells most. */
#include "uninit/predict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define CODE 0x1000u
#define OUTSIDE 0x1100u /* a function that is not looked into */
#define TOP 0x7ff000u	/* the stack pointer at entry, where the return address stands */

struct code {
	uint8_t bytes[48];
	unsigned length;
	uint64_t returns_to;
};

static int read_memory(void *context, uint64_t address, void *to, size_t length)
{
	const struct code *code = context;

	memset(to, 0, length);
	if (address == TOP && length == sizeof(code->returns_to))
		memcpy(to, &code->returns_to, length);
	return 0;
}

static size_t read_code(void *context, uint64_t pc, uint8_t *bytes, size_t max)
{
	const struct code *code = context;
	size_t at = pc - CODE, length;

	if (at >= code->length)
		return 0;
	length = code->length - at < max ? code->length - at : max;
	memcpy(bytes, code->bytes + at, length);
	return length;
}

static bool is_outside(void *context, const struct insn_forward *forward,
		       struct predict_outside *outside)
{
	(void)context;
	(void)outside;
	return forward->pc == OUTSIDE;
}

static bool is_function(void *context, uint64_t pc)
{
	(void)context;
	(void)pc;
	return false;
}

static void look_ahead(struct predict *predicting, struct code *code)
{
	struct tl_registers registers = {.pc = CODE};

	memset(predicting, 0, sizeof(*predicting));
	predicting->read = read_memory;
	predicting->code = read_code;
	predicting->outside = is_outside;
	predicting->function = is_function;
	predicting->context = code;
	predicting->steps = 100;
	registers.general[4] = TOP;
	predict(predicting, &registers);
}

static struct predict predicting;

static void test_own_frame(void **state)
{
	/* sub $0x18,%rsp; mov 0x8(%rsp),%eax; add $0x18,%rsp; ret */
	struct code code = {{0x48, 0x83, 0xec, 0x18, 0x8b, 0x44, 0x24, 0x08, 0x48, 0x83, 0xc4, 0x18,
			     0xc3},
			    13,
			    0};
	const struct predict_load *load;

	(void)state;
	look_ahead(&predicting, &code);
	load = predict_best(&predicting, 0);
	assert_non_null(load);
	assert_int_equal(load->address, TOP - 0x10);
	assert_false(load->handed);
	assert_false(load->beyond);
	assert_int_equal(load->straight, CODE + 4);
	assert_null(predict_best(&predicting, 1));
}

/* Where the caller goes on, it loads what lies where the function's frame was. */
static void test_behind_return(void **state)
{
	/* ret; sub $0x20,%rsp; mov 0x8(%rsp),%eax; hlt */
	struct code code = {
		{0xc3, 0x48, 0x83, 0xec, 0x20, 0x8b, 0x44, 0x24, 0x08, 0xf4}, 10, CODE + 1};
	const struct predict_load *load;

	(void)state;
	look_ahead(&predicting, &code);
	load = predict_best(&predicting, 0);
	assert_non_null(load);
	assert_int_equal(load->address, TOP + 8 - 0x20 + 8);
	assert_true(load->beyond);
}

/* A buffer that the function hands on comes before what other frames will hold, and behind what it
 * loads itself, wherever the thread comes to each. */
static void test_order(void **state)
{
	/* sub $0x48,%rsp; lea 0x10(%rsp),%rdi; call OUTSIDE; mov (%rsp),%eax; add $0x48,%rsp; ret;
	 * mov -0x60(%rsp),%eax; hlt */
	struct code code = {{0x48, 0x83, 0xec, 0x48, 0x48, 0x8d, 0x7c, 0x24, 0x10,
			     0xe8, 0xf2, 0x00, 0x00, 0x00, 0x8b, 0x04, 0x24, 0x48,
			     0x83, 0xc4, 0x48, 0xc3, 0x8b, 0x44, 0x24, 0xa0, 0xf4},
			    27,
			    CODE + 22};

	(void)state;
	look_ahead(&predicting, &code);
	assert_int_equal(predicting.loads, 3);
	assert_int_equal(predict_best(&predicting, 0)->address, TOP - 0x48);
	assert_int_equal(predict_best(&predicting, 1)->address, TOP - 0x38);
	assert_true(predict_best(&predicting, 1)->handed);
	assert_true(predict_best(&predicting, 2)->beyond);
	assert_null(predict_best(&predicting, 3));
}

/* What is loaded behind a function that was handed it comes before what nobody loads. */
static void test_presumed(void **state)
{
	/* sub $0x48,%rsp; mov %rsp,%rdi; call OUTSIDE; mov 0x20(%rsp),%eax; add $0x48,%rsp; hlt */
	struct code code = {{0x48, 0x83, 0xec, 0x48, 0x48, 0x89, 0xe7, 0xe8, 0xf4, 0x00, 0x00,
			     0x00, 0x8b, 0x44, 0x24, 0x20, 0x48, 0x83, 0xc4, 0x48, 0xf4},
			    21,
			    0};

	(void)state;
	look_ahead(&predicting, &code);
	assert_int_equal(predicting.loads, 2);
	assert_int_equal(predict_best(&predicting, 0)->address, TOP - 0x28);
	assert_true(predict_best(&predicting, 0)->presumed);
	assert_int_equal(predict_best(&predicting, 0)->straight, 0);
	assert_int_equal(predict_best(&predicting, 1)->address, TOP - 0x48);
	assert_true(predict_best(&predicting, 1)->handed);
}

/* Where there are more than are kept, those go that tell least. */
static void test_full(void **state)
{
	struct code code = {.returns_to = CODE + 1};
	unsigned at = 0;

	(void)state;
	/* sub $0x78,%rsp; lea (%rsp),%rdi; call OUTSIDE … */
	memcpy(code.bytes, "\x48\x83\xec\x78\x48\x8d\x3c\x24\xe8\xf3\x00\x00\x00", 13);
	at = 13;
	/* … then mov -N(%rsp),%al for as many words as are kept. */
	for (unsigned i = 1; i <= PREDICT_LOADS && at + 4 <= sizeof(code.bytes); i++, at += 4)
		memcpy(code.bytes + at, (uint8_t[]){0x8a, 0x44, 0x24, (uint8_t)(-8 * (int)i - 8)},
		       4);
	code.length = at;
	look_ahead(&predicting, &code);
	assert_int_equal(predicting.loads, PREDICT_LOADS);
	for (unsigned i = 0; i < predicting.loads; i++)
		assert_false(predicting.load[i].handed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_frame), cmocka_unit_test(test_behind_return),
		cmocka_unit_test(test_order),	  cmocka_unit_test(test_presumed),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
