/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which code is in use, and by which thread: where clock samples fell, where sleeping threads will
 * return to (found on their stacks), and what a held thread is about to call.
 */
#include "usage/in_use.h"

#include "process/thread_status.h"

#define STACK_RETURNS 4
#define LOOKED_AT 4 /* sleeping threads that one look visits */
#define THREADS_MOST 4096
#define STACK_WORDS 256 /* words of a stack that are read, from the stack pointer on */

struct background_thread *background_find(struct target *target, pid_t tid)
{
	struct usage *usage = usage_of(target);

	for (unsigned i = 0; i < usage->background_count; i++)
		if (usage->background[i].tid == tid)
			return &usage->background[i];
	return NULL;
}

static bool is_call_before(struct space *space, uint64_t pc)
{
	uint8_t bytes[7];

	if (space_code(space, pc - 7, bytes, 7) != 7)
		return false;
	return bytes[2] == 0xe8 || bytes[5] == 0xff || bytes[4] == 0xff || bytes[1] == 0xff ||
	       (bytes[0] == 0xff && (bytes[1] >> 3 & 7) == 2);
}

/* A background thread has sites of its own, since it runs code that others do not. */
struct sites *code_sites(struct target *target, pid_t tid)
{
	struct background_thread *thread = background_find(target, tid);

	return thread ? &thread->sites : &target->explored->memory.sites;
}

struct sites *code_starts(struct target *target, pid_t tid)
{
	struct background_thread *thread = background_find(target, tid);

	return thread ? &thread->starts : &target->explored->memory.starts;
}

void code_note(struct target *target, pid_t tid, uint64_t pc)
{
	sites_note(code_sites(target, tid), &target->program->random, pc);
}

bool code_is_interesting(struct target *target, uint64_t pc)
{
	const char *module = space_module(target->space, pc);

	return module && program_wants_module(target->program, module) &&
	       !space_is_libc(target->space, pc);
}

/* Reads the return addresses near the top of a sleeping thread's stack. */
static unsigned read_stack(struct target *target, uint64_t stack_pointer,
			   uint64_t returns[static STACK_RETURNS])
{
	uint64_t words[STACK_WORDS];
	ssize_t length = space_read(target->space, stack_pointer, words, sizeof(words));
	unsigned found = 0;

	for (ssize_t i = 0; i < length / 8 && found < STACK_RETURNS; i++)
		if (!(words[i] >> 47) && words[i] >= 4096 &&
		    code_is_interesting(target, words[i]) &&
		    is_call_before(target->space, words[i]))
			returns[found++] = words[i];
	return found;
}

static void note_stack(struct target *target, struct sites *sites, uint64_t stack_pointer)
{
	uint64_t returns[STACK_RETURNS];
	unsigned found = read_stack(target, stack_pointer, returns);

	for (unsigned i = 0; i < found; i++)
		sites_note(sites, &target->program->random, returns[i]);
}

static void look_at_thread(struct target *target, struct sites *sites, pid_t tid)
{
	struct thread_sleep waiting;

	if (thread_status_sleep(target->pid, tid, &waiting))
		note_stack(target, sites, waiting.stack_pointer);
}

void code_look_at(struct target *target, struct background_thread *thread)
{
	look_at_thread(target, &thread->sites, thread->tid);
}

struct drawing {
	struct random *random;
	pid_t *chosen; /* LOOKED_AT threads */
	unsigned count;
};

static bool draw(void *context, pid_t tid)
{
	struct drawing *drawing = context;
	unsigned place = drawing->count;

	if (place >= LOOKED_AT)
		place = (unsigned)(random_next(drawing->random) % (drawing->count + 1));
	if (place < LOOKED_AT)
		drawing->chosen[place] = tid;
	drawing->count++;
	return false;
}

/* Draws a few threads. */
static void choose_threads(struct target *target, pid_t chosen[static LOOKED_AT])
{
	struct drawing drawing = {&target->program->random, chosen, 0};

	if (!thread_status_each(target->pid, THREADS_MOST, draw, &drawing))
		count_one(target->program, COUNT_LOOKS_FAILED);
}

uint64_t code_wake(struct target *target)
{
	pid_t chosen[LOOKED_AT] = {0};
	uint64_t returns[STACK_RETURNS];
	unsigned first = (unsigned)(random_next(&target->program->random) % LOOKED_AT);

	choose_threads(target, chosen);
	for (unsigned i = 0; i < LOOKED_AT; i++) {
		pid_t tid = chosen[(first + i) % LOOKED_AT];
		struct thread_sleep waiting;
		unsigned found = 0;

		if (tid && thread_status_sleep(target->pid, tid, &waiting))
			found = read_stack(target, waiting.stack_pointer, returns);
		if (found)
			return returns[random_next(&target->program->random) % found];
	}
	return 0;
}

/* A sleeping thread's stack holds the addresses that it will return to. */
void code_look(struct target *target)
{
	pid_t chosen[LOOKED_AT] = {0};

	choose_threads(target, chosen);
	for (unsigned i = 0; i < LOOKED_AT; i++)
		if (chosen[i])
			look_at_thread(target, code_sites(target, chosen[i]), chosen[i]);
}

/* Notes the function that a held thread is about to call: its registers and memory tell where a
 * pointer leads, which the code does not. */
static void note_callee(struct target *target, const struct hit *hit)
{
	uint8_t bytes[INSN_MAX_LENGTH];
	uint64_t pc = hit->access.pc, address, length, callee = 0;
	struct insn_registers registers = hit_registers(&hit->stack.registers);
	size_t available = space_code(target->space, pc, bytes, sizeof(bytes));
	struct insn insn;

	if (insn_decode(bytes, available, pc, &insn) || insn.flow != INSN_FLOW_CALL_INDIRECT)
		return;
	if (insn.target_register >= 0)
		callee = registers.general[insn.target_register];
	else if (insn_operand_before(&insn, 0, &registers, &address, &length) ||
		 space_read(target->space, address, &callee, sizeof(callee)) != sizeof(callee))
		return;
	if (code_is_interesting(target, callee))
		code_note(target, hit->access.tid, callee);
}

/* Notes the callers as sites of the background thread, too. */
static void note_background(struct target *target, const struct hit *hit)
{
	struct background_thread *thread = background_find(target, hit->access.tid);

	if (!thread)
		return;
	note_stack(target, &thread->sites, hit->stack.registers.general[insn_arch.stack_pointer]);
}

void code_came(struct target *target, const struct hit *hit)
{
	note_background(target, hit);
	code_note(target, hit->access.tid, hit->access.pc);
	note_callee(target, hit);
}

void code_contended(struct target *target, uint64_t pc, pid_t tid)
{
	if (!space_is_libc(target->space, pc))
		contended_note(&target->explored->memory.contended, &target->program->random, pc,
			       tid);
}

void code_foreseen(struct target *target, uint64_t pc, pid_t tid, uint64_t other)
{
	if (code_is_interesting(target, pc))
		contended_foresee(&target->explored->memory.contended, &target->program->random, pc,
				  tid, other);
}

void code_changed(struct target *target, uint64_t pc, pid_t tid)
{
	if (!space_is_libc(target->space, pc))
		contended_change(&target->explored->memory.contended, &target->program->random, pc,
				 tid);
}
