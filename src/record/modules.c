/* SPDX-License-Identifier: Apache-2.0 */
#include "record/modules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct record_modules *record_modules_create(const char *run, pid_t pid)
{
	struct record_modules *modules = calloc(1, sizeof(*modules));

	if (!modules)
		return NULL;
	modules->pid = pid;
	if (run) {
		modules->run = strdup(run);
		if (!modules->run) {
			free(modules);
			return NULL;
		}
	}
	return modules;
}

void record_modules_destroy(struct record_modules *modules)
{
	size_t i;

	if (!modules)
		return;
	for (i = 0; i < modules->count; i++) {
		free(modules->modules[i].path);
		free(modules->modules[i].build_id);
	}
	free(modules->modules);
	free(modules->run);
	free(modules);
}

static int reserve(struct record_modules *modules)
{
	size_t wanted = modules->capacity ? modules->capacity * 2 : 16;
	struct record_module *moved;

	if (modules->count < modules->capacity)
		return 0;
	if (modules->count >= RECORD_MODULES_MAX)
		return -E2BIG;
	moved = realloc(modules->modules, wanted * sizeof(*moved));
	if (!moved)
		return -ENOMEM;
	modules->modules = moved;
	modules->capacity = wanted;
	return 0;
}

int record_modules_add(struct record_modules *modules, const char *path, const char *build_id,
		       uint64_t start, uint64_t end, uint64_t bias)
{
	struct record_module module = {.start = start, .end = end, .bias = bias};
	int err;

	if (start >= end)
		return -EINVAL;
	err = reserve(modules);
	if (err)
		return err;
	module.path = strdup(path);
	module.build_id = build_id ? strdup(build_id) : NULL;
	if (!module.path || (build_id && !module.build_id)) {
		free(module.path);
		free(module.build_id);
		return -ENOMEM;
	}
	modules->modules[modules->count++] = module;
	return 0;
}

static const struct record_module *record_modules_find(const struct record_modules *modules,
						       uint64_t pc)
{
	size_t i;

	for (i = modules->count; i-- > 0;)
		if (pc >= modules->modules[i].start && pc < modules->modules[i].end)
			return &modules->modules[i];
	return NULL;
}

static void resolve_stack(const struct record_modules *modules, struct finding *finding,
			  struct finding_stack *stack)
{
	const struct record_module *module;
	struct finding_frame *frame;
	size_t i;

	for (i = 0; i < stack->count; i++) {
		frame = &stack->frames[i];
		/* A return address may lie just past its module's last instruction. */
		module = frame->module ? NULL : record_modules_find(modules, frame->pc - (i > 0));
		if (!module)
			continue;
		frame->module = finding_string(finding, module->path);
		frame->build_id = finding_string(finding, module->build_id);
		frame->offset = frame->pc - module->bias;
	}
}

void record_modules_resolve(const struct record_modules *modules, struct finding *finding)
{
	size_t i;

	for (i = 0; i < finding->access_count; i++)
		resolve_stack(modules, finding, &finding->accesses[i].stack);
	resolve_stack(modules, finding, &finding->object.stack);
	resolve_stack(modules, finding, &finding->object.freed.stack);
}
