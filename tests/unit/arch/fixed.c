/* SPDX-License-Identifier: Apache-2.0 */
/* What the rooms do on an architecture that traps before the access: fixed/insn/arch.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <string.h>
#include <sys/syscall.h>
#include <trapline/event.h>
#include <unistd.h>

#include "agent/arch.h"
#include "event/perf.h"
#include "hit/collect.h"
#include "hit/system_call.h"
#include "insn/insn.h"
#include "insn/origin.h"
#include "insn/previous.h"
#include "insn/shadow.h"
#include "sample/perf_record.h"
#include "trap/hit.h"
#include "unwind/frame.h"

#define CODE 0x10000u
#define DATA 0x20000u

static uint8_t code[64];
static uint64_t data[64];

static size_t put(size_t at, unsigned operation, unsigned a, unsigned b, int n)
{
	const uint8_t bytes[4] = {(uint8_t)operation, (uint8_t)a, (uint8_t)b, (uint8_t)n};

	memcpy(code + at, bytes, sizeof(bytes));
	return at + sizeof(bytes);
}

static int read_memory(void *context, uint64_t address, void *to, size_t length)
{
	(void)context;
	if (address - CODE <= sizeof(code) && address - CODE + length <= sizeof(code))
		memcpy(to, code + (address - CODE), length);
	else if (address - DATA <= sizeof(data) && address - DATA + length <= sizeof(data))
		memcpy(to, (uint8_t *)data + (address - DATA), length);
	else
		return -EFAULT;
	return 0;
}

static int bounds(void *context, uint64_t pc, uint64_t *start, uint64_t *end)
{
	(void)context;
	(void)pc;
	*start = CODE;
	*end = CODE + sizeof(code);
	return 0;
}

static const struct insn_memory memory = {read_memory, bounds, NULL, false};

static int clear(void **state)
{
	(void)state;
	memset(code, 0, sizeof(code));
	memset(data, 0, sizeof(data));
	return 0;
}

/* ------------------------------------------------------------------------------------------- */
/* insn */

static void the_instruction_before_is_found(void **state)
{
	struct insn previous;
	uint64_t pc;
	bool entered;

	(void)state;
	put(put(0, FIXED_ADD, 1, 1, 8), FIXED_STORE, 2, 1, 0);
	assert_int_equal(insn_previous_read(&memory, CODE, CODE + 8, &pc, &previous, &entered), 0);
	assert_int_equal(pc, CODE + 4);
	assert_int_equal(previous.operand[0].access, TL_WRITE);
	assert_false(entered);
}

static struct insn_access attribute(const struct insn_registers *registers, uint64_t watched,
				    unsigned wanted)
{
	struct insn_access access;

	insn_attribute(registers, watched, 8, wanted, &memory, &access);
	return access;
}

static void a_trap_before_the_access_names_the_instruction_at_pc(void **state)
{
	struct insn_registers registers = {.general = {DATA}, .pc = CODE + 4};
	struct insn_access access;

	(void)state;
	/* The one before touches the same bytes; it has run long ago. */
	put(put(0, FIXED_STORE, 2, 0, 0), FIXED_EXCHANGE, 1, 0, 0);
	access = attribute(&registers, DATA, TL_READ | TL_WRITE);
	assert_int_equal(access.pc, CODE + 4);
	assert_int_equal(access.access, TL_READ | TL_WRITE | TL_ATOMIC);
	assert_true(access.explained);
}

static void a_load_over_its_own_base_is_no_riddle(void **state)
{
	struct insn_registers registers = {.general = {DATA - 8}, .pc = CODE};
	struct insn_access access;

	(void)state;
	put(0, FIXED_LOAD, 0, 0, 8);
	access = attribute(&registers, DATA, TL_READ | TL_WRITE);
	assert_int_equal(access.first, DATA);
	assert_int_equal(access.length, 8);
	assert_int_equal(access.access, TL_READ);
}

static void what_cannot_have_tripped_is_not_said_to_have(void **state)
{
	struct insn_registers registers = {.general = {DATA + 64}, .pc = CODE};
	struct insn_access access;

	(void)state;
	put(0, FIXED_STORE, 1, 0, 0);
	access = attribute(&registers, DATA, TL_WRITE);
	assert_false(access.explained);
	assert_true(access.access & TL_GUESSED);
	put(0, FIXED_CALL, 0, 0, 2);
	assert_false(attribute(&registers, DATA, TL_WRITE).explained);
}

