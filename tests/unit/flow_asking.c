/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of what one instruction does to several places that are watched, and of code that is watched
 * right behind it, a processor may report all at one time: then the kernel's first signal is the
 * only one.
 */
#include "flow/asking.h"

#include "tool/set.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define START 0x1000
#define STORE 0x1003
#define PLACE 0x8000
#define THREAD 7
#define OTHER 8
#define PROCESS 3

#define COMPARE 0x1007
#define ZERO_FLAG 0x40u

/* mov (%rdi),%rax; mov %rax,(%rsi); ret; lock cmpxchg %rsi,(%rdi); ret */
static const uint8_t code[] = {0x48, 0x8b, 0x07, 0x48, 0x89, 0x06, 0xc3,
			       0xf0, 0x48, 0x0f, 0xb1, 0x37, 0xc3};

void tool_refuse(struct tl_host *host, pid_t pid)
{
	(void)host, (void)pid;
}

static struct tl_watch armed; /* last */

static int arm(struct tl_host *host, const struct tl_watch *watch)
{
	(void)host;
	armed = *watch;
	return 0;
}

static void disarm(struct tl_host *host, uint64_t cookie)
{
	(void)host, (void)cookie;
}

static uint64_t deaf;

static void count(struct tl_host *host, const char *name, uint64_t by)
{
	(void)host;
	deaf += strcmp(name, "flow-hits-deaf") ? 0 : by;
}

static int function(struct tl_host *host, pid_t pid, uint64_t pc, uint64_t *start, uint64_t *end)
{
	(void)host, (void)pid;
	*start = START;
	*end = START + sizeof(code);
	return pc - START < sizeof(code) ? 0 : -ENOENT;
}

static ssize_t read_code(struct tl_host *host, pid_t pid, uint64_t address, void *to, size_t length)
{
	uint64_t offset = address - START;

	(void)host, (void)pid;
	if (offset >= sizeof(code))
		return -EFAULT;
	if (length > sizeof(code) - offset)
		length = sizeof(code) - offset;
	memcpy(to, code + offset, length);
	return (ssize_t)length;
}

static const struct tl_services services = {.size = sizeof(services),
					    .arm = arm,
					    .disarm = disarm,
					    .count = count,
					    .function = function,
					    .read = read_code};

static unsigned forgotten[FLOW_QUESTIONS];

static void forget(void *state, unsigned question)
{
	(void)state;
	forgotten[question]++;
}

static const struct flow_asker asker = {.forget = forget};
static struct flow_asking asking;
static struct tl_access told[8];
static unsigned tellings;

static void tell(void *state, const struct tl_access *access)
{
	(void)state;
	told[tellings++] = *access;
}

/* One question watches the place and the store's code, another one nothing that is hit. */
static int ask(void **state)
{
	(void)state;
	asking = (struct flow_asking){.services = &services, .asker = &asker};
	memset(forgotten, 0, sizeof(forgotten));
	tellings = 0;
	for (unsigned i = 0; i < FLOW_QUESTIONS; i++)
		asking.question[i].item = FLOW_NO_ITEM;
	asking.question[0].item = asking.question[1].item = 0;
	asking.question[0].cookie = flow_asking_arm(&asking, PROCESS, PLACE, 8, TL_READ | TL_WRITE);
	asking.question[0].code_cookie = flow_asking_arm(&asking, PROCESS, STORE, 1, TL_EXEC);
	asking.question[1].cookie =
		flow_asking_arm(&asking, PROCESS, PLACE + 64, 8, TL_READ | TL_WRITE);
	return 0;
}

static struct tl_registers registers_at(uint64_t pc, uint64_t place)
{
	struct tl_registers registers = {.pc = pc};

	registers.general[7] = place;
	return registers;
}

static void load(uint64_t thread)
{
	const struct tl_registers registers = registers_at(STORE, PLACE);
	const struct tl_access access = {.size = sizeof(access),
					 .pid = PROCESS,
					 .identity = thread,
					 .pc = START,
					 .address = PLACE,
					 .length = 8,
					 .access = TL_READ,
					 .registers = &registers,
					 .cookie = asking.question[0].cookie};

	flow_asking_hit(&asking, &access, tell);
}

static void come_to_store(uint64_t thread, uint64_t place)
{
	const struct tl_registers registers = registers_at(STORE, place);
	const struct tl_access access = {.size = sizeof(access),
					 .pid = PROCESS,
					 .identity = thread,
					 .pc = STORE,
					 .address = STORE,
					 .access = TL_EXEC,
					 .before = true,
					 .registers = &registers,
					 .cookie = asking.question[0].code_cookie};

	flow_asking_hit(&asking, &access, tell);
}

