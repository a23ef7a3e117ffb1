/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Look-ahead over all ways a thread may take: what it finds in code of this program's own, where
 * calls of a library decide, lock, unlock and copy. Memory is read where it stands.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include <cmocka.h>

#include "sample/ahead.h"
#include "sample/order.h"
#include <trapline/event.h>

int lock_a, object_a, object_b, object_c, array[40];
uint64_t the_map; /* of the module that calls at its first time */
extern char from_count[], from_search[], from_lock[], from_inside[], from_loop[], from_birth[],
	from_creation[], from_caller[], from_barrier[], from_block[], from_once[], from_reading[],
	from_array[], from_throw[], from_long[], from_pool[], from_unbound[], from_nameless[],
	from_store[], the_copy[];
extern char fake_lock[], fake_unlock[], fake_answer[], fake_create[], fake_join[], fake_wait[],
	fake_new[], fake_once[], fake_read_lock[], fake_throw[], fake_nameless[], fake_semaphore[],
	fake_copy[];

__asm__(".text\n"
	"from_lock:\n"
	"	leaq lock_a(%rip), %rdi\n"
	"	call fake_lock\n"
	"	movl $1, object_a(%rip)\n"
	"	leaq lock_a(%rip), %rdi\n"
	"	call fake_unlock\n"
	"	call fake_answer\n"
	"	testl %eax, %eax\n"
	"	jne 1f\n"
	"	movl object_b(%rip), %ecx\n"
	"	ret\n"
	"1:	lock incl object_c(%rip)\n"
	"	leaq object_a(%rip), %rdi\n"
	"	leaq object_b(%rip), %rsi\n"
	"the_copy:\n"
	"	call fake_copy\n"
	"	ret\n"
	"from_inside:\n"
	"	movl $1, object_a(%rip)\n"
	"	leaq lock_a(%rip), %rdi\n"
	"	call fake_unlock\n"
	"	movl $1, object_b(%rip)\n"
	"	ret\n"
	"from_loop:\n"
	"	call fake_answer\n"
	"	testl %eax, %eax\n"
	"	je 2f\n"
	"	jmp from_loop\n"
	"2:	movl $1, object_c(%rip)\n"
	"	ret\n"
	"from_birth:\n"
	"	xorl %esi, %esi\n"
	"	leaq object_a(%rip), %rdi\n"
	"	leaq from_loop(%rip), %rdx\n"
	"	leaq object_b(%rip), %rcx\n"
	"	call fake_create\n"
	"	ret\n"
	"from_creation:\n" /* of a function that creates a thread: its caller goes on */
	"	testl %eax, %eax\n"
	"	jne 1f\n"
	"	movl $1, object_a(%rip)\n"
	"	addq $8, %rsp\n"
	"	ret\n"
	"1:	ud2\n"
	"from_caller:\n"
	"	movl $1, (%rbx)\n"
	"	xorl %edx, %edx\n"
	"	call fake_create\n"
	"	movl $1, object_c(%rip)\n"
	"	call fake_join\n"
	"	movl $1, object_c(%rip)\n"
	"	ret\n"
	"from_count:\n"
	"	movl $1000, %ecx\n"
	"	leaq 8(%rsp), %rdx\n"
	"1:	movl $1, -8(%rsp)\n"
	"	movl %ecx, (%rdx)\n"
	"	addl $1, object_a(%rip)\n"
	"	decl %ecx\n"
	"	jne 1b\n"
	"	movl %fs:0, %eax\n"
	"	movl $1, object_b(%rip)\n"
	"	ret\n"
	"from_search:\n" /* its condition stands in its middle */
	"	movl $1000, %ecx\n"
	"	jmp 2f\n"
	"1:	decl %ecx\n"
	"	je 4f\n"
	"2:	testl $1, %ecx\n"
	"	jne 1b\n"
	"	addl $1, object_a(%rip)\n"
	"	jmp 1b\n"
	"3:	ud2\n"
	"4:	movl $1, object_b(%rip)\n"
	"	ret\n"
	"from_barrier:\n"
	"	movl $1, object_a(%rip)\n"
	"	call fake_wait\n"
	"	movl $1, object_b(%rip)\n"
	"	ret\n"
	"from_block:\n"
	"	call fake_new\n"
	"	testq %rax, %rax\n"
	"	je 1f\n"
	"	leaq object_a(%rip), %rcx\n"
	"	movq %rcx, 16(%rax)\n"
	"	movq 16(%rax), %rdx\n"
	"	movl $1, (%rdx)\n"
	"	ret\n"
	"1:	movl $1, object_b(%rip)\n"
	"	ret\n"
	"from_once:\n"
	"	leaq lock_a(%rip), %rdi\n"
	"	leaq from_store(%rip), %rsi\n"
	"	call fake_once\n"
	"	movl $1, object_b(%rip)\n"
	"	ret\n"
	"from_store:\n"
	"	movl $1, object_a(%rip)\n"
	"	ret\n"
	"from_reading:\n"
	"	leaq lock_a(%rip), %rdi\n"
	"	call fake_read_lock\n"
	"	movl $1, object_a(%rip)\n"
	"	leaq lock_a(%rip), %rdi\n"
	"	call fake_unlock\n"
	"	movl $1, object_b(%rip)\n"
	"	ret\n"
	"from_array:\n"
	"	leaq array(%rip), %rdx\n"
	"	movl $40, %ecx\n"
	"1:	movl $1, (%rdx)\n"
	"	addl $1, object_a(%rip)\n"
	"	addq $4, %rdx\n"
	"	decl %ecx\n"
	"	jne 1b\n"
	"	movl $1, object_b(%rip)\n"
	"	ret\n"
	"from_long:\n"
	"	call 1f\n"
	"	movl $1, object_b(%rip)\n"
	"	ret\n"
	"1:\n"
	"	.rept 340\n"
	"	movl $1, -8(%rsp)\n"
	"	.endr\n"
	"	ret\n"
	"from_pool:\n" /* waits until the last thread has begun, then creates another */
	"	call fake_semaphore\n"
	"	xorl %edx, %edx\n"
	"	call fake_create\n"
	"	ret\n"
	"from_unbound:\n"
	"	call 1f\n"
	"	movl $1, object_b(%rip)\n"
	"	ret\n"
	"1:	pushq $0\n"
	"	pushq the_map(%rip)\n"
	"	leaq fake_nameless(%rip), %rax\n"
	"	jmp *%rax\n"
	"from_nameless:\n"
	"	call fake_nameless\n"
	"	movl $1, object_c(%rip)\n"
	"	ret\n"
	"from_throw:\n"
	"	call fake_throw\n"
	"	movl $1, object_a(%rip)\n"
	"	ret\n"
	"fake_lock: nop\n"
	"fake_unlock: nop\n"
	"fake_answer: nop\n"
	"fake_create: nop\n"
	"fake_join: nop\n"
	"fake_wait: nop\n"
	"fake_new: nop\n"
	"fake_once: nop\n"
	"fake_read_lock: nop\n"
	"fake_throw: nop\n"
	"fake_nameless: nop\n"
	"fake_semaphore: nop\n"
	"fake_copy: nop\n");

