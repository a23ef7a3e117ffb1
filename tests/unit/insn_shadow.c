/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a value, in code assembled here. Each piece begins behind the load of the eight
 * bytes at `loaded`, of which rdi is the address. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "insn/shadow.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 };

/* `load` makes the access; `behind` is followed. */
#define CODE(name, load, behind)                                                             \
	extern const uint8_t name##_start[], name##_behind[];                                \
	__asm__(".pushsection .text\n" #name "_start:\n" load "\n" #name "_behind:\n" behind \
		"\nud2\n.popsection")

#define LOAD "mov (%rdi), %rax"

CODE(branch, LOAD, "test %rax, %rax\njz 1f\nnop\n1:");
CODE(no_use, LOAD, "mov %rax, %rcx\nxor %eax, %eax\nxor %ecx, %ecx\ntest %eax, %eax\njz 1f\n1:");
CODE(spilled, LOAD, "mov %rax, -16(%rsp)\nmov -16(%rsp), %rcx\ncmp $1, %ecx\njl 1f\nnop\n1:");
CODE(copied, LOAD, "mov %rax, (%rsi)\nxor %eax, %eax");
CODE(copied_in_part, LOAD, "and $-8, %rax\nor $2, %rax\nmov %rax, (%rsi)\nxor %eax, %eax");
CODE(copied_perhaps, LOAD,
     "movq %xmm0, %rcx\ntest %ecx, %ecx\njz 1f\nmov %rax, (%rsi)\n1: xor %eax, %eax");
CODE(overwritten, LOAD, "mov %rax, (%rsi)\nmovq $0, (%rsi)\nmov $0, %eax");
CODE(low_byte, LOAD, "and $0xff, %eax\ntest %eax, %eax\njz 1f\nnop\n1:");
CODE(other_byte, LOAD, "shr $8, %rax\ntest %al, %al\njz 1f\nnop\n1: xor %eax, %eax");
CODE(masked_out, LOAD, "and $0xff00, %eax\ntest %eax, %eax\njz 1f\nnop\n1: xor %eax, %eax");
CODE(address, LOAD, "mov (%rax), %rcx");
CODE(index, LOAD, "and $15, %eax\nmov (%rsi,%rax,4), %ecx");
CODE(address_only_made, LOAD, "lea (%rax,%rsi), %rcx\nxor %ecx, %ecx\nxor %eax, %eax");
CODE(call_through, LOAD, "call *%rax");
CODE(jump_through, LOAD, "jmp *%rax");
CODE(set_and_branch, LOAD, "cmp $3, %rax\nsete %cl\nxor %eax, %eax\ntest %cl, %cl\njne 1f\n1:");
CODE(moved_by_condition, LOAD,
     "cmp $3, %rax\ncmove %rsi, %rdx\nxor %eax, %eax\ncmp $1, %rdx\nja 1f\n1:");
CODE(other_side_moved, LOAD,
     "xor %ecx, %ecx\ntest %ecx, %ecx\ncmovne %rax, %rdx\nxor %eax, %eax\ncmp $9, %edx\nja 1f\n1:");
CODE(vector_copy, "movdqu (%rdi), %xmm1", "movups %xmm1, (%rsi)\npxor %xmm1, %xmm1");
CODE(vector_scan, "pcmpeqb (%rdi), %xmm1", "pmovmskb %xmm1, %eax\ntest %eax, %eax\njz 1f\n1:");
CODE(vector_high, "movdqu (%rdi), %xmm1",
     "movhlps %xmm1, %xmm2\nmovq %xmm2, %rax\npxor %xmm1, %xmm1\npxor %xmm2, %xmm2\n"
     "test %rax, %rax\njz 1f\nnop\n1: xor %eax, %eax");
CODE(shuffled, "movdqu (%rdi), %xmm1",
     "pshufd $0x4e, %xmm1, %xmm1\nmovq %xmm1, %rax\npxor %xmm1, %xmm1\ntest %rax, %rax\njz 1f\nnop\n"
     "1: xor %eax, %eax");
CODE(replaced_whole, "movdqu (%rdi), %xmm1",
     "movdqa %xmm1, %xmm3\npshufb %xmm2, %xmm1\nmovdqa %xmm3, %xmm1\nmovq %xmm1, %rax\n"
     "test %rax, %rax\njz 1f\nnop\n1: xor %eax, %eax");
