/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insn_attribute() where a real watchpoint cannot easily be put: code without bounds, memory that
 * cannot be read, explanations that compete. The world is one page of code and one of data.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <trapline/event.h>

#include "insn/insn.h"

#define CODE 0x400000ul
#define DATA 0x10000ul
#define PAGE 4096u
#define UNKNOWN ~0u

struct world {
	uint8_t code[PAGE], data[PAGE];
	/* Function bounds as offsets into the code, ended by UNKNOWN. */
	unsigned bounds[8];
	struct insn_registers registers;
};

static int world_read(void *context, uint64_t address, void *to, size_t length)
{
	const struct world *world = context;

	if (address >= CODE && address + length <= CODE + PAGE)
		memcpy(to, world->code + (address - CODE), length);
	else if (address >= DATA && address + length <= DATA + PAGE)
		memcpy(to, world->data + (address - DATA), length);
	else
		return -EFAULT;
	return 0;
}

static int world_bounds(void *context, uint64_t pc, uint64_t *start, uint64_t *end)
{
	const struct world *world = context;

	for (const unsigned *bound = world->bounds; *bound != UNKNOWN; bound += 2)
		if (pc >= CODE + bound[0] && pc < CODE + bound[1]) {
			*start = CODE + bound[0];
			*end = CODE + bound[1];
			return 0;
		}
	return -ENOENT;
}

/* rdi and the watched eight bytes are DATA + 64, the stack is at DATA + 2048. */
static void make_world(struct world *world, const uint8_t *code, size_t length, unsigned pc)
{
	memset(world, 0, sizeof(*world));
	memcpy(world->code, code, length);
	world->bounds[0] = 0;
	world->bounds[1] = (unsigned)length;
	world->bounds[2] = UNKNOWN;
	world->registers.general[4] = DATA + 2048;
	world->registers.general[7] = DATA + 64;
	world->registers.pc = CODE + pc;
}

static struct insn_access ask(struct world *world, uint64_t watched, unsigned wanted)
{
	struct insn_memory memory = {world_read, world_bounds, world};
	struct insn_access access;

	insn_attribute(&world->registers, watched, 8, wanted, &memory, &access);
	return access;
}

/* mov %rax,(%rdi); nop */
static const uint8_t store[] = {0x48, 0x89, 0x07, 0x90};

static void a_plain_store_is_certain(void **state)
{
	struct world world;
	struct insn_access access;

	(void)state;
	make_world(&world, store, sizeof(store), 3);
	access = ask(&world, DATA + 64, TL_WRITE);
	assert_int_equal(access.access, TL_WRITE);
	assert_int_equal(access.pc, CODE);
	assert_int_equal(access.first, DATA + 64);
	assert_int_equal(access.length, 8);
}

static void without_bounds_it_is_a_guess(void **state)
{
	struct world world;
	struct insn_access access;

	(void)state;
	make_world(&world, store, sizeof(store), 3);
	world.bounds[0] = UNKNOWN;
	access = ask(&world, DATA + 64, TL_WRITE);
	assert_int_equal(access.access, TL_WRITE | TL_GUESSED);
	assert_int_equal(access.pc, CODE);
}

static void what_does_not_fit_is_a_guess(void **state)
{
	struct world world;
	struct insn_access access;

	(void)state;
	make_world(&world, store, sizeof(store), 3);
	access = ask(&world, DATA + 128, TL_WRITE);
	assert_true(access.access & TL_GUESSED);
	/* Code that cannot be read at all. */
	world.registers.pc = 0x500000;
	access = ask(&world, DATA + 64, TL_READ | TL_WRITE);
	assert_true(access.access & TL_GUESSED);
	assert_false(access.decoded);
}

