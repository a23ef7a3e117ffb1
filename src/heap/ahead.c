/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aligned words that begin inside a block and end outside: own strlen() and memchr(), hashes and
 * comparisons load whole words and throw away what does not count. Such a word lies in one page,
 * and in no other block. A structure that is larger than its block is loaded so, too. What becomes
 * of the bytes beyond the end tells the two apart (insn/shadow.h): an error is what decides
 * something, or is stored elsewhere than on the thread's stack, where unoptimised code keeps all
 * that it loads.
 */
#include "heap/ahead.h"

#include "base/lines.h"
#include "heap/state.h"
#include "insn/search.h"
#include "insn/shadow.h"
#include "tool/registers.h"

#include <string.h>

#define LINES 64u
#define CODE_MOST 16384u /* bytes of a function in which constants are looked for … */
#define CODE_AROUND 512u /* … and on either side of a load whose function is not known */
#define STEPS 1000u	 /* instructions that are followed: some 0.3 ms */
#define WORD_LEAST 4u
#define WORD_MOST 8u
#define STACK_REACH (8u << 20) /* bytes above a stack pointer that are taken for its stack */
#define RED_ZONE 128u
#define STACK_POINTER 4

struct ahead {
	const struct heap *heap;
	pid_t pid;
	struct lines lines;
	struct line line[LINES];
	struct shadow_walk walk;
};

static bool read_line(void *context, uint64_t address, uint8_t *bytes)
{
	const struct ahead *ahead = context;

	return ahead->heap->services->read(ahead->heap->host, ahead->pid, address, bytes,
					   LINES_BYTES) == (ssize_t)LINES_BYTES;
}

static int read_memory(void *context, uint64_t address, void *to, size_t length)
{
	struct ahead *ahead = context;

	return lines_read(&ahead->lines, address, to, length);
}

static size_t read_code(void *context, uint64_t pc, uint8_t *bytes, size_t max)
{
	struct ahead *ahead = context;

	return lines_read_code(&ahead->lines, pc, bytes, max);
}

/* Where in its function the constants stand, the compiler decides. */
static bool searches(struct ahead *ahead, const struct tl_access *access)
{
	static uint8_t code[CODE_MOST]; /* one thread */
	const struct tl_services *services = ahead->heap->services;
	struct insn_memory memory = {.read = read_memory, .context = ahead};
	uint64_t start, end;
	bool whole = services->function(ahead->heap->host, access->pid, access->pc, &start, &end) ==
			     0 &&
		     end - start <= sizeof(code);
	ssize_t got;

	if (!whole) {
		start = access->pc - CODE_AROUND;
		end = access->pc + CODE_AROUND;
	}
	got = services->read(ahead->heap->host, access->pid, start, code, end - start);
	return got > 0 && (insn_searches_words(code, (size_t)got, access->length) ||
			   (whole && insn_searches_by_constant(code, (size_t)got, start,
							       access->length, &memory)));
}

static enum shadow_function follow_all(void *context, const struct shadow_state *state,
				       struct shadow_answer *answer)
{
	(void)context;
	(void)state;
	(void)answer;
	return SHADOW_FOLLOW;
}

static bool is_stored_elsewhere(const struct shadow_found *found, uint64_t stack)
{
	for (unsigned i = 0; i < found->copies; i++)
		if (found->copy[i].address - (stack - RED_ZONE) >= STACK_REACH)
			return true;
	return false;
}

/* The thread is held, so its memory is as the load left it. */
static bool follow(struct ahead *ahead, const struct tl_access *access, uint64_t end,
		   struct shadow_found *found)
{
	static const uint8_t bits[WORD_MOST] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	struct insn_registers after = tool_registers(access->registers, access->registers->pc);
	struct shadow_load load = {.pc = access->pc,
				   .address = end,
				   .bits = bits,
				   .length = access->address + access->length - end,
				   .accessed = access->address,
				   .after = &after,
				   .known = 0xffff};

	ahead->walk.read = read_memory;
	ahead->walk.code = read_code;
	ahead->walk.function = follow_all;
	ahead->walk.context = ahead;
	ahead->walk.steps = STEPS;
	ahead->walk.compare = true;
	return shadow_follow(&ahead->walk, &load, found) == 0;
}

static bool is_used(struct ahead *ahead, const struct tl_access *access, uint64_t end)
{
	struct shadow_found found;

	return access->registers && !access->before &&
	       ahead->heap->services->held(ahead->heap->host) &&
	       follow(ahead, access, end, &found) &&
	       ((found.sink && found.certain && !found.vague) ||
		is_stored_elsewhere(&found, access->registers->general[STACK_POINTER]));
}

/* What rules.c decides by without asking what becomes of the bytes beyond: to follow them costs up
 * to half a millisecond, and most hits are of string functions. */
#define DECIDED                                                                         \
	(TL_TRAIT_BEYOND | TL_TRAIT_BOUNDED | TL_TRAIT_UNBOUNDED | TL_TRAIT_UNALIGNED | \
	 TL_TRAIT_UNEXPLAINED)

bool ahead_loads_too_much(const struct heap *heap, const struct tl_guarded *block,
			  const struct tl_access *access)
{
	static struct ahead ahead; /* large; one thread */
	const uint64_t end = block->address + block->length;

	if ((access->access & (TL_READ | TL_WRITE | TL_KERNEL)) != TL_READ ||
	    access->traits & DECIDED || access->length < WORD_LEAST || access->length > WORD_MOST ||
	    access->address % access->length || access->address < block->address ||
	    access->address >= end || access->address + access->length <= end)
		return false;
	ahead.heap = heap;
	ahead.pid = access->pid;
	ahead.lines = (struct lines){ahead.line, LINES, read_line, &ahead};
	lines_forget(&ahead.lines);
	return !is_used(&ahead, access, end) || searches(&ahead, access);
}
