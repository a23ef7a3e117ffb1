/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of a function's frame from its code: where its addresses go, what its prologue
 * saves, and what a register's value came from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "stack/code.h"

#include <string.h>
#include <trapline/event.h>

#define RDI 7
#define RAX 0

/* Each function begins at NAME_start, ends at NAME_end, and has one instruction at NAME_place. */
#define FUNCTION(name, text)                                               \
	extern const uint8_t name##_start[], name##_place[], name##_end[]; \
	__asm__(".pushsection .text\n" #name "_start:\n" text #name "_end:\n.popsection")

FUNCTION(keeps, "mov %rdi, kept(%rip)\nkeeps_place: ret\n"
		".pushsection .bss\nkept: .skip 8\n.popsection\n");
FUNCTION(hands, "sub $0x28, %rsp\nlea 8(%rsp), %rdi\nhands_place: call keeps_start\n"
		"add $0x28, %rsp\nret\n");
FUNCTION(stores, "push %rbp\nmov %rsp, %rbp\nsub $0x30, %rsp\nlea -0x20(%rbp), %rax\n"
		 "mov %rax, -8(%rbp)\nmov -8(%rbp), %rax\nstores_place: mov %rax, kept(%rip)\n"
		 "leave\nret\n");
FUNCTION(returns, "push %rbp\nmov %rsp, %rbp\nlea -0x20(%rbp), %rax\npop %rbp\n"
		  "returns_place: ret\n");
FUNCTION(guarded, "push %rbx\npush %r12\nsub $0x48, %rsp\nmov %fs:0x28, %rax\n"
		  "mov %rax, 0x38(%rsp)\nxor %eax, %eax\nmov %rsp, %rdi\ncall keeps_start\n"
		  "guarded_place: add $0x48, %rsp\npop %r12\npop %rbx\nret\n");
FUNCTION(grows, "push %rbp\nmov %rsp, %rbp\nsub $0x10, %rsp\nsub %rdi, %rsp\nmov %rsp, %rdi\n"
		"grows_place: call *%rsi\nleave\nret\n");
FUNCTION(goes_on, "sub $8, %rsp\ncall *kept(%rip)\nadd $8, %rsp\ngoes_on_place: jmp *%rax\n");
FUNCTION(switches, "sub $0x48, %rsp\nlea table(%rip), %rax\nmov (%rax,%rdi,8), %rax\njmp *%rax\n"
		   "1: mov %rsp, %rdi\nswitches_place: call keeps_start\n2: add $0x48, %rsp\nret\n"
		   ".pushsection .data\ntable: .quad 1b, 2b\n.popsection\n");
FUNCTION(makes_room, "push %rax\nmov %rsp, %rdi\nmakes_room_place: call keeps_start\npop %rcx\n"
		     "ret\n");
FUNCTION(raises,
	 "push %rbp\nmov %rsp, %rbp\npush %r12\npush %rbx\npush %rdx\npush %rax\n"
	 "sub $0x50, %rsp\nmov %rsp, %rdi\nraises_place: call keeps_start\nlea -0x20(%rbp), %rsp\n"
	 "pop %rax\npop %rdx\npop %rbx\npop %r12\npop %rbp\nret\n");
FUNCTION(spills, "push %rbp\nmov %rsp, %rbp\nmov %rdi, -0x18(%rbp)\nmov -0x18(%rbp), %rax\n"
		 "spills_place: mov 4(%rax), %eax\npop %rbp\nret\n");
FUNCTION(spills_twice,
	 "push %rbp\nmov %rsp, %rbp\nmov %rdi, -0x18(%rbp)\naddq $8, -0x18(%rbp)\n"
	 "mov -0x18(%rbp), %rax\nspills_twice_place: mov 4(%rax), %eax\npop %rbp\nret\n");
FUNCTION(own, "sub $0x28, %rsp\nlea 8(%rsp), %rdx\nown_place: mov (%rdx), %eax\nadd $0x28, %rsp\n"
	      "ret\n");
FUNCTION(own_indexed, "push %rbp\nmov %rsp, %rbp\nown_indexed_place: mov %rdx, -0x70(%rbp,%rax,8)\n"
		      "pop %rbp\nret\n");
FUNCTION(own_index, "lea -0x78(%rsp), %rdx\nown_index_place: mov (%rax,%rdx), %eax\nret\n");
FUNCTION(forms_indexed,
	 "forms_indexed_place: lea -0x78(%rsp,%rax,8), %rdx\naddq $1, (%rdx)\nret\n");
FUNCTION(forms_added,
	 "mov %rsp, %rdx\nforms_added_place: add %rcx, %rdx\naddq $1, -0x78(%rdx)\nret\n");
FUNCTION(forms_vector, "forms_vector_place: movq %rsp, %xmm0\npaddq %xmm1, %xmm0\n"
		       "movq %xmm0, %rdx\naddq $1, -0x78(%rdx)\nret\n");
FUNCTION(forms_stored, "forms_stored_place: mov %rsp, -8(%rsp)\nmov -8(%rsp), %rdx\n"
		       "addq $1, -0x78(%rdx)\nret\n");
FUNCTION(moves_rbp, "push %rbp\nlea -0x70(%rsp), %rbp\n1:\nmoves_rbp_place: movq $0, (%rbp)\n"
		    "add $8, %rbp\ncmp %rsp, %rbp\njne 1b\npop %rbp\nret\n");
FUNCTION(jumped_into, "test %esi, %esi\njne 1f\nmov kept(%rip), %rdi\n1:\n"
		      "jumped_into_place: mov (%rdi), %eax\nret\n");

FUNCTION(leaves, "push %rbp\nmov %rsp, %rbp\nsub $0x30, %rsp\nlea -0x20(%rbp), %rdi\n"
		 "call keeps_start\ntest %eax, %eax\njne 1f\nleave\nret\n1: leave\n"
		 "leaves_place: ret\n");
FUNCTION(aligns, "push %rbp\nmov %rsp, %rbp\nand $-64, %rsp\nsub $0x40, %rsp\nmov %rsp, %rdi\n"
		 "call keeps_start\nleave\naligns_place: ret\n");
FUNCTION(goes_elsewhere, "push %rbx\nmov %rsp, (%rdi)\nmov (%rsi), %rsp\npop %rbx\n"
			 "goes_elsewhere_place: ret\n");

static struct code_work work;

static struct code analyse(const uint8_t *start, const uint8_t *end)
{
	struct code code;

	assert_int_equal(code_analyse(start, (size_t)(end - start), (uint64_t)(uintptr_t)start,
				      &work, &code),
			 0);
	return code;
}

#define ANALYSE(name) analyse(name##_start, name##_end)

static struct code_at describe(const uint8_t *start, const uint8_t *place, const uint8_t *end)
{
	const struct insn_entries entries = {.count = 0};
	struct code_at at;
	struct insn insn;

	assert_int_equal(
		insn_decode(place, (size_t)(end - place), (uint64_t)(uintptr_t)place, &insn), 0);
	assert_int_equal(code_describe(start, (size_t)(end - start), &entries,
				       (size_t)(place - start), &insn, 0, &work, &at),
			 0);
	return at;
}

#define DESCRIBE(name) describe(name##_start, name##_place, name##_end)

static void addresses_leave(void **state)
{
	struct code code = ANALYSE(keeps);

	(void)state;
	assert_int_equal(code.stores, 1);
	assert_int_equal(code.store[0].value.number, RDI);
	assert_false(code.takes_address);
	code = ANALYSE(stores);
	assert_int_equal(code.stores, 1);
	assert_int_equal(code.store[0].at, stores_place - stores_start);
	assert_int_equal(code.store[0].value.number, CODE_FRAME);
	assert_int_equal(code.store[0].value.offset, -0x28);
	code = ANALYSE(returns);
	assert_int_equal(code.returns_frame, returns_place - returns_start);
}

static void frames_are_left(void **state)
{
	struct code code = ANALYSE(leaves);

	(void)state;
	assert_int_equal(code.leaves, 2);
	assert_int_equal(code.leave[1], leaves_place - leaves_start);
	assert_false(code.moves_freely);
	code = ANALYSE(aligns);
	assert_true(code.moves_freely);
	assert_true(code.takes_address);
	assert_int_equal(code.leaves, 1);
	assert_int_equal(code.leave[0], aligns_place - aligns_start);
	/* It returns on another stack. */
	code = ANALYSE(goes_elsewhere);
	assert_int_equal(code.leaves, 0);
}

static void addresses_are_handed_on(void **state)
{
	struct code code = ANALYSE(hands);
	bool found = false;

	(void)state;
	assert_true(code.calls);
	assert_true(code.takes_address);
	for (unsigned i = 0; i < code.passes; i++)
		if (code.pass[i].to == RDI) {
			assert_int_equal(code.pass[i].value.number, CODE_FRAME);
			assert_int_equal(code.pass[i].value.offset, 8 - 0x28);
			assert_int_equal(code.pass[i].target, (uintptr_t)keeps_start);
			found = true;
		}
	assert_true(found);
}

static void prologues_save(void **state)
{
	struct code code = ANALYSE(guarded);

	(void)state;
	assert_true(code.saved.known);
	assert_int_equal(code.saved.offset, -16);
	assert_true(code.canary.known);
	assert_int_equal(code.canary.offset, -16 - 0x48 + 0x38);
	assert_int_equal(code.depth, -16 - 0x48);
	assert_true(code.ready > code.canary_at);
	/* Pushed to make room for a local, which may be written. */
	code = ANALYSE(makes_room);
	assert_false(code.saved.known);
	assert_false(code.unwinds);
	assert_true(ANALYSE(raises).unwinds);
}

/* What lifts the stack pointer again is no prologue, though nothing stands between. */
static void prologues_end(void **state)
{
	struct code code = ANALYSE(returns);

	(void)state;
	assert_int_equal(code.ready, 1);
	assert_int_equal(code.depth, -8);
	/* Memory of unknown size, whose address no origin tells. */
	code = ANALYSE(grows);
	assert_true(code.takes_address);
	assert_true(code.moves_freely);
	assert_int_equal(code.depth, -0x18);
	assert_false(ANALYSE(stores).moves_freely);
}

/* Behind a jump table the frame is as it was before. */
static void switches_are_followed(void **state)
{
	struct code code = ANALYSE(switches);

	(void)state;
	assert_true(code.calls);
	assert_true(code.takes_address);
	assert_false(code.moves_freely);
	assert_int_equal(code.lowest_taken, -0x48);
	assert_int_equal(code.depth, -0x48);
	assert_int_equal(code.passes > 0, 1);
}

static void calls_lead_elsewhere(void **state)
{
	struct code code = ANALYSE(grows);

	(void)state;
	assert_int_equal(code.indirects, 1);
	assert_int_equal(code.indirect[0].at, grows_place - grows_start);
	assert_int_equal(code.indirect[0].pointer, 0);
	code = ANALYSE(goes_on);
	assert_int_equal(code.indirects, 2);
	assert_true(code.indirect[0].pointer != 0);
	assert_int_equal(code.indirect[1].at, goes_on_place - goes_on_start);
	code = ANALYSE(hands);
	assert_int_equal(code.indirects, 0);
	assert_int_equal(code.names, 1);
	assert_int_equal(code.name_at[0], hands_place - hands_start);
}

static void values_come_from_arguments(void **state)
{
	struct code_at at = DESCRIBE(spills);

	(void)state;
	assert_true(at.depth_known);
	assert_int_equal(at.depth, -8);
	assert_int_equal(at.base_register, RAX);
	assert_int_equal(at.base.number, RDI);
	assert_int_equal(at.base.offset, 0);
	at = DESCRIBE(spills_twice);
	assert_int_equal(at.base.number, INSN_ORIGIN_NONE);
	at = DESCRIBE(jumped_into);
	assert_int_equal(at.base.number, INSN_ORIGIN_NONE);
	at = DESCRIBE(own);
	assert_int_equal(at.base.number, CODE_FRAME);
}

/* The address of the access is in the function's own frame, whatever the index. */
static void frames_are_indexed(void **state)
{
	struct code_at at = DESCRIBE(own_indexed);

	(void)state;
	assert_int_equal(at.base.number, CODE_FRAME);
	assert_int_equal(at.base_register, -1);
	at = DESCRIBE(own_index);
	assert_int_equal(at.base.number, CODE_FRAME);
	assert_int_equal(at.base_register, -1);
}

/* Whatever is made of an address in the frame may lead below it, by an offset that is not known;
 * a frame pointer that stays as it was set does not. */
static void addresses_are_formed(void **state)
{
	struct code code = ANALYSE(own_indexed);

	(void)state;
	assert_true(code.frame_pointer);
	assert_false(code.forms_address);
	assert_false(ANALYSE(spills).forms_address);
	assert_false(ANALYSE(keeps).frame_pointer);
	assert_false(ANALYSE(keeps).forms_address);
	assert_true(ANALYSE(forms_indexed).forms_address);
	assert_true(ANALYSE(forms_added).forms_address);
	assert_true(ANALYSE(forms_vector).forms_address);
	assert_true(ANALYSE(forms_stored).forms_address);
	assert_true(ANALYSE(moves_rbp).forms_address);
	assert_true(ANALYSE(moves_rbp).frame_pointer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_indexed),
		cmocka_unit_test(addresses_are_formed),
		cmocka_unit_test(addresses_leave),
		cmocka_unit_test(frames_are_left),
		cmocka_unit_test(addresses_are_handed_on),
		cmocka_unit_test(prologues_save),
		cmocka_unit_test(prologues_end),
		cmocka_unit_test(calls_lead_elsewhere),
		cmocka_unit_test(switches_are_followed),
		cmocka_unit_test(values_come_from_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