CODE(interleaved, "movdqu (%rdi), %xmm1",
     "pxor %xmm2, %xmm2\npunpcklqdq %xmm1, %xmm2\nmovups %xmm2, (%rsi)\npxor %xmm1, %xmm1\n"
     "pxor %xmm2, %xmm2");
CODE(argument, LOAD, "mov %eax, %edi\nmov $3, %eax\nsyscall");
CODE(sent, LOAD, "mov %rax, (%rsi)\nxor %edi, %edi\nmov $8, %edx\nmov $1, %eax\nsyscall");
CODE(not_sent, LOAD,
     "mov %rax, 16(%rsi)\nxor %edi, %edi\nmov $8, %edx\nmov $1, %eax\nsyscall\nmovq $0, 16(%rsi)");
CODE(string_copy, LOAD,
     "mov %rax, -16(%rsp)\nmov %rsi, %rdi\nlea -16(%rsp), %rsi\nmov $8, %ecx\nrep movsb\n"
     "movq $0, -16(%rsp)\nxor %eax, %eax");
CODE(known_to_differ, LOAD,
     "and $0xff, %eax\nor $0x100, %eax\ntest %eax, %eax\njz 1f\ncmp $0x80000, %eax\nja 1f\n1: "
     "xor %eax, %eax");
CODE(bit_field, "movzbl (%rdi), %eax",
     "and $0xf8, %eax\nor $1, %eax\nmov %al, (%rdi)\nmov $0, %eax\ntest %esp, %esp\njz 1f\n1:");
CODE(either_way, LOAD,
     "movq %xmm0, %rcx\ntest %ecx, %ecx\njz 1f\ntest %eax, %eax\njz 2f\n1: cmp $5, %rax\nja 2f\n2:");
CODE(one_way, LOAD,
     "movq %xmm0, %rcx\ntest %ecx, %ecx\njz 1f\ntest %eax, %eax\njz 1f\n1: xor %eax, %eax");
/* More branches than ways can be kept; on the last one's other way the value is of no account. */
CODE(many_ways, LOAD,
     "movq %xmm0, %rcx\n.rept 6\ntest %ecx, %ecx\njz 1f\n.endr\ntest %ecx, %ecx\njz 2f\n"
     "1: test %eax, %eax\njz 2f\nnop\n2: xor %eax, %eax");
CODE(called, LOAD, "call 2f\nxor %eax, %eax\nud2\n2: test %rax, %rax\njz 1f\n1: ret");
CODE(loop, LOAD, "1: mov %rax, %rcx\njmp 1b");
CODE(reversed, LOAD, "bswap %rax\ntest %al, %al\njz 1f\nnop\n1: xor %eax, %eax");
CODE(summed, LOAD, "add $1, %rax\ntest %al, %al\njz 1f\nnop\n1: xor %eax, %eax");
CODE(doubled, LOAD,
     "and $0x801fffff, %eax\nor $0x5a00000, %eax\nadd %eax, %eax\njc 1f\nsar $22, %eax\n"
     "test %eax, %eax\njs 1f\nnop\n1: xor %eax, %eax");
CODE(field_doubled, LOAD,
     "and $0x801fffff, %eax\nor $0x5a00000, %eax\nadd %eax, %eax\nsar $22, %eax\n"
     "test %eax, %eax\njs 1f\nnop\n1: xor %eax, %eax");
CODE(field_doubled_by_address, LOAD,
     "and $0x801fffff, %eax\nor $0x5a00000, %eax\nlea (%rax,%rax), %ecx\nxor %eax, %eax\n"
     "sar $22, %ecx\ntest %ecx, %ecx\njs 1f\nnop\n1: xor %ecx, %ecx");

/* Three and five times: the lowest bit stays where it is, the one above is not reached. */
CODE(field_tripled, LOAD,
     "and $1, %eax\nlea (%rax,%rax,2), %ecx\nxor %eax, %eax\ntest $1, %cl\njz 1f\nnop\n1: xor %ecx, %ecx");
CODE(field_five_times, LOAD,
     "and $8, %eax\nlea (%rax,%rax,4), %ecx\nxor %eax, %eax\ntest $0x10, %cl\njz 1f\nnop\n1: xor %ecx, %ecx");

