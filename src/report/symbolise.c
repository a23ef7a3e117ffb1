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

#include "race/rules.h"
#include "symbol/atomicity.h"
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

static bool is_nameless(const struct finding_frame *frame)
{
	return frame->module && !frame->function && frame->offset < RANGE;
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
	if (!count || !frames[0].function) {
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
		if (is_nameless(&stack->frames[i]))
			break;
	if (i == stack->count)
		return 0;
	for (i = 0; i < stack->count; i++) {
		if (is_nameless(&stack->frames[i])) {
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
	if (object->name || !variable->name)
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

static enum tl_atomicity judge(struct symboliser *symboliser, const struct finding_frame *place,
			       const struct symbol_variable *variable,
			       char reason[SYMBOL_REASON_MAX])
{
	uint64_t start;

	if (!place->module || place->offset >= RANGE ||
	    find_range(symboliser, place->module, place->build_id, &start))
		return TL_ATOMICITY_UNKNOWN;
	switch (symbol_atomicity_judge(symboliser->modules, start + place->offset, variable,
				       reason)) {
	case SYMBOL_ATOMICITY_ATOMIC:
		return TL_ATOMICITY_ATOMIC;
	case SYMBOL_ATOMICITY_PLAIN:
		return TL_ATOMICITY_PLAIN;
	default:
		return TL_ATOMICITY_UNKNOWN;
	}
}

/* What debug information tells could not be weighed where there was none. The instructions
 * themselves were, and are not at hand here: a class falls to no rule but that of two atomics. */
static void classify(struct symboliser *symboliser, struct finding *finding,
		     const struct symbol_variable *variable)
{
	struct tl_access access[2] = {0};
	struct rule_side side[2] = {0};
	const struct rule_meeting meeting = {0}; /* neither is told in a finding */
	char reason[2][SYMBOL_REASON_MAX] = {0};
	struct verdict verdict;

	if (finding->access_count != 2 || finding->certainty != FINDING_POSSIBLE ||
	    strcmp(finding->kind, FINDING_DATA_RACE) != 0)
		return;
	for (int i = 0; i < 2; i++) {
		const struct finding_access *from = &finding->accesses[i];

		if (!from->stack.count)
			return;
		access[i].access = (from->atomic ? TL_ATOMIC : 0) | (from->kernel ? TL_KERNEL : 0);
		side[i].access = &access[i];
		side[i].code.module = from->stack.frames[0].module;
		side[i].code.function = from->stack.frames[0].function;
		side[i].atomicity = judge(symboliser, &from->stack.frames[0], variable, reason[i]);
		side[i].reason = reason[i][0] ? reason[i] : NULL;
	}
	rules_judge(&side[0], &side[1], &meeting, &verdict);
	if (verdict.hidden || verdict.certainty != TL_LIKELY)
		return;
	finding->certainty = FINDING_LIKELY;
	for (unsigned i = 0; i < verdict.evidence_count; i++)
		finding_add_evidence(finding, verdict.evidence[i]);
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
	if (named) {
		name_object(symboliser, finding, &variable);
		classify(symboliser, finding, &variable);
		finding_identify(finding);
	}
	return err;
}