/* In place of src/process/space.c: this process itself, read as from outside, whatever lies there.
 */
size_t space_code(struct space *space, uint64_t pc, uint8_t *to, size_t length)
{
	struct iovec local = {to, length}, remote = {(void *)pc, length};
	ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);

	(void)space;
	return got > 0 ? (size_t)got : 0;
}

ssize_t space_read(struct space *space, uint64_t address, void *to, size_t length)
{
	return (ssize_t)space_code(space, address, to, length);
}

bool space_is_libc(struct space *space, uint64_t pc)
{
	(void)space;
	return pc >= (uint64_t)fake_lock && pc <= (uint64_t)fake_copy;
}

const char *space_module(struct space *space, uint64_t pc)
{
	(void)space;
	return pc ? "program" : NULL;
}

const char *space_function_name(struct space *space, uint64_t pc)
{
	(void)space;
	return pc == (uint64_t)fake_lock	? "__pthread_mutex_lock"
	       : pc == (uint64_t)fake_unlock	? "__pthread_mutex_unlock"
	       : pc == (uint64_t)fake_create	? "pthread_create"
	       : pc == (uint64_t)fake_join	? "pthread_join"
	       : pc == (uint64_t)fake_wait	? "pthread_barrier_wait"
	       : pc == (uint64_t)fake_new	? "__libc_malloc"
	       : pc == (uint64_t)fake_once	? "pthread_once"
	       : pc == (uint64_t)fake_read_lock ? "pthread_rwlock_rdlock"
	       : pc == (uint64_t)fake_throw	? "__assert_fail"
	       : pc == (uint64_t)fake_semaphore ? "sem_wait"
	       : pc == (uint64_t)fake_nameless	? NULL
	       : pc == (uint64_t)fake_copy	? "__memcpy_avx_unaligned"
						: "rand";
}