static void arguments_are_followed_through_branches_and_calls(void **state)
{
	static struct insn_origin_work work;
	struct insn_origin origin[INSN_GENERAL];
	size_t end = put(0, FIXED_ADD, FIXED_KEPT, FIXED_RESULT, 16);

	(void)state;
	end = put(end, FIXED_IF_ZERO, 0, 0, 2);
	end = put(end, FIXED_CALL, 0, 0, 100);
	end = put(end, FIXED_RETURN, 0, 0, 0);
	assert_int_equal(insn_origins(code, end, 12, NULL, &work, origin), 0);
	assert_int_equal(origin[FIXED_KEPT].number, FIXED_RESULT);
	assert_int_equal(origin[FIXED_KEPT].offset, 16);
	assert_int_equal(origin[FIXED_RESULT].number, INSN_ORIGIN_NONE);
	assert_int_equal(origin[FIXED_STACK].number, FIXED_STACK);
}

static size_t give_code(void *context, uint64_t pc, uint8_t *bytes, size_t max)
{
	return read_memory(context, pc, bytes, max) ? 0 : max;
}

static enum shadow_function never_called(void *context, const struct shadow_state *at,
					 struct shadow_answer *answer)
{
	(void)context;
	(void)at;
	(void)answer;
	return SHADOW_END;
}

