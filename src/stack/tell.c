/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/tell.h"

#include "stack/owner.h"
#include "symbol/variable.h"

#include <stdio.h>
#include <string.h>
#include <trapline/event.h>

#define TEXT 2048
#define NAME 256
#define WORDS_BELOW 64 /* below a slot, in which the array is looked for that was overrun */
#define WORD 8

static const char *function_name(struct stack *stack, pid_t pid, uint64_t pc, char *to, size_t size)
{
	struct tl_frame frames[8];
	int count = stack->services->symbolise(stack->host, pid, pc, frames, 8);

	if (count > 0 && frames[count - 1].function)
		snprintf(to, size, "%s", frames[count - 1].function);
	else if (count > 0 && frames[0].module)
		snprintf(to, size, "the function at %s+0x%llx",
			 strrchr(frames[0].module, '/') ? strrchr(frames[0].module, '/') + 1
							: frames[0].module,
			 (unsigned long long)frames[0].offset);
	else
		snprintf(to, size, "the function at 0x%llx", (unsigned long long)pc);
	return to;
}

/* The variable of one frame at an address, by debug information. */
static bool frame_variable(struct space *space, const struct task *task, uint64_t end,
			   uint64_t address, struct symbol_variable *variable)
{
	struct symbol_stack_frame frame = {.pc = task->frame_pc,
					   .return_address = task->frame_is_caller,
					   .has_cfa = true,
					   .cfa = end};
	struct symbol_thread thread = {
		.tid = 1, .stack_pointer = address & ~15ull, .frames = &frame, .frame_count = 1};

	symbol_register_set(&frame.registers, SYMBOL_PC, task->frame_pc);
	symbol_register_set(&frame.registers, SYMBOL_SP, task->frame_stack);
	symbol_register_set(&frame.registers, SYMBOL_FP, task->frame_base);
	symbol_variable_find(space_modules(space), address, 1, &thread, 1, variable);
	return variable->kind == SYMBOL_VARIABLE_STACK && variable->name && variable->function;
}

/* ------------------------------------------------------------------------------------------- */
/* Use after return */

static void describe_frame(struct stack *stack, const struct task *task, uint64_t address,
			   struct symbol_variable *variable, char function[NAME])
{
	struct space *space = stack_space(stack, task->process->pid);

	if (!task->frame_pc) {
		snprintf(function, NAME, "a function that an exception or a longjmp() had left");
		return;
	}
	function_name(stack, task->process->pid, task->frame_pc - task->frame_is_caller, function,
		      NAME);
	/* The pointer may lead into the middle of the variable, and the access behind its end. */
	if (!space || frame_variable(space, task, task->end, address, variable))
		return;
	if (!frame_variable(space, task, task->end, task->address, variable))
		memset(variable, 0, sizeof(*variable));
}

static const char *verb(const struct tl_access *access)
{
	return access->access & TL_WRITE ? "writes to" : "reads from";
}

static void report(struct stack *stack, struct tl_report *report, const struct tl_access *access,
		   const struct rules_verdict *verdict)
{
	const struct tl_access *accesses[1] = {access};

	report->size = sizeof(*report);
	report->certainty = verdict->certainty;
	report->evidence = verdict->evidence;
	report->evidence_count = verdict->evidence_count;
	report->accesses = accesses;
	report->access_count = 1;
	stack->services->report(stack->host, report);
	stack_note_reported(stack, access->pc);
}

static void tell_known_use(struct stack *stack, const struct tl_access *access,
			   const struct task *task, const struct rules_verdict *verdict)
{
	struct tl_report finding = {.kind = "stack-use-after-return"};
	struct symbol_variable variable = {0};
	char function[NAME], name[NAME + 256] = "", text[TEXT], after[64];
	bool gone = !owner_exists(access->pid, task->tid);
	struct tl_object object = {
		.kind = "stack",
		.address = task->address,
		.made = {task->made_time, task->tid, NULL, task->made, task->made_count},
		.ended = {task->returned, task->tid, NULL, task->ended, task->ended_count}};
	struct tl_detail details[2] = {{"returned-before", after}, {"frame-of", function}};

	describe_frame(stack, task, access->address, &variable, function);
	if (variable.name) {
		snprintf(name, sizeof(name), "%s::%s", function,
			 variable.path ? variable.path : variable.name);
		object.address = variable.address;
		object.size = variable.size;
	} else {
		snprintf(name, sizeof(name), "frame of %s", function);
	}
	object.name = name;
	snprintf(after, sizeof(after), "%.3f ms",
		 access->time > task->returned ? (double)(access->time - task->returned) / 1e6
					       : 0.);
	snprintf(text, sizeof(text), "%s %s the frame of %s%s%s",
		 access->tid == task->tid ? "the thread" : "another thread", verb(access), function,
		 task->frame_pc ? ", which had returned" : "",
		 gone ? "; its thread has ended since" : "");
	finding.message = text;
	finding.object = &object;
	finding.details = details;
	finding.detail_count = task->frame_pc ? 2 : 1;
	finding.strategy = task->kept ? "dangling" : "escaped";
	report(stack, &finding, access, verdict);
}