static struct ahead_view view;

static void look_from(const char *code)
{
	static uint64_t stack[64]; /* a return address of 0 ends it */
	struct insn_registers registers = {.pc = (uint64_t)code};

	memset(stack, 0, sizeof(stack));
	registers.general[4] = (uint64_t)&stack[32];
	ahead_spread(NULL, &registers, AHEAD_ALL_KNOWN, 400, &view);
}

static void tour_from(const char *code)
{
	uint64_t stack[64] = {0}; /* what lies below it is taken for frames */
	struct ahead_start from = {.registers.pc = (uint64_t)code, .known = AHEAD_ALL_KNOWN};

	from.registers.general[4] = (uint64_t)&stack[32];
	ahead_tour(NULL, &from, 400, &view);
}

static void whole_tour_from(const char *code)
{
	uint64_t stack[64] = {0};
	struct ahead_start from = {
		.registers.pc = (uint64_t)code, .known = AHEAD_ALL_KNOWN, .whole = true};

	from.registers.general[4] = (uint64_t)&stack[32];
	ahead_tour(NULL, &from, 400, &view);
}

/* Behind a call in a function with a frame of 8 bytes, whose caller has &object_b in rbx. */
static void tour_back(uint16_t known)
{
	uint64_t stack[64] = {0};
	struct ahead_start from = {
		.registers.pc = (uint64_t)from_creation, .known = known, .returns = true};

	stack[33] = (uint64_t)from_caller;
	from.registers.general[3] = (uint64_t)&object_b;
	from.registers.general[4] = (uint64_t)&stack[32];
	ahead_tour(NULL, &from, 400, &view);
}

static unsigned times(const void *object, unsigned access, const void *lock)
{
	unsigned times = 0;

	for (unsigned i = 0; i < view.accesses; i++)
		times += view.access[i].address == (uint64_t)object &&
			 view.access[i].access == access &&
			 view.access[i].lock[0] == (uint64_t)lock && !view.access[i].lock[1];
	return times;
}

static void both_ways_are_walked_with_their_locks(void **state)
{
	(void)state;
	look_from(from_lock);
	assert_int_equal(times(&object_a, TL_WRITE, &lock_a), 1);
	assert_int_equal(times(&object_b, TL_READ, NULL), 2); /* here, and by the copy */
	assert_int_equal(times(&object_c, TL_READ | TL_WRITE | TL_ATOMIC, NULL), 1);
	assert_int_equal(times(&object_a, TL_WRITE, NULL), 1);
	assert_int_equal(view.access[view.accesses - 1].pc, (uint64_t)the_copy);
	assert_int_equal(view.accesses, 5);
}

static void a_lock_given_back_was_held_from_the_start(void **state)
{
	(void)state;
	look_from(from_inside);
	assert_int_equal(times(&object_a, TL_WRITE, &lock_a), 1);
	assert_int_equal(times(&object_b, TL_WRITE, NULL), 1);
}

static void a_loop_without_end_is_left(void **state)
{
	(void)state;
	look_from(from_loop);
	assert_int_equal(times(&object_c, TL_WRITE, NULL), 1);
}

static void a_thread_about_to_be_created_is_told(void **state)
{
	(void)state;
	look_from(from_birth);
	assert_int_equal(view.births, 1);
	assert_int_equal(view.birth[0].start, (uint64_t)from_loop);
	assert_int_equal(view.birth[0].argument, (uint64_t)&object_b);
}