/* r1 = [r0]; [r0 + 8] = r1; r2 = [r0 + 8]; r2 = r2 + 0; branch if zero */
static void a_value_is_followed_to_the_branch_it_decides(void **state)
{
	static struct shadow_walk walk = {
		.read = read_memory, .code = give_code, .function = never_called, .steps = 16};
	const uint8_t bits[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	struct insn_registers after = {.general = {DATA}, .pc = CODE + 4};
	struct shadow_load load = {.pc = CODE,
				   .address = DATA,
				   .bits = bits,
				   .length = 8,
				   .accessed = DATA,
				   .after = &after,
				   .known = 0xff};
	struct shadow_found found;
	size_t end = put(0, FIXED_LOAD, 1, 0, 0);

	(void)state;
	end = put(end, FIXED_STORE, 1, 0, 8);
	end = put(end, FIXED_LOAD, 2, 0, 8);
	end = put(end, FIXED_ADD, 2, 2, 0);
	put(end, FIXED_IF_ZERO, 0, 0, 4);
	assert_int_equal(shadow_follow(&walk, &load, &found), 0);
	assert_int_equal(found.sink, SHADOW_SINK_BRANCH);
	assert_int_equal(found.pc, CODE + end);
}

/* ------------------------------------------------------------------------------------------- */
/* unwind */

/* A caller's code, with a call at its end: what lies behind it is a return address. */
static uint8_t caller[8] = {FIXED_NOTHING, 0, 0, 0, FIXED_CALL, 0, 0, 9};
static uint64_t stack[8];

static struct unwind_registers in_a_callee(void)
{
	struct unwind_registers registers = {.known = (1u << UNWIND_REGISTER_COUNT) - 1,
					     .interrupted = 1};

	registers.value[UNWIND_SP] = (uintptr_t)stack;
	registers.value[UNWIND_FP] = (uintptr_t)&stack[6];
	registers.value[UNWIND_LINK] = (uintptr_t)(caller + 8);
	registers.value[UNWIND_KEPT] = 44;
	return registers;
}

static struct unwind_registers unwind(const struct cfi_row *row)
{
	const struct bytes none = {0};
	const struct cfi_entry entry = {.return_register = UNWIND_LINK};
	struct unwind_registers registers = in_a_callee();
	struct memory reader;

	memory_init(&reader);
	assert_int_equal(frame_apply(&none, &entry, row, &reader, &registers), 0);
	return registers;
}

static void a_leaf_returns_by_its_link(void **state)
{
	const struct cfi_row row = {.frame_register = UNWIND_SP};
	struct unwind_registers registers = unwind(&row);

	(void)state;
	assert_int_equal(registers.value[UNWIND_PC], (uintptr_t)(caller + 8));
	assert_int_equal(registers.value[UNWIND_SP], (uintptr_t)stack);
	assert_int_equal(registers.value[UNWIND_KEPT], 44);
	assert_false(registers.known & 1u << FIXED_SECOND);
}

static void a_saved_link_leads_to_the_caller(void **state)
{
	struct cfi_row row = {.frame_register = UNWIND_SP, .frame_operand = 32};
	struct unwind_registers registers;

	(void)state;
	row.rule[UNWIND_LINK] = CFI_OFFSET;
	row.operand[UNWIND_LINK] = -8;
	stack[3] = 0x1234;
	registers = unwind(&row);
	assert_int_equal(registers.value[UNWIND_PC], 0x1234);
	assert_int_equal(registers.value[UNWIND_SP], (uintptr_t)&stack[4]);
}

static void code_without_information_is_left_by_its_frame_pointer(void **state)
{
	struct unwind_registers registers = in_a_callee();
	struct memory reader;

	(void)state;
	registers.value[UNWIND_PC] = (uintptr_t)caller;
	stack[6] = 77;
	stack[7] = (uintptr_t)(caller + 8);
	memory_init(&reader);
	assert_int_equal(frame_follow_pointer(&reader, &registers), 0);
	assert_int_equal(registers.value[UNWIND_PC], (uintptr_t)(caller + 8));
	assert_int_equal(registers.value[UNWIND_FP], 77);
	/* What stands there is no return address: no call is before it. */
	registers = in_a_callee();
	registers.value[UNWIND_PC] = (uintptr_t)caller;
	stack[7] = (uintptr_t)(caller + 4);
	memory_init(&reader);
	assert_int_equal(frame_follow_pointer(&reader, &registers), -ENOENT);
}

static void a_call_through_a_bad_pointer_is_undone_by_the_link(void **state)
{
	struct unwind_registers registers = in_a_callee();
	struct memory reader;

	(void)state;
	registers.value[UNWIND_PC] = 8;
	memory_init(&reader);
	assert_int_equal(frame_follow_pointer(&reader, &registers), 0);
	assert_int_equal(registers.value[UNWIND_PC], (uintptr_t)(caller + 8));
	assert_int_equal(registers.value[UNWIND_SP], (uintptr_t)stack);
}

/* ------------------------------------------------------------------------------------------- */
/* event, sample, trap, agent */

static void breakpoints_are_asked_for_as_the_hardware_has_them(void **state)
{
	struct perf_request request = {.addr = DATA, .length = 8, .access = TL_READ};
	struct perf_event_attr attributes;

	(void)state;
	assert_int_equal(perf_fill_attributes(&attributes, &request), 0);
	assert_int_equal(attributes.bp_type, HW_BREAKPOINT_R);
	request.access = TL_READ | TL_WRITE;
	request.noted = 64;
	assert_int_equal(perf_fill_attributes(&attributes, &request), 0);
	assert_int_equal(attributes.bp_type, HW_BREAKPOINT_RW);
	assert_int_equal(attributes.sample_regs_user, 0x1ff);
	request.access = TL_EXEC;
	assert_int_equal(perf_fill_attributes(&attributes, &request), 0);
	assert_int_equal(attributes.bp_len, 4);
	assert_int_equal(AREA_SLOTS, 2);
}

static void registers_come_in_the_architectures_order(void **state)
{
	const uint64_t sampled[PERF_RECORD_REGISTERS] = {CODE, 10, 11, 12, 13, 14, 15, 16, 17};
	uint64_t interrupted[INSN_GENERAL + 1] = {20, 21, 22, 23, 24, 25, 26, 27, CODE};
	ucontext_t context = {.uc_link = (void *)interrupted};
	struct insn_registers registers;
	struct area_registers noted;
	tl_hit hit = {.context = &context};

	(void)state;
	perf_record_registers(sampled, &registers);
	assert_int_equal(registers.pc, CODE);
	assert_int_equal(registers.general[FIXED_LINK], 17);
	agent_arch.registers(&context, &noted);
	assert_int_equal(noted.general[insn_arch.stack_pointer], 26);
	assert_int_equal(tl_hit_next_pc(&hit), CODE);
	assert_int_equal(tl_hit_resume_at(&hit, CODE + 4), 0);
	assert_int_equal(interrupted[INSN_PC], CODE + 4);
}

/* ------------------------------------------------------------------------------------------- */
/* hit */

static void a_system_calls_buffer_is_told_by_its_number(void **state)
{
	struct insn_registers after = {.general = {8, DATA, 8}, .pc = CODE + 8};
	struct insn_bytes watched = {DATA, 8};
	struct system_call_copy copy;

	(void)state;
	put(put(0, FIXED_ADD, FIXED_NUMBER, 0, SYS_write), FIXED_KERNEL, 0, 0, 0);
	assert_true(system_call_copied_by(system_call_number(&after, &memory), &after, &memory,
					  &watched, TL_READ | TL_WRITE, &copy));
	assert_int_equal(copy.access, TL_READ);
	put(4, FIXED_NOTHING, 0, 0, 0);
	assert_int_equal(system_call_number(&after, &memory), -ENOENT);
}

static unsigned pairs;

static void note_pair(struct target *target, const struct slot *slot, struct tl_pair *pair)
{
	(void)target;
	(void)slot;
	(void)pair;
	pairs++;
}

static struct hit hit_of(uint64_t identity, unsigned access, uint64_t entry, uint64_t exit)
{
	return (struct hit){.access = {.identity = identity,
				       .address = DATA,
				       .length = 8,
				       .access = access,
				       .before = !insn_arch.traps_after},
			    .entry = entry,
			    .exit = exit,
			    .usable = true};
}

/* Threads that are held before their accesses are at them as well as behind them. */
static void holds_before_the_access_pair(void **state)
{
	static const struct hit_events events = {.pair = note_pair};
	static struct program program;
	static struct area_process shared;
	static struct target target = {.program = &program, .shared = &shared};
	static struct slot slot = {.watch = {.access = TL_READ | TL_WRITE}};
	struct hit first = hit_of(1, TL_WRITE, 100, 200), second = hit_of(2, TL_READ, 150, 260);
	struct hit late = hit_of(3, TL_READ, 300, 400), reader = hit_of(4, TL_READ, 160, 210);

	(void)state;
	slot.hit[0] = &first;
	slot.hits = 1;
	pairs_complete(&events, &target, &slot, &second);
	assert_int_equal(pairs, 1);
	pairs_complete(&events, &target, &slot, &late);
	assert_int_equal(pairs, 1);
	slot.hit[0] = &second;
	pairs_complete(&events, &target, &slot, &reader);
	assert_int_equal(pairs, 1);
}

/* ------------------------------------------------------------------------------------------- */
/* What lies beside what is tried: the machine that the test runs on. */

ssize_t space_read(struct space *space, uint64_t address, void *to, size_t length)
{
	(void)space;
	return read_memory(NULL, address, to, length) ? -1 : (ssize_t)length;
}

size_t space_code(struct space *space, uint64_t pc, uint8_t *to, size_t length)
{
	(void)space;
	return read_memory(NULL, pc, to, length) ? 0 : length;
}

/* There is no constant data, as tables of a class's functions are. */
bool space_mapping(struct space *space, uint64_t address, uint64_t *start, uint64_t *end)
{
	(void)space, (void)address, (void)start, (void)end;
	return false;
}

bool space_is_file(struct space *space, uint64_t address)
{
	(void)space;
	(void)address;
	return false;
}

const char *space_module(struct space *space, uint64_t pc)
{
	(void)space, (void)pc;
	return NULL;
}

bool space_is_libc(struct space *space, uint64_t pc)
{
	(void)space;
	(void)pc;
	return false;
}

bool space_writable(struct space *space, uint64_t address)
{
	(void)space, (void)address;
	return true;
}

int space_function(struct space *space, uint64_t pc, uint64_t *start, uint64_t *end)
{
	(void)space;
	return bounds(NULL, pc, start, end);
}

int space_whole_function(struct space *space, uint64_t pc, uint64_t *start, uint64_t *end)
{
	return space_function(space, pc, start, end);
}

long raw_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
	long result = syscall(number, a, b, c, d, e, f);

	return result < 0 ? -errno : result;
}

