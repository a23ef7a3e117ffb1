/* SPDX-License-Identifier: Apache-2.0 */
#include "report/symbolise.h"

#include <errno.h>

#include "report/judge.h"
#include "symbol/place.h"
#include "symbol/variable.h"

/* Without a name; or, where more may be known, without the line that debug information has. */
static bool is_nameless(const struct symboliser *symboliser, const struct finding_frame *frame)
{
	return frame->module && frame->offset < SYMBOLISER_RANGE &&
	       (!frame->function || (symboliser->anew && !frame->file));
}

static bool add_named(struct finding *finding, struct finding_stack *stack,
		      const struct finding_frame *raw, const struct symbol_frame *named)
{
	struct finding_frame *frame = finding_add_frame(finding, stack);

	if (!frame)
		return false;
	*frame = *raw;
	frame->function = finding_string(finding, named->function);
	frame->function_offset = named->function && !named->inlined &&
						 named->function_offset != SYMBOL_OFFSET_UNKNOWN
					 ? (int64_t)named->function_offset
					 : -1;
	frame->function_line = named->function_line;
	frame->file = finding_string(finding, named->file);
	frame->line = named->line;
	frame->column = named->column;
	frame->inlined = named->inlined;
	return true;
}

/* Puts one raw frame's named ones into `stack`; the raw one itself when nothing is known. */
static bool name_frame(struct symboliser *symboliser, struct finding *finding,
		       struct finding_stack *stack, const struct finding_frame *raw, bool caller,
		       bool *named)
{
	struct symbol_frame frames[SYMBOL_INLINE_MAX];
	size_t count, i;
	uint64_t start;

	if (symboliser_range(symboliser, raw->module, raw->build_id, &start))
		count = 0;
	else
		count = symbol_place_find(symboliser->modules, start + raw->offset, caller, frames,
					  SYMBOL_INLINE_MAX);
	/* cppcheck-suppress uninitvar; filled in where count is not 0 */
	if (!count || !frames[0].function || (raw->function && !frames[0].file)) {
		struct finding_frame *frame = finding_add_frame(finding, stack);

		if (frame)
			*frame = *raw;
		return frame != NULL;
	}
	*named = true;
	for (i = 0; i < count; i++)
		if (!add_named(finding, stack, raw, &frames[i]))
			return false;
	return true;
}

static int name_stack(struct symboliser *symboliser, struct finding *finding,
		      struct finding_stack *stack, bool *named)
{
	struct finding_stack complete = {0};
	struct finding_frame *frame;
	size_t i;

	for (i = 0; i < stack->count; i++)
		if (is_nameless(symboliser, &stack->frames[i]))
			break;
	if (i == stack->count)
		return 0;
	for (i = 0; i < stack->count; i++) {
		if (is_nameless(symboliser, &stack->frames[i])) {
			if (!name_frame(symboliser, finding, &complete, &stack->frames[i], i > 0,
					named))
				break; /* full: the outermost frames are left out */
			continue;
		}
		frame = finding_add_frame(finding, &complete);
		if (!frame)
			break;
		*frame = stack->frames[i];
	}
	if (!complete.count)
		return -ENOMEM;
	*stack = complete;
	return 0;
}

/* A global that is known by its place alone. */
static void name_object(struct symboliser *symboliser, struct finding *finding,
			struct symbol_variable *variable)
{
	struct finding_object *object = &finding->object;
	uint64_t start;

	if (object->kind != FINDING_OBJECT_GLOBAL || !object->module ||
	    object->module_offset >= SYMBOLISER_RANGE ||
	    symboliser_range(symboliser, object->module, object->build_id, &start))
		return;
	symbol_variable_find(symboliser->modules, start + object->module_offset,
			     finding->access_count ? finding->accesses[0].size : 1, NULL, 0,
			     variable);
	if (!variable->name || (object->name && (object->type || !variable->type)))
		return;
	object->name = finding_string(finding, variable->path ? variable->path : variable->name);
	object->type = finding_string(finding, variable->type);
	object->offset = variable->path ? variable->path_offset : variable->offset;
	object->size = variable->size;
	object->address = finding->access_count ? finding->accesses[0].address - variable->offset
						: object->address;
	object->file = finding_string(finding, variable->file);
	object->line = variable->line;
}

int symbolise(struct symboliser *symboliser, struct finding *finding)
{
	struct symbol_variable variable = {.kind = SYMBOL_VARIABLE_OTHER};
	bool named = false;
	size_t i;
	int err = name_stack(symboliser, finding, &finding->object.stack, &named);

	if (!err)
		err = name_stack(symboliser, finding, &finding->object.freed.stack, &named);
	named = false; /* where a block came from is not part of the id */
	for (i = 0; !err && i < finding->access_count; i++)
		err = name_stack(symboliser, finding, &finding->accesses[i].stack, &named);
	if (!err && (named || symboliser->anew)) {
		name_object(symboliser, finding, &variable);
		judge_again(symboliser, finding, &variable);
	}
	if (named)
		finding_identify(finding);
	return err;
}