/* Eight bytes are compared, of which the upper four are behind the end. */
CODE(words_compared, LOAD,
     "xor (%rsi), %rax\njne 1f\nmov $1, %eax\njmp 2f\n1: shl $32, %rax\nsete %al\nmovzbl %al, %eax\n"
     "2: xor %ecx, %ecx\ncmp $1, %eax\nje 3f\nnop\n3:");
/* The same in a function that leaves in rdx, by one way or the other, where it has come to; what
 * follows its return is known as far as `behind`. */
#define COMPARED_APART(behind)                                                              \
	"call 2f\ncmp $1, %eax\nje 1f\nnop\n1: " behind "\nud2\n"                           \
	"2: mov %rsi, %rdx\nxor (%rsi), %rax\njne 3f\nadd $8, %rdx\nmov $1, %eax\njmp 4f\n" \
	"3: shl $32, %rax\nsete %al\nmovzbl %al, %eax\n4: ret"
#define UNKNOWN_BRANCH "movq %xmm5, %rcx\ntest %ecx, %ecx\njz 1f\nnop\n1:\n"

CODE(left_in_rdx, LOAD, COMPARED_APART(UNKNOWN_BRANCH "xor %eax, %eax"));
CODE(returned_in_rdx, LOAD, COMPARED_APART("cmp %rsi, %rdx\nje 1f\nnop\n1:" UNKNOWN_BRANCH));
CODE(kept_from_rdx, LOAD, COMPARED_APART("mov %rdx, %rbx\n" UNKNOWN_BRANCH "xor %eax, %eax"));
CODE(computed_in_rdx, LOAD, COMPARED_APART("add $1, %rdx\n" UNKNOWN_BRANCH "xor %eax, %eax"));
CODE(left_in_vector, LOAD,
     "call 2f\n" UNKNOWN_BRANCH "xor %eax, %eax\nud2\n2: test %rax, %rax\njz 3f\n"
     "paddb %xmm2, %xmm1\n3: xor %eax, %eax\nret");
CODE(used_of_vector, LOAD,
     "call 2f\nmovq %xmm1, %rbx\n" UNKNOWN_BRANCH "xor %eax, %eax\nud2\n2: test %rax, %rax\njz 3f\n"
     "paddb %xmm2, %xmm1\n3: xor %eax, %eax\nret");
CODE(either_stores, LOAD, "test %rax, %rax\njz 1f\nmovl $1, (%rsi)\n1: xor %eax, %eax");
CODE(both_store, LOAD,
     "test %rax, %rax\njz 1f\nmovl $1, (%rsi)\njmp 2f\n1: movl $1, (%rsi)\n2: xor %eax, %eax");
CODE(either_calls, LOAD, "test %rax, %rax\njz 1f\nmov $39, %eax\nsyscall\n1: xor %eax, %eax");
CODE(scratch_left, LOAD,
     "test %rax, %rax\njz 1f\nmov $5, %ecx\n1: xor %eax, %eax\nmov $1, %ecx\ntest %ecx, %ecx\njz 2f\n2:");
CODE(scratch_used, LOAD,
     "xor %ecx, %ecx\ntest %rax, %rax\njz 1f\nmov $5, %ecx\n1: xor %eax, %eax\nmov %ecx, (%rsi)");
CODE(order_of_conditions, LOAD,
     "mov $1, %edx\ncmp $3, %rax\njne 1f\ncmp $0, %edx\nje 2f\n1: xor %eax, %eax\n2: xor %eax, %eax");
CODE(shifted_away, LOAD, "shl $32, %rax\nje 1f\nnop\n1: xor %eax, %eax");
CODE(first_zero, LOAD,
     "movabs $0x0101010101010101, %rcx\nmovabs $0x8080808080808080, %rdx\nmov %rax, %rsi\nsub %rcx, %rsi\n"
     "andn %rdx, %rax, %rcx\nand %rcx, %rsi\njz 1f\nbsf %rsi, %rsi\ncmp $40, %rsi\nja 1f\nnop\n"
     "1: xor %eax, %eax");
