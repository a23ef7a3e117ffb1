/* SPDX-License-Identifier: Apache-2.0 */
/* From addresses to names: stacks of accesses. */
#include "tool/complete.h"

#include "control/control.h"
#include "hit/stack.h"
#include "record/finding.h"
#include "symbol/place.h"
#include "tool/host.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/* The registers were noted after the access, so the innermost frame is set to the access's own
 * instruction. */
size_t complete_stack(struct space *space, const struct tl_access *access,
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
	struct symbol_stack_frame stack[COMPLETE_FRAMES];
	struct symbol_frame found[SYMBOL_INLINE_MAX];
	size_t depth, count = 0;

	if (!space)
		return 0;
	depth = complete_stack(space, access, stack, COMPLETE_FRAMES);
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
	if (from->function && !from->inlined && from->function_offset != SYMBOL_OFFSET_UNKNOWN)
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
	struct symbol_stack_frame stack[COMPLETE_FRAMES];
	size_t depth =
		complete_stack(space, access, stack, max < COMPLETE_FRAMES ? max : COMPLETE_FRAMES);

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
	access->unseen = from->traits & TL_TRAIT_UNSEEN;
	access->after_known = from->value_known && !from->before;
	access->after = from->value;
	if (space && frames)
		add_stack(space, finding, &access->stack, from, frames, raw);
	return access;
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
