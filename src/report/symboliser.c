/* SPDX-License-Identifier: Apache-2.0 */
/*
 * src/symbol answers questions about addresses of one address space. Findings here come from many
 * processes and machines and name a module by path and build-id, so each distinct module is given a
 * range of an invented address space, and a frame is asked for as range + offset.
 */
#include "report/symboliser.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MODULES_MAX 65536

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
	struct symboliser_module *moved;

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
		.start = (symboliser->count + 1) * SYMBOLISER_RANGE,
		.end = (symboliser->count + 2) * SYMBOLISER_RANGE,
		.bias = (symboliser->count + 1) * SYMBOLISER_RANGE,
	};
	struct symboliser_module range = {strdup(path), strdup(build_id)};
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

int symboliser_range(struct symboliser *symboliser, const char *module, const char *build_id,
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
	*start = (i + 1) * SYMBOLISER_RANGE;
	return 0;
}

struct symbol_modules *symboliser_find(struct symboliser *symboliser,
				       const struct finding_frame *frame, uint64_t *pc)
{
	uint64_t start;

	if (!frame->module || frame->offset >= SYMBOLISER_RANGE ||
	    symboliser_range(symboliser, frame->module, frame->build_id, &start))
		return NULL;
	*pc = start + frame->offset;
	return symboliser->modules;
}