static void a_lock_jumped_over_is_a_guess(void **state)
{
	/* je 1f; lock; 1: incl (%rdi); nop, and the same with the jump past the instruction */
	static const uint8_t over[] = {0x74, 0x01, 0xf0, 0xff, 0x07, 0x90};
	static const uint8_t past[] = {0x74, 0x03, 0xf0, 0xff, 0x07, 0x90};
	struct world world;

	(void)state;
	make_world(&world, over, sizeof(over), 5);
	assert_int_equal(ask(&world, DATA + 64, TL_WRITE).access,
			 TL_READ | TL_WRITE | TL_ATOMIC | TL_GUESSED);
	make_world(&world, past, sizeof(past), 5);
	assert_int_equal(ask(&world, DATA + 64, TL_WRITE).access, TL_READ | TL_WRITE | TL_ATOMIC);
}

static void data_between_instructions_is_noticed(void **state)
{
	/* jmp 1f; .byte 0x48; 1: mov %eax,(%rdi); nop: decoding takes the byte for a REX prefix */
	static const uint8_t code[] = {0xeb, 0x01, 0x48, 0x89, 0x07, 0x90};
	struct world world;

	(void)state;
	make_world(&world, code, sizeof(code), 5);
	assert_true(ask(&world, DATA + 64, TL_WRITE).access & TL_GUESSED);
}

static void a_pointer_to_pc_in_the_watched_bytes_competes(void **state)
{
	/* mov (%rdi),%rax; nop: but a `jmp *` through the same bytes would have arrived here too */
	static const uint8_t load[] = {0x48, 0x8b, 0x07, 0x90};
	uint64_t pointer = CODE + 3;
	struct world world;

	(void)state;
	make_world(&world, load, sizeof(load), 3);
	assert_int_equal(ask(&world, DATA + 64, TL_READ | TL_WRITE).access, TL_READ);
	memcpy(world.data + 64, &pointer, sizeof(pointer));
	assert_int_equal(ask(&world, DATA + 64, TL_READ | TL_WRITE).access, TL_READ | TL_GUESSED);
	/* A slot that sees writes alone cannot have seen either. */
	assert_true(ask(&world, DATA + 64, TL_WRITE).access & TL_GUESSED);
}

static void a_function_that_falls_through_is_considered(void **state)
{
	struct world world;
	struct insn_access access;

	(void)state;
	make_world(&world, store, sizeof(store), 3);
	memcpy(world.bounds, (unsigned[]){0, 3, 3, 4, UNKNOWN}, 5 * sizeof(unsigned));
	access = ask(&world, DATA + 64, TL_WRITE);
	assert_int_equal(access.access, TL_WRITE);
	assert_int_equal(access.pc, CODE);
}

static void a_system_call_is_the_kernels(void **state)
{
	static const uint8_t code[] = {0x0f, 0x05, 0x90};
	struct world world;

	(void)state;
	make_world(&world, code, sizeof(code), 2);
	assert_int_equal(ask(&world, DATA + 64, TL_WRITE | TL_KERNEL).access, TL_WRITE | TL_KERNEL);
	/* Read or written, the registers do not tell. */
	assert_int_equal(ask(&world, DATA + 64, TL_READ | TL_WRITE | TL_KERNEL).access,
			 TL_READ | TL_WRITE | TL_KERNEL | TL_GUESSED);
	/* A slot that does not see the kernel: something else did it. */
	assert_true(ask(&world, DATA + 64, TL_WRITE).access & TL_GUESSED);
}

static void a_store_before_a_rep_competes_with_it(void **state)
{
	/* movb $1,-1(%rdi); rep stosb */
	static const uint8_t code[] = {0xc6, 0x47, 0xff, 0x01, 0xf3, 0xaa};
	struct world world;

	(void)state;
	make_world(&world, code, sizeof(code), 4);
	world.registers.general[7] = DATA + 65;
	world.registers.general[1] = 5;
	assert_true(ask(&world, DATA + 64, TL_WRITE).access & TL_GUESSED);
	world.registers.general[1] = 0; /* no iteration is left: it is not under way */
	assert_int_equal(ask(&world, DATA + 64, TL_WRITE).access, TL_WRITE);
}