long raw_syscall3(long number, long a, long b, long c)
{
	return raw_syscall6(number, a, b, c, 0, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_instruction_before_is_found, clear),
		cmocka_unit_test_setup(a_trap_before_the_access_names_the_instruction_at_pc, clear),
		cmocka_unit_test_setup(a_load_over_its_own_base_is_no_riddle, clear),
		cmocka_unit_test_setup(what_cannot_have_tripped_is_not_said_to_have, clear),
		cmocka_unit_test_setup(arguments_are_followed_through_branches_and_calls, clear),
		cmocka_unit_test_setup(a_value_is_followed_to_the_branch_it_decides, clear),
		cmocka_unit_test_setup(a_leaf_returns_by_its_link, clear),
		cmocka_unit_test_setup(a_saved_link_leads_to_the_caller, clear),
		cmocka_unit_test_setup(code_without_information_is_left_by_its_frame_pointer,
				       clear),
		cmocka_unit_test_setup(a_call_through_a_bad_pointer_is_undone_by_the_link, clear),
		cmocka_unit_test_setup(breakpoints_are_asked_for_as_the_hardware_has_them, clear),
		cmocka_unit_test_setup(registers_come_in_the_architectures_order, clear),
		cmocka_unit_test_setup(a_system_calls_buffer_is_told_by_its_number, clear),
		cmocka_unit_test_setup(holds_before_the_access_pair, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
