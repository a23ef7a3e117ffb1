/* SPDX-License-Identifier: Apache-2.0 */
/* From addresses to names: stacks of accesses, and findings made whole. */
#include "tool/complete.h"

#include "hit/stack.h"
#include "process/thread_status.h"
#include "tool/atomicity.h"
#include "tool/block.h"
#include "tool/owner.h"
#include "tool/private.h"

#include "symbol/compiler.h"
#include "symbol/place.h"
#include "symbol/stack.h"
#include "symbol/variable.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STACK_FRAMES 64

/* A report of a tool built before the member was added says so by its size. */
#define REPORT_HAS(report, member)                                                          \
	((report)->size >= offsetof(struct tl_report, member) + sizeof((report)->member) && \
	 (report)->member)

static size_t unwind(struct space *space, const struct tl_access *access,
		     struct symbol_stack_frame *frames, size_t max)
{
	struct symbol_stack_source source;
	bool complete;

	if (!access->stack) {
		frames[0] = (struct symbol_stack_frame){.pc = access->pc};
		return 1;
	}
	source = hit_stack_source(access->stack, NULL);
	return symbol_stack_unwind(space_modules(space), &source, frames, max, &complete);
}

/* The registers were noted after the access; the place that counts is the access's own. */
static size_t access_frames(struct space *space, const struct tl_access *access,
			    struct symbol_stack_frame *frames, size_t max)
{
	size_t count = unwind(space, access, frames, max);

	if (!(access->access & TL_KERNEL)) {
		frames[0].pc = access->pc;
		frames[0].return_address = false;
	} else {
		frames[0].return_address = true;
	}
	return count;
}

static void convert(const struct symbol_frame *from, struct tl_frame *to)
{
	*to = (struct tl_frame){.pc = from->pc,
				.module = from->module,
				.offset = from->module_offset,
				.function = from->function,
				.file = from->file,
				.line = from->line,
				.inlined = from->inlined};
}

int host_symbolise(struct tl_host *host, pid_t pid, uint64_t pc, struct tl_frame *frames,
		   size_t max)
{
	struct space *space = control_space(host->set->control, pid);
	struct symbol_frame found[SYMBOL_INLINE_MAX];
	size_t count;

	if (!space || !max)
		return 0;
	if (max > SYMBOL_INLINE_MAX)
		max = SYMBOL_INLINE_MAX;
	count = symbol_place_find(space_modules(space), pc, false, found, max);
	for (size_t i = 0; i < count; i++)
		convert(&found[i], &frames[i]);
	return (int)count;
}

int host_stack(struct tl_host *host, const struct tl_access *access, struct tl_frame *frames,
	       size_t max)
{
	struct space *space = control_space(host->set->control, access->pid);
	struct symbol_stack_frame stack[STACK_FRAMES];
	struct symbol_frame found[SYMBOL_INLINE_MAX];
	size_t depth, count = 0;

	if (!space)
		return 0;
	depth = access_frames(space, access, stack, STACK_FRAMES);
	for (size_t i = 0; i < depth && count < max; i++) {
		size_t places = symbol_place_find(space_modules(space), stack[i].pc,
						  stack[i].return_address, found,
						  SYMBOL_INLINE_MAX);

		for (size_t j = 0; j < places && count < max; j++)
			convert(&found[j], &frames[count++]);
	}
	return (int)count;
}

static bool add_frame(struct finding *finding, struct finding_stack *stack,
		      const struct symbol_frame *from, bool raw)
{
	struct finding_frame *frame = finding_add_frame(finding, stack);

	if (!frame)
		return false;
	frame->pc = from->pc;
	frame->module = finding_string(finding, from->module);
	frame->build_id =
		from->build_id && *from->build_id ? finding_string(finding, from->build_id) : NULL;
	frame->offset = from->module_offset;
	if (raw)
		return true;
	frame->function = finding_string(finding, from->function);
	if (from->function && !from->inlined)
		frame->function_offset = (int64_t)from->function_offset;
	frame->function_line = from->function_line;
	frame->file = finding_string(finding, from->file);
	frame->line = from->line;
	frame->column = from->column;
	frame->inlined = from->inlined;
	return true;
}