CODE(one_bit, LOAD, "bt $9, %rax\njc 1f\nnop\n1: xor %eax, %eax");
/* Two members at once: the upper byte tells already, though the lower one's borrow reaches it. */
CODE(members_compared, LOAD, "cmp $0x201, %ax\nje 1f\nnop\n1: xor %eax, %eax");
CODE(members_subtracted, LOAD, "add $-0x201, %ax\nmov $0, %eax\nje 1f\nnop\n1: xor %eax, %eax");
CODE(carry_spread, LOAD,
     "cmp $1, %ecx\nsbb %eax, %eax\ntest %eax, %eax\njz 1f\nnop\n1: xor %eax, %eax");
CODE(greatest, LOAD,
     "mov $0xff, %ecx\nand %ecx, %eax\ncmp %ecx, %eax\nja 1f\nnop\n1: xor %eax, %eax");
CODE(vector_mask, "movdqu (%rdi), %xmm1",
     "movdqu (%rdi), %xmm2\npcmpeqb %xmm2, %xmm1\npmovmskb %xmm1, %eax\nxor $0xffff, %eax\nand $0xff, %eax\n"
     "jz 1f\nnop\n1: pxor %xmm1, %xmm1\npxor %xmm2, %xmm2\nxor %eax, %eax");
CODE(vector_unknown, "movdqu (%rdi), %xmm1",
     "pcmpeqb %xmm3, %xmm1\npmovmskb %xmm1, %eax\ntest %eax, %eax\njz 1f\nnop\n1: pxor %xmm1, %xmm1");
CODE(scalar_compared, "movupd (%rdi), %xmm1",
     "xorpd %xmm2, %xmm2\nucomisd %xmm2, %xmm1\npxor %xmm1, %xmm1\nja 1f\nnop\n1: xor %eax, %eax\n"
     "test %eax, %eax");
CODE(scalar_converted, "movupd (%rdi), %xmm1",
     "cvttsd2si %xmm1, %rax\npxor %xmm1, %xmm1\ntest %rax, %rax\njz 1f\nnop\n1: xor %eax, %eax");
CODE(vector_tested, "movdqu (%rdi), %xmm1", "ptest %xmm2, %xmm1\njz 1f\nnop\n1:");
CODE(string_searched, "movdqu (%rdi), %xmm1",
     "pcmpistri $0x18, %xmm1, %xmm2\nmov (%rsi,%rcx), %eax");
CODE(elements_masked, "vpcmpeqb (%rdi), %zmm1, %k1",
     "kmovq %k1, %rax\nkxorq %k1, %k1, %k1\ntest %rax, %rax\njz 1f\nnop\n1: xor %eax, %eax");
CODE(mask_overwritten, "and (%rdi), %rax", "jz 1f\nnop\n1: xor %eax, %eax");

/* As compilers put a bit-field together: rcx takes the place of bits 1 to 3. */
CODE(merged, LOAD,
     "mov $4, %ecx\nxor %eax, %ecx\nand $14, %ecx\nxor %ecx, %eax\nxor %ecx, %ecx\n"
     "test $14, %al\njz 1f\nnop\n1: xor %eax, %eax");
CODE(hashed, LOAD,
     "movzbl %al, %ecx\nimul $31, %ecx, %ecx\nshr $8, %rax\nmovzbl %al, %eax\nxor %eax, %ecx\n"
     "test %ecx, %ecx\njz 1f\nnop\n1:");
CODE(merged_back, LOAD,
     "mov $4, %ecx\nxor %eax, %ecx\nand $14, %ecx\nxor %ecx, %eax\nmov %rax, (%rdi)\n"
     "xor %ecx, %ecx\nxor %eax, %eax");
CODE(updated, "orb $3, (%rdi)", "movb $0, 1(%rdi)\nxor %eax, %eax");
CODE(stored_twice, LOAD,
     "and $0xfffffff0, %eax\nor $5, %eax\nmov %al, (%rdi)\nor $0x30, %eax\nmov %al, (%rdi)\n"
     "xor %eax, %eax");
CODE(stored_on_one_way, LOAD,
     "movq %xmm0, %rcx\ntest %ecx, %ecx\njz 1f\nor $5, %eax\nmov %al, (%rdi)\n1: xor %eax, %eax");
CODE(scalar_summed, "movsd (%rdi), %xmm1",
     "addsd %xmm2, %xmm1\nmulsd %xmm1, %xmm1\nucomisd %xmm2, %xmm1\nja 1f\nnop\n1: pxor %xmm1, %xmm1");