static void an_access_tells_of_the_code_behind_it(void **state)
{
	(void)state;
	load(THREAD);
	assert_int_equal(tellings, 2);
	assert_int_equal(told[0].access, TL_READ);
	assert_int_equal(told[1].access, TL_EXEC);
	assert_int_equal(told[1].pc, STORE);
	assert_int_equal(told[1].cookie, asking.question[0].code_cookie);
	assert_int_equal(told[1].length, 0);
	assert_true(told[1].before);
}

static void code_that_was_told_of_is_not_told_again(void **state)
{
	(void)state;
	load(THREAD);
	come_to_store(THREAD, PLACE);
	assert_int_equal(tellings, 2);
	/* Another pass. */
	come_to_store(THREAD, PLACE);
	assert_int_equal(tellings, 3);
}

/* Another question asks about the same memory in a process that shares it, which is this one. */
static void watch_from_afar(void)
{
	asking.question[2].item = 0;
	asking.question[2].cookie =
		flow_asking_arm(&asking, PROCESS + 1, PLACE, 8, TL_READ | TL_WRITE);
	asking.question[2].far_cookie = flow_asking_arm(&asking, PROCESS, PLACE, 8, TL_WRITE);
}

static void store(void)
{
	struct tl_registers registers = registers_at(STORE + 3, 0);
	const struct tl_access access = {.size = sizeof(access),
					 .pid = PROCESS,
					 .identity = THREAD,
					 .pc = STORE,
					 .address = PLACE,
					 .length = 8,
					 .access = TL_WRITE,
					 .registers = &registers,
					 .cookie = asking.question[0].cookie};

	registers.general[6] = PLACE;
	flow_asking_hit(&asking, &access, tell);
}

static void a_store_is_told_to_who_asks_from_afar(void **state)
{
	(void)state;
	watch_from_afar();
	store();
	assert_int_equal(tellings, 2);
	assert_int_equal(told[1].access, TL_WRITE);
	assert_int_equal(told[1].address, PLACE);
	assert_int_equal(told[1].cookie, asking.question[2].far_cookie);
}

static void another_thread_comes_to_the_code(void **state)
{
	(void)state;
	load(THREAD);
	come_to_store(OTHER, PLACE);
	assert_int_equal(tellings, 3);
}

static void the_code_by_another_way(void **state)
{
	(void)state;
	load(THREAD);
	come_to_store(THREAD, PLACE + 8);
	assert_int_equal(tellings, 3);
}

/* The load may have come to the place, and nobody heard of it. */
static void code_alone_leaves_what_came_before_it_unknown(void **state)
{
	(void)state;
	come_to_store(THREAD, PLACE + 128);
	assert_int_equal(forgotten[0], 0);
	come_to_store(THREAD, PLACE);
	assert_int_equal(forgotten[0], 1);
	assert_int_equal(forgotten[1], 0);
	assert_int_equal(tellings, 2);
}

/* Where both signals came before, none is missing now. */
static void a_machine_that_tells_both(void **state)
{
	(void)state;
	load(THREAD);
	come_to_store(THREAD, PLACE);
	come_to_store(THREAD, PLACE);
	assert_int_equal(forgotten[0], 0);
}

static void exchange(uint64_t flags)
{
	struct tl_registers registers = registers_at(COMPARE + 5, PLACE);
	const struct tl_access access = {.size = sizeof(access),
					 .pid = PROCESS,
					 .identity = THREAD,
					 .pc = COMPARE,
					 .address = PLACE,
					 .length = 8,
					 .access = TL_READ | TL_WRITE | TL_ATOMIC,
					 .traits = TL_TRAIT_ATTEMPT,
					 .registers = &registers,
					 .cookie = asking.question[0].cookie};

	registers.flags = flags;
	flow_asking_hit(&asking, &access, tell);
}

static void a_comparison_that_fails_stores_nothing(void **state)
{
	(void)state;
	exchange(ZERO_FLAG);
	exchange(0);
	assert_int_equal(tellings, 2);
	assert_int_equal(told[0].access & (TL_READ | TL_WRITE), TL_READ | TL_WRITE);
	assert_int_equal(told[1].access & (TL_READ | TL_WRITE), TL_READ);
}

static void what_could_not_be_recorded(void **state)
{
	const struct tl_access access = {
		.size = sizeof(access), .pid = PROCESS, .after_loss = true};

	(void)state;
	flow_asking_hit(&asking, &access, tell);
	assert_int_equal(tellings, 0);
	assert_int_equal(forgotten[0], 1);
	assert_int_equal(forgotten[1], 1);
	assert_int_equal(forgotten[2], 0);
}