bool complete_frames(struct finding *finding, struct space *space, struct finding_stack *stack,
		     uint64_t pc, bool return_address, bool raw)
{
	struct symbol_frame found[SYMBOL_INLINE_MAX];
	size_t places = symbol_place_find(space_modules(space), pc, return_address, found,
					  raw ? 1 : SYMBOL_INLINE_MAX);

	for (size_t i = 0; i < places; i++)
		if (!add_frame(finding, stack, &found[i], raw))
			return false;
	return true;
}

static void add_stack(struct space *space, struct finding *finding, struct finding_stack *to,
		      const struct tl_access *access, size_t max, bool raw)
{
	struct symbol_stack_frame stack[STACK_FRAMES];
	size_t depth = access_frames(space, access, stack, max < STACK_FRAMES ? max : STACK_FRAMES);

	for (size_t i = 0; i < depth; i++)
		if (!complete_frames(finding, space, to, stack[i].pc, stack[i].return_address, raw))
			return;
}

static enum finding_operation operation(unsigned access)
{
	switch (access & (TL_READ | TL_WRITE | TL_EXEC)) {
	case TL_READ:
		return FINDING_READ;
	case TL_WRITE:
		return FINDING_WRITE;
	case TL_READ | TL_WRITE:
		return FINDING_READ_MODIFY_WRITE;
	case TL_EXEC:
		return FINDING_EXECUTE;
	default:
		return FINDING_UNKNOWN_OPERATION;
	}
}

static const char *thread_name(struct finding *finding, pid_t pid, pid_t tid)
{
	char name[64];

	return thread_status_name(pid, tid, name, sizeof(name)) ? finding_string(finding, name)
								: NULL;
}

uint64_t complete_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t complete_wall_time(uint64_t monotonic)
{
	struct timespec now;
	uint64_t nanoseconds;

	clock_gettime(CLOCK_MONOTONIC, &now);
	nanoseconds = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	return complete_time() - (nanoseconds > monotonic ? nanoseconds - monotonic : 0);
}

struct finding_access *complete_access(struct finding *finding, struct space *space,
				       const struct tl_access *from, size_t frames, bool raw)
{
	struct finding_access *access = finding_add_access(finding);

	if (!access)
		return NULL;
	access->tid = from->tid;
	access->operation = operation(from->access);
	access->size = from->length;
	access->address = from->address;
	access->atomic = from->access & TL_ATOMIC;
	access->kernel = from->access & TL_KERNEL;
	access->after_known = from->value_known && !from->before;
	access->after = from->value;
	if (space && frames)
		add_stack(space, finding, &access->stack, from, frames, raw);
	return access;
}

/* A stack that the tool has kept stands in for one that was noted. */
static void add_access(struct tl_host *host, struct finding *finding, const struct tl_access *from,
		       const struct tl_moment *kept)
{
	struct space *space = control_space(host->set->control, from->pid);
	bool use_kept = kept && kept->count && !from->stack;
	struct finding_access *access = complete_access(
		finding, space, from, use_kept ? 0 : STACK_FRAMES, host->set->options.raw);

	if (!access)
		return;
	access->thread = thread_name(finding, from->pid, from->tid);
	for (size_t i = 0; use_kept && space && i < kept->count; i++)
		if (!complete_frames(finding, space, &access->stack, kept->pcs[i], i > 0,
				     host->set->options.raw))
			return;
}

/* The two threads whose stacks are known, and who else sleeps with the address in its stack: it may
 * be a variable of one of their frames. */
