/* SPDX-License-Identifier: Apache-2.0 */
/*
 * src/symbol answers questions about addresses of one address space. Findings here come from many
 * processes and machines and name a module by path and build-id, so each distinct module is given a
 * range of an invented address space, and a frame is asked for as range + offset.
 */
#include "report/symbolise.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/judge.h"
#include "symbol/module.h"
#include "symbol/place.h"
#include "symbol/variable.h"

#define RANGE (UINT64_C(1) << 40) /* no file's own addresses are larger, but for kernels' */
#define MODULES_MAX 65536

struct range {
	char *path;
	char *build_id; /* "" for none */
};

struct symboliser {
	struct symbol_modules *modules;
	struct range *ranges; /* of index i: [(i + 1) * RANGE, (i + 2) * RANGE) */
	size_t count, capacity;
	bool anew; /* findings that have their names, too */
};

int symboliser_create(struct symboliser **symboliser, struct symbol_session *session)
{
	struct symboliser *made = calloc(1, sizeof(*made));
	int err = made ? symbol_modules_recorded(session, &made->modules) : -ENOMEM;

	if (err) {
		free(made);
		return err;
	}
	*symboliser = made;
	return 0;
}

void symboliser_judge_all(struct symboliser *symboliser)
{
	symboliser->anew = true;
}

void symboliser_destroy(struct symboliser *symboliser)
{
	size_t i;

	if (!symboliser)
		return;
	for (i = 0; i < symboliser->count; i++) {
		free(symboliser->ranges[i].path);
		free(symboliser->ranges[i].build_id);
	}
	free(symboliser->ranges);
	symbol_modules_close(symboliser->modules);
	free(symboliser);
}

static int reserve(struct symboliser *symboliser)
{
	size_t wanted = symboliser->capacity ? symboliser->capacity * 2 : 16;
	struct range *moved;

	if (symboliser->count < symboliser->capacity)
		return 0;
	if (symboliser->count >= MODULES_MAX)
		return -E2BIG;
	moved = realloc(symboliser->ranges, wanted * sizeof(*moved));
	if (!moved)
		return -ENOMEM;
	symboliser->ranges = moved;
	symboliser->capacity = wanted;
	return 0;
}

static int add_range(struct symboliser *symboliser, const char *path, const char *build_id)
{
	struct symbol_module_record record = {
		.path = path,
		.start = (symboliser->count + 1) * RANGE,
		.end = (symboliser->count + 2) * RANGE,
		.bias = (symboliser->count + 1) * RANGE,
	};
	struct range range = {strdup(path), strdup(build_id)};
	int err = range.path && range.build_id ? reserve(symboliser) : -ENOMEM;

	if (!err && symbol_build_id_parse(build_id, &record.build_id))
		record.build_id.length = 0;
	if (!err)
		err = symbol_modules_add(symboliser->modules, &record);
	if (err) {
		free(range.path);
		free(range.build_id);
		return err;
	}
	symboliser->ranges[symboliser->count++] = range;
	return 0;
}

/* Where the module begins in the invented address space; 0 or -errno. */
static int find_range(struct symboliser *symboliser, const char *module, const char *build_id,
		      uint64_t *start)
{
	size_t i;
	int err;

	build_id = build_id ? build_id : "";
	for (i = symboliser->count; i-- > 0;)
		if (!strcmp(symboliser->ranges[i].path, module) &&
		    !strcmp(symboliser->ranges[i].build_id, build_id))
			break;
	if (i == (size_t)-1) {
		err = add_range(symboliser, module, build_id);
		if (err)
			return err;
		i = symboliser->count - 1;
	}
	*start = (i + 1) * RANGE;
	return 0;
}

struct symbol_modules *symboliser_find(struct symboliser *symboliser,
				       const struct finding_frame *frame, uint64_t *pc)
{
	uint64_t start;

	if (!frame->module || frame->offset >= RANGE ||
	    find_range(symboliser, frame->module, frame->build_id, &start))
		return NULL;
	*pc = start + frame->offset;
	return symboliser->modules;
}

/* Without a name; or, where more may be known, without the line that debug information has. */
static bool is_nameless(const struct symboliser *symboliser, const struct finding_frame *frame)
{
	return frame->module && frame->offset < RANGE &&
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
	frame->function_offset =
		named->function && !named->inlined ? (int64_t)named->function_offset : -1;
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

	if (find_range(symboliser, raw->module, raw->build_id, &start))
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
	    object->module_offset >= RANGE ||
	    find_range(symboliser, object->module, object->build_id, &start))
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