CODE(bit_set, LOAD, "bts $3, %rax\nbt $3, %rax\njc 1f\nnop\n1: xor %eax, %eax");
CODE(bit_turned, LOAD, "btc $3, %rax\nbt $3, %rax\njc 1f\nnop\n1: xor %eax, %eax");

static uint64_t loaded[4], other[32], stack[64];
static struct shadow_walk walk;
static struct shadow_found found;
static uint64_t before[INSN_GENERAL];
static uint16_t recovered;

static int read_memory(void *context, uint64_t address, void *to, size_t length)
{
	struct iovec here = {to, length}, there = {(void *)(uintptr_t)address, length};

	(void)context;
	return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)length ? 0 : -EFAULT;
}

static size_t read_code(void *context, uint64_t pc, uint8_t *bytes, size_t max)
{
	return read_memory(context, pc, bytes, max) ? 0 : max;
}

static enum shadow_function follow(void *context, const struct shadow_state *state,
				   struct shadow_answer *answer)
{
	(void)context;
	(void)state;
	(void)answer;
	return SHADOW_FOLLOW;
}

/* Of the first 16 bytes at `loaded`, those that `bytes` has a bit for were never written. */
static void run(const uint8_t *start, const uint8_t *behind, unsigned bytes)
{
	uint8_t bits[16];
	struct insn_registers after = {.pc = (uintptr_t)behind};
	struct shadow_load load = {.pc = (uintptr_t)start,
				   .address = (uintptr_t)loaded,
				   .accessed = (uintptr_t)loaded,
				   .bits = bits,
				   .length = sizeof(bits),
				   .after = &after,
				   .known = 0xffff,
				   .before = before,
				   .recovered = recovered};

	for (unsigned i = 0; i < sizeof(bits); i++)
		bits[i] = bytes >> i & 1 ? 0xff : 0;
	after.general[RAX] = loaded[0];
	after.general[RDI] = (uintptr_t)loaded;
	after.general[RSI] = (uintptr_t)other;
	after.general[RSP] = (uintptr_t)&stack[32];
	walk.read = read_memory;
	walk.code = read_code;
	walk.function = follow;
	walk.steps = 1000;
	assert_int_equal(shadow_follow(&walk, &load, &found), 0);
}