static void find_variable(struct space *space, const struct tl_access *const *accesses,
			  size_t count, struct symbol_variable *variable)
{
	static struct symbol_stack_frame frames[3][STACK_FRAMES]; /* one thread; large */
	struct symbol_thread threads[3] = {0};
	size_t known = 0;

	for (size_t i = 0; i < count && i < 2; i++) {
		const struct tl_stack *stack = accesses[i]->stack;

		if (!stack)
			continue;
		threads[known] = (struct symbol_thread){
			.tid = accesses[i]->tid,
			.fs_base = stack->registers.fs_base,
			.stack_pointer = stack->registers.general[4],
			.frames = frames[known],
			.frame_count =
				access_frames(space, accesses[i], frames[known], STACK_FRAMES)};
		known++;
	}
	symbol_variable_find(space_modules(space), accesses[0]->address, accesses[0]->length,
			     threads, known, variable);
	if (!variable->tid && variable->kind != SYMBOL_VARIABLE_GLOBAL &&
	    owner_find(space, accesses[0]->pid, accesses[0]->address, frames[known], STACK_FRAMES,
		       &threads[known]))
		symbol_variable_find(space_modules(space), accesses[0]->address,
				     accesses[0]->length, threads, known + 1, variable);
}

/* As gdb writes it: "main::buffer" is a variable in a frame of main(). */
static const char *object_name(struct finding *finding, const struct symbol_variable *variable)
{
	const char *name = variable->path ? variable->path : variable->name;

	if (variable->kind == SYMBOL_VARIABLE_STACK && name && variable->function)
		return finding_format(finding, "%s::%s", variable->function, name);
	return finding_string(finding, name);
}

static enum finding_object_kind object_kind(enum symbol_variable_kind kind)
{
	switch (kind) {
	case SYMBOL_VARIABLE_GLOBAL:
		return FINDING_OBJECT_GLOBAL;
	case SYMBOL_VARIABLE_TLS:
		return FINDING_OBJECT_TLS;
	case SYMBOL_VARIABLE_STACK:
		return FINDING_OBJECT_STACK;
	case SYMBOL_VARIABLE_HEAP:
		return FINDING_OBJECT_HEAP;
	default:
		return FINDING_OBJECT_OTHER;
	}
}

static void add_object(struct tl_host *host, struct finding *finding,
		       const struct tl_report *report)
{
	struct finding_object *object = &finding->object;
	struct symbol_variable variable = {0};
	struct space *space;

	if (!report->access_count)
		return;
	space = control_space(host->set->control, report->accesses[0]->pid);
	if (!space)
		return;
	space_learn(space, report->accesses[0]->address);
	find_variable(space, report->accesses, report->access_count, &variable);
	object->kind = object_kind(variable.kind);
	if (variable.kind == SYMBOL_VARIABLE_GLOBAL && variable.module) {
		object->module = finding_string(finding, variable.module);
		object->build_id = finding_string(finding, variable.build_id);
		object->module_offset = variable.module_offset;
	}
	object->name = object_name(finding, &variable);
	object->type = finding_string(finding, variable.type);
	/* Of what has neither a name nor an extent, the start is its mapping's. */
	if (variable.name || variable.size) {
		object->offset = variable.path ? variable.path_offset : variable.offset;
		object->address = variable.address;
	}
	object->size = variable.size;
	object->tid = variable.tid;
	if (variable.tid)
		object->thread = thread_name(finding, report->accesses[0]->pid, variable.tid);
	object->file = finding_string(finding, variable.file);
	object->line = variable.line;
	if (variable.kind == SYMBOL_VARIABLE_HEAP)
		block_complete(host, finding, space, report->accesses[0], &variable);
}

static void keep_facts(struct finding *finding, const struct tl_report *report)
{
	if (!REPORT_HAS(report, facts))
		return;
	for (size_t i = 0; i < finding->access_count && i < report->access_count; i++)
		finding->accesses[i].facts = report->facts[i];
}

static void add_details(struct finding *finding, const struct tl_report *report)
{
	if (REPORT_HAS(report, strategy))
		finding->strategy = finding_string(finding, report->strategy);
	if (!REPORT_HAS(report, detail_count))
		return;
	for (size_t i = 0; i < report->detail_count; i++)
		finding_add_detail(finding, report->details[i].name, report->details[i].value);
}

