/* SPDX-License-Identifier: Apache-2.0 */
/* The value of a hit is what stands at its address, also where a load is cut to what its call is to
 * read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/state.h"
#include "hit/hit.h"
#include "process/space.h"
#include "reader/open.h"

/* Code that nobody runs. */
extern const uint8_t after_load[], after_own[], masked_store[], whole_store[];

__asm__(".text\n"
	"	movq (%rdi), %rax\n"
	"after_load:\n"
	"	nop\n"
	"	.cfi_startproc\n"
	"	movq (%rdi), %rdi\n"
	"after_own:\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"masked_store:\n"
	"	vpmaskmovq %ymm0, %ymm2, (%rdi)\n"
	"whole_store:\n"
	"	vmovdqu %ymm0, (%rdi)\n");

#define RDI 7 /* of the general registers, in the processor's order */

static uint8_t watched[AREA_VALUE];
static uint64_t cut_front, cut_length;

/* In place of the one that looks for a function of the C library. */
bool extent_settle(struct target *target, const struct slot *slot,
		   const struct insn_registers *registers, struct hit *hit)
{
	(void)target, (void)slot, (void)registers;
	hit->access.address += cut_front;
	hit->access.length = cut_length;
	return true;
}

struct bench {
	struct control control;
	struct target target;
	struct area_hit record;
	struct hit hit;
};

static int set_up(void **state)
{
	struct bench *bench = calloc(1, sizeof(*bench));
	struct target *target = &bench->target;

	target->control = &bench->control;
	target->program = &bench->control.program;
	target->pid = getpid();
	assert_int_equal(symbol_session_open(&target->program->session, NULL), 0);
	assert_int_equal(space_open(&target->space, target->program->session, getpid()), 0);
	target->slot[0] = (struct slot){.armed = true,
					.watch = {.address = (uintptr_t)watched,
						  .length = 8,
						  .access = TL_READ | TL_WRITE}};
	for (unsigned i = 0; i < sizeof(watched); i++)
		watched[i] = (uint8_t)(0x10 + i);
	bench->record.registers.pc = (uintptr_t)after_load;
	bench->record.registers.general[RDI] = (uintptr_t)watched;
	bench->record.address = bench->record.value_address = (uintptr_t)watched;
	*state = bench;
	return 0;
}

static int tear_down(void **state)
{
	struct bench *bench = *state;

	free(bench->hit.stack_bytes);
	space_close(bench->target.space);
	symbol_session_close(bench->target.program->session);
	free(bench);
	return 0;
}

/* So many bytes were noted, and the load is cut so. */
static const struct tl_access *attribute(struct bench *bench, uint32_t noted, uint64_t front,
					 uint64_t length)
{
	bench->record.value_length = noted;
	memcpy(bench->record.value, watched, noted);
	cut_front = front;
	cut_length = length;
	assert_true(
		hit_attribute(&bench->target, &bench->target.slot[0], &bench->record, &bench->hit));
	assert_int_equal(bench->hit.access.address, (uintptr_t)watched + front);
	return &bench->hit.access;
}

static void a_whole_load_has_its_value(void **state)
{
	const struct tl_access *access = attribute(*state, AREA_VALUE, 0, 8);

	assert_true(access->value_known);
	assert_int_equal(access->value, 0x1716151413121110);
}

static void what_is_left_of_it_has_its_own(void **state)
{
	const struct tl_access *access = attribute(*state, AREA_VALUE, 3, 2);

	assert_true(access->value_known);
	assert_int_equal(access->value, 0x1413);
}

static void its_beginning_has_less(void **state)
{
	const struct tl_access *access = attribute(*state, AREA_VALUE, 0, 3);

	assert_true(access->value_known);
	assert_int_equal(access->value, 0x121110);
}

static void what_was_not_noted_is_not_known(void **state)
{
	const struct tl_access *access = attribute(*state, 8, 3, 2);

	assert_false(access->value_known);
	assert_int_equal(access->value, 0);
}

/* What was loaded tells from where, by what stood there then. */
static void a_load_over_its_own_address(void **state)
{
	struct bench *bench = *state;

	bench->record.registers.pc = (uintptr_t)after_own;
	memcpy(bench->record.value, watched, sizeof(watched));
	memcpy(&bench->record.registers.general[RDI], watched, 8);
	bench->record.value_length = sizeof(watched);
	memset(watched, 0, sizeof(watched));
	cut_front = 0;
	cut_length = 8;
	assert_true(
		hit_attribute(&bench->target, &bench->target.slot[0], &bench->record, &bench->hit));
	assert_int_equal(bench->hit.access.access, TL_READ);
	assert_int_equal(bench->hit.access.address, (uintptr_t)watched);
}

/* Held in front of it: which elements it will store, the vector registers tell, and those are not
 * noted. */
static void what_a_mask_may_leave_out_is_a_guess(void **state)
{
	struct bench *bench = *state;
	struct tl_access *access = &bench->hit.access;

	bench->target.slot[0].watch.access = TL_EXEC;
	cut_front = 0;
	cut_length = 32;
	bench->record.registers.pc = (uintptr_t)masked_store;
	assert_true(
		hit_attribute(&bench->target, &bench->target.slot[0], &bench->record, &bench->hit));
	assert_int_equal(access->access, TL_WRITE | TL_GUESSED);
	free(bench->hit.stack_bytes);
	bench->record.registers.pc = (uintptr_t)whole_store;
	assert_true(
		hit_attribute(&bench->target, &bench->target.slot[0], &bench->record, &bench->hit));
	assert_int_equal(access->access, TL_WRITE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_whole_load_has_its_value, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_left_of_it_has_its_own, set_up, tear_down),
		cmocka_unit_test_setup_teardown(its_beginning_has_less, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_was_not_noted_is_not_known, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_load_over_its_own_address, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_a_mask_may_leave_out_is_a_guess, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