/* vmovdqu8 %zmm16,(%rdi){%k1}; nop. Some processors trip over the bytes that k1 leaves out. */
static void what_is_masked_out_was_not_touched(void **state)
{
	static const uint8_t code[] = {0x62, 0xe1, 0x7f, 0x49, 0x7f, 0x07, 0x90};
	uint64_t opmasks[8] = {[1] = 0xfffff};
	struct world world;
	struct insn_access access;

	(void)state;
	make_world(&world, code, sizeof(code), 6);
	world.registers.opmasks = opmasks;
	access = ask(&world, DATA + 64 + 24, TL_READ | TL_WRITE);
	assert_int_equal(access.access, TL_WRITE);
	assert_int_equal(access.pc, CODE);
	assert_int_equal(access.first, DATA + 64);
	assert_int_equal(access.length, 20);
	access = ask(&world, DATA + 64 + 16, TL_READ | TL_WRITE);
	assert_int_equal(access.access, TL_WRITE);
	assert_int_equal(access.length, 20);
	opmasks[1] = 0; /* nothing was touched: it is not told to be about what is watched */
	assert_true(ask(&world, DATA + 64 + 24, TL_READ | TL_WRITE).access & TL_GUESSED);
	world.registers.opmasks = NULL;
	access = ask(&world, DATA + 64 + 24, TL_READ | TL_WRITE);
	assert_true(access.access & TL_WRITE);
}

/* mov (%rdi),%edi; nop. With zeros all around what was loaded does not tell where from. */
static void what_a_load_overwrote_leaves_its_place_open(void **state)
{
	static const uint8_t code[] = {0x8b, 0x3f, 0x90};
	struct world world;
	struct insn_access access;

	(void)state;
	make_world(&world, code, sizeof(code), 2);
	world.registers.general[7] = 0;
	access = ask(&world, DATA + 64, TL_READ | TL_WRITE);
	assert_int_equal(access.access, TL_READ | TL_GUESSED);
	assert_true(access.unplaced);
	assert_int_equal(access.pc, CODE);
	assert_int_equal(access.length, 4);
	assert_int_equal(access.first % 4, 0);
	world.data[68] = 1; /* one place alone has the value */
	world.registers.general[7] = 1;
	access = ask(&world, DATA + 64, TL_READ | TL_WRITE);
	assert_int_equal(access.access, TL_READ);
	assert_false(access.unplaced);
	assert_int_equal(access.first, DATA + 68);
}

static void what_may_be_another_instruction_is_not_merely_unplaced(void **state)
{
	static const uint8_t code[] = {0x8b, 0x3f, 0x90};
	struct world world;
	struct insn_access access;

	(void)state;
	make_world(&world, code, sizeof(code), 2);
	world.bounds[0] = UNKNOWN;
	world.registers.general[7] = 0;
	access = ask(&world, DATA + 64, TL_READ | TL_WRITE);
	assert_true(access.access & TL_GUESSED);
	assert_false(access.unplaced);
}

static void a_store_to_the_stack_is_no_call(void **state)
{
	/* push %rax; nop, with what looks like a return address, though no call lies before it */
	static const uint8_t code[] = {0x90, 0x90, 0x50, 0x90};
	uint64_t address = CODE + 2;
	struct world world;

	(void)state;
	make_world(&world, code, sizeof(code), 3);
	memcpy(world.data + 2048, &address, sizeof(address));
	assert_int_equal(ask(&world, DATA + 2048, TL_WRITE).access, TL_WRITE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_store_is_certain),
		cmocka_unit_test(without_bounds_it_is_a_guess),
		cmocka_unit_test(what_does_not_fit_is_a_guess),
		cmocka_unit_test(a_lock_jumped_over_is_a_guess),
		cmocka_unit_test(data_between_instructions_is_noticed),
		cmocka_unit_test(a_pointer_to_pc_in_the_watched_bytes_competes),
		cmocka_unit_test(a_function_that_falls_through_is_considered),
		cmocka_unit_test(a_system_call_is_the_kernels),
		cmocka_unit_test(a_store_before_a_rep_competes_with_it),
		cmocka_unit_test(what_is_masked_out_was_not_touched),
		cmocka_unit_test(what_a_load_overwrote_leaves_its_place_open),
		cmocka_unit_test(what_may_be_another_instruction_is_not_merely_unplaced),
		cmocka_unit_test(a_store_to_the_stack_is_no_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
