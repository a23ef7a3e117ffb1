/* SPDX-License-Identifier: Apache-2.0 */
/* All the bytes that a call received, of which a hit tells those of one word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/syscall.h>
#include <trapline/event.h>

#include "insn/insn.h"
#include "uninit/received.h"

#define BUFFER 0x1004u

static struct tl_registers registers;

static struct tl_access hit(int call, int64_t result)
{
	registers.general[insn_arch.call_argument[1]] = BUFFER;
	registers.general[insn_arch.call_argument[2]] = 100;
	registers.general[insn_arch.call_result] = (uint64_t)result;
	return (struct tl_access){.size = sizeof(struct tl_access),
				  .address = 0x1010,
				  .length = 8,
				  .access = TL_WRITE | TL_KERNEL,
				  .traits = TL_TRAIT_CONTENT,
				  .registers = &registers,
				  .call_known = true,
				  .call = call};
}

static void all_of_it_is_told(void **state)
{
	struct tl_access access = hit(SYS_read, 24), whole;

	(void)state;
	assert_true(uninit_received(&access, &whole));
	assert_int_equal(whole.address, BUFFER);
	assert_int_equal(whole.length, 24);
	access = hit(SYS_pread64, 1000);
	assert_true(uninit_received(&access, &whole));
	assert_int_equal(whole.length, 100);
}

static void nothing_is_told_by_other_calls(void **state)
{
	struct tl_access access = hit(SYS_readv, 24), whole;

	(void)state;
	assert_false(uninit_received(&access, &whole));
	access = hit(SYS_read, -14);
	assert_false(uninit_received(&access, &whole));
	access = hit(SYS_read, 0);
	assert_false(uninit_received(&access, &whole));
	access = hit(SYS_read, 12); /* it ends before what was hit */
	assert_false(uninit_received(&access, &whole));
	access = hit(SYS_read, 24);
	access.registers = NULL;
	assert_false(uninit_received(&access, &whole));
	access = hit(SYS_read, 24);
	access.traits = 0;
	assert_false(uninit_received(&access, &whole));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it_is_told),
		cmocka_unit_test(nothing_is_told_by_other_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