static void a_tour_leaves_loops_and_own_frames(void **state)
{
	(void)state;
	look_from(from_count);
	assert_int_equal(times(&object_b, TL_WRITE, NULL), 0);
	tour_from(from_count);
	assert_int_equal(times(&object_a, TL_READ | TL_WRITE, NULL), 3);
	assert_int_equal(times(&object_b, TL_WRITE, NULL), 1);
	assert_int_equal(view.accesses, 7); /* three of them to the caller's frame */
}

static void a_tour_leaves_loops_by_their_middle(void **state)
{
	(void)state;
	tour_from(from_search);
	assert_int_equal(times(&object_a, TL_READ | TL_WRITE, NULL), 3);
	assert_int_equal(times(&object_b, TL_WRITE, NULL), 1);
	assert_int_equal(view.accesses, 4);
}

static void a_creators_tour_goes_on_in_its_callers_until_it_waits(void **state)
{
	(void)state;
	tour_back(AHEAD_RETURNED);
	assert_int_equal(times(&object_a, TL_WRITE, NULL), 1);
	assert_int_equal(times(&object_b, TL_WRITE, NULL), 1);
	assert_int_equal(times(&object_c, TL_WRITE, NULL), 1);
	assert_int_equal(view.accesses, 3);
	assert_true(view.creates);
	assert_true(view.waits);
	/* What the called function does not keep is not known, nor what is reached by it. */
	tour_back(AHEAD_RETURNED & ~(1u << 3));
	assert_int_equal(times(&object_b, TL_WRITE, NULL), 0);
}

static void what_stands_behind_a_barrier_is_of_another_phase(void **state)
{
	(void)state;
	tour_from(from_barrier);
	assert_int_equal(view.accesses, 2);
	assert_int_equal(view.access[0].phase, 0);
	assert_int_equal(times(&object_b, TL_WRITE, NULL), 1);
	assert_int_equal(view.access[1].phase, 1);
	assert_false(view.waits);
}

static void who_waits_first_is_not_about_to_create_a_thread(void **state)
{
	(void)state;
	tour_from(from_pool);
	assert_false(view.creates);
	tour_from(from_birth);
	assert_true(view.creates);
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	while (*name)
		hash = hash * 33 + (uint8_t)*name++;
	return hash;
}

/* A module that has one function, which it calls: its link map. */
static uint64_t make_module(uint64_t function)
{
	static const char strings[] = "\0store";
	static Elf64_Sym symbol[2];
	static Elf64_Rela relocation;
	static Elf64_Dyn dynamic[5];
	static uint32_t hash[6] = {1, 1}; /* one bucket; hashed from symbol 1 on; no filter */
	static uint64_t map[5];		  /* base, name, dynamic, next, previous */

	symbol[1] = (Elf64_Sym){.st_name = 1,
				.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				.st_shndx = 1,
				.st_value = function};
	relocation.r_info = ELF64_R_INFO(1ull, R_X86_64_JUMP_SLOT);
	hash[4] = 1;
	hash[5] = hash_of("store") | 1;
	dynamic[0] = (Elf64_Dyn){DT_JMPREL, {.d_ptr = (uint64_t)&relocation}};
	dynamic[1] = (Elf64_Dyn){DT_SYMTAB, {.d_ptr = (uint64_t)symbol}};
	dynamic[2] = (Elf64_Dyn){DT_STRTAB, {.d_ptr = (uint64_t)strings}};
	dynamic[3] = (Elf64_Dyn){DT_GNU_HASH, {.d_ptr = (uint64_t)hash}};
	map[2] = (uint64_t)dynamic;
	return (uint64_t)map;
}

static void a_call_is_bound_where_the_linker_is_stripped(void **state)
{
	(void)state;
	the_map = make_module((uint64_t)from_store);
	tour_from(from_unbound);
	assert_int_equal(times(&object_a, TL_WRITE, NULL), 1);
	assert_int_equal(times(&object_b, TL_WRITE, NULL), 1);
	/* What else has no name is left again. */
	tour_from(from_nameless);
	assert_int_equal(times(&object_c, TL_WRITE, NULL), 1);
}