struct finding *finding_complete(struct tl_host *host, const struct tl_report *report)
{
	struct finding *finding = finding_create(report->kind);
	const struct space *space = NULL;

	if (!finding)
		return NULL;
	finding->certainty = report->certainty == TL_DEFINITE ? FINDING_DEFINITE
			     : report->certainty == TL_LIKELY ? FINDING_LIKELY
							      : FINDING_POSSIBLE;
	if (REPORT_HAS(report, rank))
		finding->rank = report->rank;
	finding->message = finding_string(finding, report->message);
	for (size_t i = 0; i < report->evidence_count; i++)
		finding_add_evidence(finding, report->evidence[i]);
	for (size_t i = 0; i < report->access_count; i++)
		add_access(host, finding, report->accesses[i],
			   REPORT_HAS(report, stacks) ? &report->stacks[i] : NULL);
	keep_facts(finding, report);
	if (REPORT_HAS(report, object))
		object_complete(host, finding, report);
	else
		add_object(host, finding, report);
	add_details(finding, report);
	if (report->access_count) {
		finding->pid = report->accesses[0]->pid;
		space = control_space(host->set->control, finding->pid);
	}
	finding->program = complete_program(finding, space, host->set->options.program);
	finding->run = finding_string(finding, host->set->run);
	finding->host = finding_string(finding, host->set->hostname);
	finding->time = complete_time();
	finding_identify(finding);
	return finding;
}

const char *complete_program(struct finding *finding, const struct space *space,
			     const char *started)
{
	const char *executed = space ? space_program(space) : NULL;
	char *resolved = started ? realpath(started, NULL) : NULL;
	bool same = !executed || (resolved && strcmp(resolved, executed) == 0);

	free(resolved);
	return finding_string(finding, same ? started : executed);
}

static enum tl_atomicity judge(struct space *space, const struct tl_access *access,
			       char reason[SYMBOL_REASON_MAX])
{
	struct symbol_variable variable = {0};

	find_variable(space, &access, 1, &variable);
	return tool_atomicity(
		symbol_atomicity_judge(space_modules(space), access->pc, &variable, reason));
}

/* What an instruction accesses decides as well: a function may be handed a plain variable and an
 * atomic one. Blocks of the heap and frames have no declarations of their own to tell apart. */
static uint64_t judged_object(struct space *space, const struct tl_access *access)
{
	return symbol_modules_find(space_modules(space), access->address) ? access->address : 0;
}

enum tl_atomicity host_atomicity(struct tl_host *host, const struct tl_access *access,
				 const char **reason)
{
	struct space *space = control_space(host->set->control, access->pid);
	struct tool_judgement *known = &host->set->judgement[access->pc % TOOL_JUDGEMENTS];
	uint64_t object;

	*reason = NULL;
	if (!space || (access->access & TL_KERNEL))
		return TL_ATOMICITY_UNKNOWN;
	object = judged_object(space, access);
	if (known->pc != access->pc || known->pid != access->pid || known->object != object) {
		uint64_t begun = control_work_begin(host->set->control);

		control_quiesce(host->set->control);
		known->pc = access->pc;
		known->pid = access->pid;
		known->object = object;
		known->reason[0] = '\0';
		known->atomicity = judge(space, access, known->reason);
		control_work_end(host->set->control, begun);
	}
	*reason = known->reason[0] ? known->reason : NULL;
	return known->atomicity;
}

/*
 * Debug information names the very compiler; else the file's section names all that had a part in
 * it. Without either nothing is known, and nothing is claimed.
 */
bool host_keeps_atomics_apart(struct tl_host *host, pid_t pid, uint64_t pc)
{
	struct space *space = control_space(host->set->control, pid);
	const char *producer = space ? symbol_producer(space_modules(space), pc) : NULL;
	size_t length = 0;
	const char *text = space ? symbol_compilers(space_modules(space), pc, &length) : NULL;

	if (producer)
		return symbol_producer_is_gcc(producer);
	return text && memmem(text, length, "GCC:", 4) && !memmem(text, length, "clang", 5) &&
	       !memmem(text, length, "rustc", 5);
}
