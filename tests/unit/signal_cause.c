/* SPDX-License-Identifier: Apache-2.0 */
/* Which SIGTRAPs have a cause. */
#include "signal/cause.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define STEP 0x100

struct row {
	const char *what;
	int code;
	unsigned long flags;
	int before; /* the byte in front of pc; negative: nothing is mapped there */
	bool missing;
};

static const struct row rows[] = {
	{"kill(2)", SI_USER, 0, 0x90, false},
	{"tgkill(2)", SI_TKILL, 0, 0x90, false},
	{"sigqueue(3)", SI_QUEUE, 0, 0x90, false},
	{"int3", SI_KERNEL, 0, 0xcc, false},
	{"int1", TRAP_BRKPT, 0, 0xf1, false},
	{"int1 of code that cannot be read", TRAP_BRKPT, 0, -1, false},
	{"no reason in DR6", TRAP_BRKPT, 0, 0x90, true},
	{"a single step", TRAP_TRACE, STEP, 0x90, false},
	{"popf that ends stepping", TRAP_TRACE, 0, 0x9d, false},
	{"iret that ends stepping", TRAP_TRACE, 0, 0xcf, false},
	{"a step of code that cannot be read", TRAP_TRACE, 0, -1, false},
	{"a step that nobody asked for", TRAP_TRACE, 0, 0x90, true},
	{"a watchpoint that is gone", 4, 0, 0x90, true},
	{"a perf event", 6, 0, 0x90, false},
};

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t code[2] = {(uint8_t)rows[i].before, 0x90};
		uintptr_t pc = rows[i].before < 0 ? 1 : (uintptr_t)&code[1];
		siginfo_t info = {.si_signo = SIGTRAP, .si_code = rows[i].code};
		ucontext_t context = {0};

		context.uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
		context.uc_mcontext.gregs[REG_EFL] = (greg_t)rows[i].flags;
		if (cause_is_missing(&info, &context) != rows[i].missing)
			fail_msg("%s", rows[i].what);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