static void a_new_block_is_there_and_nobody_elses(void **state)
{
	(void)state;
	tour_from(from_block);
	assert_int_equal(view.accesses, 1);
	assert_int_equal(times(&object_a, TL_WRITE, NULL), 1);
}

static void what_is_to_run_once_runs(void **state)
{
	(void)state;
	tour_from(from_once);
	assert_int_equal(view.accesses, 2);
	assert_int_equal(times(&object_a, TL_WRITE, NULL), 1);
	assert_int_equal(times(&object_b, TL_WRITE, NULL), 1);
}

static void a_lock_for_reading_is_told_as_one(void **state)
{
	(void)state;
	tour_from(from_reading);
	assert_int_equal(times(&object_a, TL_WRITE, (char *)&lock_a + AHEAD_SHARED), 1);
	assert_int_equal(times(&object_b, TL_WRITE, NULL), 1);
}

static void a_whole_walk_along_an_array_is_one_access(void **state)
{
	const struct ahead_access *last = &view.access[7];

	(void)state;
	tour_from(from_array);
	assert_int_equal(view.accesses, 7);
	whole_tour_from(from_array);
	assert_int_equal(view.accesses, 8);
	assert_int_equal(times(&object_a, TL_READ | TL_WRITE, NULL), 3);
	assert_true(last->whole);
	assert_int_equal(last->address, (uint64_t)&array[3]);
	assert_int_equal(last->length, sizeof(array) - 3 * sizeof(array[0]));
}

static void who_never_comes_back_ends_the_way(void **state)
{
	(void)state;
	tour_from(from_throw);
	assert_int_equal(view.accesses, 0);
	assert_true(order_name_never_returns("_ZSt20__throw_length_errorPKc"));
	assert_true(order_name_never_returns("__cxa_throw"));
	assert_true(order_name_never_returns("__longjmp_chk"));
	assert_true(order_name_never_returns("siglongjmp"));
	assert_false(order_name_never_returns("pthread_exit"));
	assert_false(order_name_never_returns("memcpy"));
	assert_true(order_name_never_returns("_exit"));
	assert_false(order_name_never_returns("exit_handler_add"));
	assert_false(order_name_never_returns("_Unwind_Backtrace"));
}

static void a_walk_ends_with_its_time(void **state)
{
	uint64_t stack[64] = {0};
	struct ahead_start from = {
		.registers.pc = (uint64_t)from_array, .known = AHEAD_ALL_KNOWN, .time = 1};

	(void)state;
	from.registers.general[4] = (uint64_t)&stack[32];
	ahead_tour(NULL, &from, 400, &view);
	assert_int_equal(times(&object_b, TL_WRITE, NULL), 0);
	assert_true(view.cut);
}

static void what_is_overwritten_takes_no_room(void **state)
{
	(void)state;
	tour_from(from_long);
	assert_int_equal(times(&object_b, TL_WRITE, NULL), 1);
	assert_false(view.cut);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ways_are_walked_with_their_locks),
		cmocka_unit_test(a_lock_given_back_was_held_from_the_start),
		cmocka_unit_test(a_thread_about_to_be_created_is_told),
		cmocka_unit_test(a_loop_without_end_is_left),
		cmocka_unit_test(a_tour_leaves_loops_and_own_frames),
		cmocka_unit_test(a_tour_leaves_loops_by_their_middle),
		cmocka_unit_test(a_creators_tour_goes_on_in_its_callers_until_it_waits),
		cmocka_unit_test(what_stands_behind_a_barrier_is_of_another_phase),
		cmocka_unit_test(who_waits_first_is_not_about_to_create_a_thread),
		cmocka_unit_test(a_call_is_bound_where_the_linker_is_stripped),
		cmocka_unit_test(a_new_block_is_there_and_nobody_elses),
		cmocka_unit_test(what_is_to_run_once_runs),
		cmocka_unit_test(a_lock_for_reading_is_told_as_one),
		cmocka_unit_test(a_whole_walk_along_an_array_is_one_access),
		cmocka_unit_test(who_never_comes_back_ends_the_way),
		cmocka_unit_test(a_walk_ends_with_its_time),
		cmocka_unit_test(what_is_overwritten_takes_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