void tell_use(struct stack *stack, const struct tl_access *access, const struct task *task,
	      const struct rules_verdict *verdict)
{
	struct tl_report finding = {.kind = "stack-use-after-return", .strategy = "sampled"};
	struct tl_object object = {
		.kind = "stack", .name = "a frame that is gone", .address = access->address};
	char text[TEXT];

	if (task && task->returned) {
		tell_known_use(stack, access, task, verdict);
		return;
	}
	snprintf(text, sizeof(text),
		 "the thread %s a frame that is gone, %llu bytes below its "
		 "stack pointer",
		 verb(access),
		 (unsigned long long)(access->registers->general[SP] - access->address));
	if (access->registers->general[SP] <= access->address)
		snprintf(text, sizeof(text),
			 "the thread %s a frame that is gone, through a pointer that was below its "
			 "stack pointer",
			 verb(access));
	finding.message = text;
	finding.object = &object;
	report(stack, &finding, access, verdict);
}

/* ------------------------------------------------------------------------------------------- */
/* Overwritten slots */

/* Is the variable an array or a structure? Then the path to what is at the address goes on behind
 * its name. */
static bool is_aggregate(const struct symbol_variable *variable)
{
	return variable->path && strcmp(variable->path, variable->name) != 0;
}

/* Finds the array or structure below the slot, from which a write has probably run on; where there
 * is none, the nearest variable. */
static bool array_below(struct stack *stack, const struct task *task, const struct frame_slot *slot,
			struct symbol_variable *variable)
{
	struct space *space = stack_space(stack, task->process->pid);
	uint64_t end = task->entry + WORD;
	struct symbol_variable nearest = {0}, found;

	for (unsigned i = 1; space && i <= WORDS_BELOW; i++) {
		if (!frame_variable(space, task, end, slot->address - WORD * i, &found) ||
		    !found.size)
			continue;
		if (!nearest.size)
			nearest = found;
		if (!is_aggregate(&found))
			continue;
		*variable = found;
		return true;
	}
	*variable = nearest;
	return nearest.size != 0;
}

/* The first byte of the slot that was written: a store may begin before it. */
static uint64_t first_overwritten(const struct frame_slot *slot, const struct tl_access *access)
{
	return access->address > slot->address ? access->address : slot->address;
}

void tell_overwrite(struct stack *stack, const struct tl_access *access, const struct task *task,
		    const struct frame_slot *slot, const struct rules_verdict *verdict)
{
	struct tl_report finding = {.kind = "stack-overwrite", .strategy = "guarded"};
	struct symbol_variable variable = {0};
	char function[NAME], name[NAME + 64], text[TEXT], array[512], offset[64], value[64];
	struct tl_object object = {
		.kind = "stack", .name = name, .address = slot->address, .size = WORD};
	struct tl_detail details[4] = {{"victim", function}, {"was", value}};

	finding.detail_count = 2;
	function_name(stack, task->process->pid, task->frame_pc, function, sizeof(function));
	snprintf(name, sizeof(name), "%s of %s", slot->what, function);
	snprintf(value, sizeof(value), "0x%llx", (unsigned long long)slot->value);
	if (array_below(stack, task, slot, &variable)) {
		uint64_t past =
			first_overwritten(slot, access) - (variable.address + variable.size);

		snprintf(array, sizeof(array), "%s::%s", function, variable.name);
		snprintf(offset, sizeof(offset), "%lld", (long long)past);
		details[finding.detail_count++] = (struct tl_detail){"array", array};
		details[finding.detail_count++] = (struct tl_detail){"bytes-past-its-end", offset};
		snprintf(text, sizeof(text),
			 "a write %lld bytes past the end of %s overwrites %s, while %s runs",
			 (long long)past, array, name, function);
	} else {
		snprintf(text, sizeof(text), "a write overwrites %s, while that runs", name);
	}
	finding.message = text;
	finding.object = &object;
	finding.details = details;
	report(stack, &finding, access, verdict);
}