/* What a watch that has ended would have seen is missing, and so is all that goes by it. */
static void what_comes_when_another_watch_has_ended(void **state)
{
	const struct tl_registers registers = registers_at(STORE + 3, PLACE);
	const struct tl_access access = {.size = sizeof(access),
					 .pid = PROCESS,
					 .identity = THREAD,
					 .pc = START,
					 .address = PLACE,
					 .length = 8,
					 .access = TL_READ,
					 .registers = &registers,
					 .cookie = asking.question[0].cookie,
					 .others_ended = true};

	(void)state;
	deaf = 0;
	flow_asking_hit(&asking, &access, tell);
	assert_int_equal(tellings, 0);
	assert_int_equal(forgotten[0], 1);
	assert_int_equal(deaf, 1);
}

/* Those of other questions come and go meanwhile. */
static void a_watch_is_remembered_as_long_as_it_is_armed(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3 * FLOW_ASKED; i++)
		assert_int_not_equal(flow_asking_arm(&asking, PROCESS, PLACE + 8 * i, 8, TL_WRITE),
				     0);
	assert_true(flow_asking_is_code(&asking, asking.question[0].code_cookie));
	load(THREAD);
	assert_int_equal(tellings, 2);
	assert_int_equal(told[1].access, TL_EXEC);
}

#define STACK_POINTER 4

/* Of an instruction that is not known, on the stack; `read`: what was there after it. */
static void pop(uint64_t read)
{
	struct tl_registers registers = registers_at(STORE, 0);
	const struct tl_access access = {.size = sizeof(access),
					 .pid = PROCESS,
					 .identity = THREAD,
					 .pc = STORE,
					 .address = PLACE,
					 .length = 8,
					 .access = TL_GUESSED,
					 .value_known = true,
					 .value = read,
					 .registers = &registers,
					 .cookie = asking.question[0].cookie};

	registers.general[STACK_POINTER] = PLACE + 8;
	flow_asking_hit(&asking, &access, tell);
}

static void a_return_is_passed_over(void **state)
{
	(void)state;
	pop(STORE);
	assert_int_equal(tellings, 0);
	assert_int_equal(forgotten[0], 0);
	pop(STORE + 1);
	assert_int_equal(tellings, 1);
}

static void trap_in_kernel(unsigned traits)
{
	const struct tl_registers registers = registers_at(STORE, PLACE);
	const struct tl_access access = {.size = sizeof(access),
					 .pid = PROCESS,
					 .identity = 1,
					 .pc = START,
					 .address = PLACE,
					 .length = 8,
					 .access = TL_READ | TL_WRITE | TL_KERNEL | TL_GUESSED,
					 .traits = traits,
					 .registers = &registers,
					 .cookie = asking.question[0].cookie};

	for (unsigned i = 0; i < 16; i++) {
		tellings = 0;
		flow_asking_hit(&asking, &access, tell);
	}
}

static void frames_of_signals_are_passed_over_from_then_on(void **state)
{
	(void)state;
	trap_in_kernel(0);
	flow_asking_arm(&asking, PROCESS, PLACE, 8, TL_READ | TL_WRITE);
	assert_false(armed.program_only);
	trap_in_kernel(TL_TRAIT_UNEXPLAINED);
	flow_asking_arm(&asking, PROCESS, PLACE, 8, TL_READ | TL_WRITE);
	assert_true(armed.program_only);
	flow_asking_arm(&asking, PROCESS, PLACE + 64, 8, TL_READ | TL_WRITE);
	assert_false(armed.program_only);
	flow_asking_arm(&asking, PROCESS, PLACE, 1, TL_EXEC);
	assert_false(armed.program_only);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(an_access_tells_of_the_code_behind_it, ask),
		cmocka_unit_test_setup(code_that_was_told_of_is_not_told_again, ask),
		cmocka_unit_test_setup(a_store_is_told_to_who_asks_from_afar, ask),
		cmocka_unit_test_setup(another_thread_comes_to_the_code, ask),
		cmocka_unit_test_setup(the_code_by_another_way, ask),
		cmocka_unit_test_setup(code_alone_leaves_what_came_before_it_unknown, ask),
		cmocka_unit_test_setup(a_machine_that_tells_both, ask),
		cmocka_unit_test_setup(a_comparison_that_fails_stores_nothing, ask),
		cmocka_unit_test_setup(what_could_not_be_recorded, ask),
		cmocka_unit_test_setup(what_comes_when_another_watch_has_ended, ask),
		cmocka_unit_test_setup(a_watch_is_remembered_as_long_as_it_is_armed, ask),
		cmocka_unit_test_setup(a_return_is_passed_over, ask),
		cmocka_unit_test_setup(frames_of_signals_are_passed_over_from_then_on, ask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