#define RUN(name, bytes) run(name##_start, name##_behind, bytes)
#define EXPECT(name, bytes, expected)                       \
	do {                                                \
		RUN(name, bytes);                           \
		if (found.sink != (expected))               \
			fail_msg(#name ": %u", found.sink); \
	} while (0)

static void a_branch_depends_on_it(void **state)
{
	(void)state;
	EXPECT(branch, 0xff, SHADOW_SINK_BRANCH);
	assert_true(found.certain);
	assert_false(found.vague);
	EXPECT(branch, 0, SHADOW_SINK_NONE);
	EXPECT(spilled, 0xf, SHADOW_SINK_BRANCH);
	EXPECT(spilled, 0xf0, SHADOW_SINK_NONE);
	EXPECT(set_and_branch, 0xff, SHADOW_SINK_BRANCH);
	EXPECT(moved_by_condition, 0xff, SHADOW_SINK_BRANCH);
	EXPECT(called, 0xff, SHADOW_SINK_BRANCH);
	EXPECT(no_use, 0xff, SHADOW_SINK_NONE);
	EXPECT(other_side_moved, 0xff, SHADOW_SINK_NONE);
}

static void only_the_bytes_that_count(void **state)
{
	(void)state;
	EXPECT(low_byte, 1, SHADOW_SINK_BRANCH);
	EXPECT(low_byte, 0xfe, SHADOW_SINK_NONE);
	EXPECT(other_byte, 2, SHADOW_SINK_BRANCH);
	EXPECT(other_byte, 0xfd, SHADOW_SINK_NONE);
	EXPECT(masked_out, 0xfd, SHADOW_SINK_NONE);
	EXPECT(masked_out, 2, SHADOW_SINK_BRANCH);
	EXPECT(known_to_differ, 0xff, SHADOW_SINK_NONE);
	EXPECT(bit_field, 0xff, SHADOW_SINK_NONE);
	EXPECT(reversed, 0x80, SHADOW_SINK_BRANCH);
	EXPECT(reversed, 0x7f, SHADOW_SINK_NONE);
	EXPECT(summed, 0xfe, SHADOW_SINK_NONE);
	EXPECT(summed, 0x1, SHADOW_SINK_BRANCH);
	EXPECT(doubled, 0x8, SHADOW_SINK_BRANCH);
	EXPECT(doubled, 0x7, SHADOW_SINK_NONE);
	EXPECT(field_doubled, 0xf, SHADOW_SINK_NONE);
	EXPECT(field_doubled_by_address, 0xf, SHADOW_SINK_NONE);
	EXPECT(field_tripled, 0xf, SHADOW_SINK_BRANCH);
	EXPECT(field_five_times, 0xf, SHADOW_SINK_NONE);
}

static void addresses_and_targets(void **state)
{
	(void)state;
	EXPECT(address, 0xff, SHADOW_SINK_ADDRESS);
	EXPECT(index, 1, SHADOW_SINK_INDEX);
	EXPECT(index, 0xfe, SHADOW_SINK_NONE);
	EXPECT(address_only_made, 0xff, SHADOW_SINK_NONE);
	EXPECT(call_through, 0xff, SHADOW_SINK_TARGET);
	EXPECT(jump_through, 0xff, SHADOW_SINK_TARGET);
}

static void copies_are_told(void **state)
{
	(void)state;
	EXPECT(copied, 0xf0, SHADOW_SINK_NONE);
	assert_int_equal(found.copies, 1);
	assert_int_equal(found.copy[0].address, (uintptr_t)other + 4);
	assert_int_equal(found.copy[0].length, 4);
	assert_true(found.copied_surely[0]);
	EXPECT(copied_in_part, 0xff, SHADOW_SINK_NONE);
	assert_int_equal(found.copies, 1);
	assert_false(found.copied_surely[0]);
	EXPECT(copied_perhaps, 0xff, SHADOW_SINK_NONE);
	assert_false(found.copies && found.copied_surely[0]);
	EXPECT(overwritten, 0xff, SHADOW_SINK_NONE);
	assert_int_equal(found.copies, 0);
	EXPECT(vector_copy, 0x3c00, SHADOW_SINK_NONE);
	assert_int_equal(found.copies, 1);
	assert_int_equal(found.copy[0].address, (uintptr_t)other + 10);
	assert_int_equal(found.copy[0].length, 4);
	EXPECT(string_copy, 0x6, SHADOW_SINK_NONE);
	assert_int_equal(found.copies, 1);
	assert_int_equal(found.copy[0].address, (uintptr_t)other + 1);
	assert_int_equal(found.copy[0].length, 2);
}

static void vectors_are_followed(void **state)
{
	(void)state;
	EXPECT(vector_scan, 0x100, SHADOW_SINK_BRANCH);
	EXPECT(vector_high, 0xff00, SHADOW_SINK_BRANCH);
	EXPECT(vector_high, 0xff, SHADOW_SINK_NONE);
	EXPECT(shuffled, 0xff00, SHADOW_SINK_BRANCH);
	assert_false(found.vague);
	EXPECT(shuffled, 0xff, SHADOW_SINK_NONE);
	EXPECT(replaced_whole, 0xff, SHADOW_SINK_BRANCH);
	assert_false(found.vague);
	EXPECT(scalar_compared, 0xff00, SHADOW_SINK_NONE);
	EXPECT(scalar_compared, 0x80, SHADOW_SINK_BRANCH);
	assert_false(found.vague);
	EXPECT(scalar_summed, 0xff00, SHADOW_SINK_NONE);
	EXPECT(scalar_summed, 0x80, SHADOW_SINK_BRANCH);
	assert_false(found.vague);
	EXPECT(scalar_converted, 0xff00, SHADOW_SINK_NONE);
	EXPECT(scalar_converted, 0x80, SHADOW_SINK_BRANCH);
	assert_false(found.vague);
	EXPECT(interleaved, 0x3, SHADOW_SINK_NONE);
	assert_int_equal(found.copies, 1);
	assert_int_equal(found.copy[0].address, (uintptr_t)other + 8);
	assert_int_equal(found.copy[0].length, 2);
}

static void branches_of_which_nothing_comes(void **state)
{
	(void)state;
	walk.compare = true;
	loaded[0] = other[0] = 0x1122334455667788;
	EXPECT(words_compared, 0xf0, SHADOW_SINK_NONE);
	assert_int_equal(found.alike, 1);
	EXPECT(words_compared, 0x0f, SHADOW_SINK_BRANCH);
	assert_true(found.certain && !found.vague);
	EXPECT(left_in_rdx, 0xf0, SHADOW_SINK_NONE);
	EXPECT(left_in_rdx, 0x0f, SHADOW_SINK_BRANCH);
	EXPECT(returned_in_rdx, 0xf0, SHADOW_SINK_BRANCH);
	EXPECT(kept_from_rdx, 0xf0, SHADOW_SINK_BRANCH);
	EXPECT(computed_in_rdx, 0xf0, SHADOW_SINK_BRANCH);
	EXPECT(left_in_vector, 0xff, SHADOW_SINK_NONE);
	EXPECT(used_of_vector, 0xff, SHADOW_SINK_BRANCH);
	/* Others may see what one way stores, whatever was there. */
	EXPECT(either_stores, 0xff, SHADOW_SINK_BRANCH);
	EXPECT(both_store, 0xff, SHADOW_SINK_NONE);
	EXPECT(either_calls, 0xff, SHADOW_SINK_BRANCH);
	EXPECT(scratch_left, 0xff, SHADOW_SINK_NONE);
	EXPECT(scratch_used, 0xff, SHADOW_SINK_BRANCH);
	EXPECT(order_of_conditions, 0xff, SHADOW_SINK_NONE);
	EXPECT(address, 0xff, SHADOW_SINK_ADDRESS);
	loaded[0] = other[0] = 0;
	walk.compare = false;
}

static void bits_that_decide(void **state)
{
	(void)state;
	EXPECT(shifted_away, 0xf0, SHADOW_SINK_NONE);
	EXPECT(shifted_away, 0x01, SHADOW_SINK_BRANCH);
	loaded[0] = 0x6100646362616161; /* its seventh byte is the terminator */
	EXPECT(first_zero, 0x80, SHADOW_SINK_NONE);
	EXPECT(first_zero, 0x20, SHADOW_SINK_BRANCH);
	loaded[0] = 0;
	EXPECT(one_bit, 0x02, SHADOW_SINK_BRANCH);
	EXPECT(one_bit, 0xfd, SHADOW_SINK_NONE);
	EXPECT(carry_spread, 0xff, SHADOW_SINK_NONE);
	loaded[0] = 0x342;
	EXPECT(members_compared, 0x01, SHADOW_SINK_NONE);
	EXPECT(members_compared, 0x02, SHADOW_SINK_NONE); /* the lower byte tells, too */
	EXPECT(members_subtracted, 0x01, SHADOW_SINK_NONE);
	loaded[0] = 0x242;
	EXPECT(members_compared, 0x01, SHADOW_SINK_BRANCH);
	EXPECT(members_subtracted, 0x01, SHADOW_SINK_BRANCH);
	loaded[0] = 0;
	EXPECT(greatest, 0xff, SHADOW_SINK_NONE);
}

static void what_is_not_known_makes_it_vague(void **state)
{
	(void)state;
	EXPECT(vector_mask, 0xff00, SHADOW_SINK_NONE);
	EXPECT(vector_mask, 0x80, SHADOW_SINK_BRANCH);
	assert_false(found.vague);
	EXPECT(vector_unknown, 0x80, SHADOW_SINK_BRANCH);
	assert_true(found.vague);
	/* Of these only some bytes may count. */
	EXPECT(vector_tested, 0x80, SHADOW_SINK_BRANCH);
	assert_true(found.vague);
	EXPECT(string_searched, 0x8000, SHADOW_SINK_INDEX);
	assert_true(found.vague);
	EXPECT(elements_masked, 0x8000, SHADOW_SINK_BRANCH);
	assert_true(found.vague);
	/* What the mask was, the register no longer tells. */
	EXPECT(mask_overwritten, 0xf0, SHADOW_SINK_BRANCH);
	assert_true(found.vague);
	recovered = 1u << RAX;
	before[RAX] = 0xffff;
	EXPECT(mask_overwritten, 0xf0, SHADOW_SINK_NONE);
	EXPECT(mask_overwritten, 0x02, SHADOW_SINK_BRANCH);
	assert_false(found.vague);
	recovered = 0;
}

static void bits_that_cancel(void **state)
{
	(void)state;
	EXPECT(merged, 0xff, SHADOW_SINK_BRANCH);
	assert_true(found.vague);
	EXPECT(hashed, 0xff, SHADOW_SINK_BRANCH);
	assert_false(found.vague);
	EXPECT(bit_set, 0xff, SHADOW_SINK_NONE);
	EXPECT(bit_turned, 0xff, SHADOW_SINK_BRANCH);
}

/* Of a bit-field's word, what is left that nobody wrote. */
static void stores_to_where_it_was_loaded(void **state)
{
	(void)state;
	EXPECT(bit_field, 0xff, SHADOW_SINK_NONE);
	assert_int_equal(found.stores, 1);
	assert_int_equal(found.store[0].bits, 0xfffffffffffffff8);
	EXPECT(updated, 0xff, SHADOW_SINK_NONE);
	assert_int_equal(found.stores, 2);
	assert_int_equal(found.store[0].pc, (uintptr_t)updated_start);
	assert_int_equal(found.store[0].bits, 0xfffffffffffffffc);
	assert_int_equal(found.store[1].bits, 0xffffffffffff00fc);
	EXPECT(stored_twice, 0x01, SHADOW_SINK_NONE);
	assert_int_equal(found.stores, 2);
	assert_int_equal(found.store[0].bits, 0xf0);
	assert_int_equal(found.store[1].bits, 0xc0);
	EXPECT(stored_on_one_way, 0x01, SHADOW_SINK_NONE);
	assert_int_equal(found.stores, 0);
	EXPECT(merged_back, 0x01, SHADOW_SINK_NONE);
	assert_int_equal(found.stores, 0);
}

static void system_calls(void **state)
{
	(void)state;
	EXPECT(argument, 0xf, SHADOW_SINK_ARGUMENT);
	assert_int_equal(found.argument, 0);
	assert_int_equal(found.call, 3);
	EXPECT(argument, 0xf0, SHADOW_SINK_NONE);
	EXPECT(sent, 0xf0, SHADOW_SINK_SENT);
	assert_int_equal(found.bytes.address, (uintptr_t)other + 4);
	assert_int_equal(found.bytes.length, 4);
	EXPECT(not_sent, 0xff, SHADOW_SINK_NONE);
}

static void ways_that_are_not_known(void **state)
{
	(void)state;
	EXPECT(either_way, 0xff, SHADOW_SINK_BRANCH);
	assert_true(found.certain);
	EXPECT(one_way, 0xff, SHADOW_SINK_BRANCH);
	assert_false(found.certain);
	EXPECT(many_ways, 0xff, SHADOW_SINK_BRANCH);
	assert_false(found.certain);
	EXPECT(loop, 0xff, SHADOW_SINK_NONE);
	assert_int_equal(found.steps, 1000);
}

/* Nothing that bytes say makes it leave its bounds. */
static void anything_is_bounded(void **state)
{
	static uint8_t code[4096 + 64];
	uint64_t random = 7;

	(void)state;
	walk.compare = true;
	for (unsigned i = 0; i < 3000; i++) {
		for (unsigned j = 0; j < sizeof(code); j++) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			code[j] = (uint8_t)(random >> 56);
		}
		memcpy(code, (const uint8_t[]){0x48, 0x8b, 0x07}, 3);
		walk.steps = 200;
		run(code, code + 3, 0xff);
		assert_true(found.steps <= 1000 && found.copies <= SHADOW_RANGES);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_branch_depends_on_it),
		cmocka_unit_test(only_the_bytes_that_count),
		cmocka_unit_test(addresses_and_targets),
		cmocka_unit_test(copies_are_told),
		cmocka_unit_test(vectors_are_followed),
		cmocka_unit_test(branches_of_which_nothing_comes),
		cmocka_unit_test(bits_that_decide),
		cmocka_unit_test(what_is_not_known_makes_it_vague),
		cmocka_unit_test(bits_that_cancel),
		cmocka_unit_test(stores_to_where_it_was_loaded),
		cmocka_unit_test(system_calls),
		cmocka_unit_test(ways_that_are_not_known),
		cmocka_unit_test(anything_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
