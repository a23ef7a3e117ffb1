/* SPDX-License-Identifier: Apache-2.0 */
#include "heap/remember.h"

#include "base/clock.h"
#include "heap/contexts.h"
#include "process/space.h"
#include "tool/set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PROCESSES 64
#define INTERVAL SECOND

struct remember {
	struct tl_host *host;
	const struct tl_services *services;
	const char *path; /* NULL: none */
	struct contexts contexts;
	bool dirty; /* there is more than the file has … */
	bool due;   /* … since the last tick */
	uint64_t next;
	struct remember_process {
		pid_t pid; /* 0: free */
		bool applied[CONTEXTS_MAX];
	} process[PROCESSES];
};

static void count(const struct remember *remember, const char *name)
{
	remember->services->count(remember->host, name, 1);
}

int remember_start(struct remember **remember, struct tl_host *host,
		   const struct tl_services *services)
{
	const char *path = services->option(host, "remember");
	char error[CONTEXTS_ERROR];

	*remember = calloc(1, sizeof(**remember));
	if (!*remember)
		return -ENOMEM;
	(*remember)->host = host;
	(*remember)->services = services;
	(*remember)->path = path;
	if (!path || contexts_load(&(*remember)->contexts, path, error) == 0)
		return 0;
	services->log(host, "--remember %s: %s", path, error);
	free(*remember);
	*remember = NULL;
	return -EBADMSG;
}

/* Those of this file that are not guarded in the process yet. */
static void apply_module(const struct remember *remember, struct remember_process *process,
			 const struct symbol_module *module)
{
	const struct contexts *contexts = &remember->contexts;

	for (unsigned i = 0; i < contexts->count; i++) {
		const struct context *context = &contexts->context[i];

		if (process->applied[i] || strcmp(context->build_id, module->build_id_text) != 0)
			continue;
		process->applied[i] = true;
		if (remember->services->guard_always(remember->host, process->pid,
						     module->bias + context->offset, 0))
			count(remember, "heap-contexts-left-out");
		else
			count(remember, "heap-contexts-remembered");
	}
}

static bool is_complete(const struct remember *remember, const struct remember_process *process)
{
	for (unsigned i = 0; i < remember->contexts.count; i++)
		if (!process->applied[i])
			return false;
	return true;
}

static void apply(const struct remember *remember, struct remember_process *process)
{
	struct space *space =
		is_complete(remember, process) ? NULL : tool_space(remember->host, process->pid);
	struct symbol_modules *modules = space ? space_modules(space) : NULL;
	const struct symbol_module *module;

	if (!modules)
		return;
	symbol_modules_refresh(modules);
	for (size_t i = 0; (module = symbol_modules_at(modules, i)); i++)
		if (!module->gone && *module->build_id_text)
			apply_module(remember, process, module);
}

void remember_process_began(struct remember *remember, pid_t pid)
{
	for (unsigned i = 0; i < PROCESSES; i++) {
		struct remember_process *process = &remember->process[i];

		if (process->pid)
			continue;
		*process = (struct remember_process){.pid = pid};
		apply(remember, process);
		return;
	}
	count(remember, "heap-contexts-processes");
}

void remember_process_ended(struct remember *remember, pid_t pid)
{
	for (unsigned i = 0; i < PROCESSES; i++)
		if (remember->process[i].pid == pid)
			remember->process[i].pid = 0;
}

static void save(struct remember *remember)
{
	char error[CONTEXTS_ERROR];
	int err = 0;

	if (remember->path && remember->dirty)
		err = contexts_save(&remember->contexts, remember->path, error);

	if (err == -EAGAIN)
		return;
	remember->dirty = false;
	if (err)
		remember->services->log(remember->host, "--remember %s: %s: left as it is",
					remember->path, error);
}

/* The file that the block's allocating call is in, and by `caller` where that returns to; NULL: it
 * is not known. */
static const struct symbol_module *module_of(struct remember *remember,
					     const struct tl_guarded *block, uint64_t *caller)
{
	struct space *space = block->made.count ? tool_space(remember->host, block->pid) : NULL;
	const struct symbol_module *module =
		space ? symbol_modules_find(space_modules(space), block->made.pcs[0]) : NULL;

	if (!module || !*module->build_id_text)
		return NULL;
	*caller = block->made.pcs[0] + 1 - module->bias;
	return module;
}

void remember_note(struct remember *remember, const struct tl_guarded *block, unsigned evidence)
{
	uint64_t caller;
	const struct symbol_module *module = module_of(remember, block, &caller);
	const struct context *known =
		module ? contexts_find(&remember->contexts, module->build_id_text, caller) : NULL;

	if (known && (known->evidence | evidence) == known->evidence)
		return;
	if (!module || !contexts_add(&remember->contexts, module->build_id_text, caller, evidence))
		count(remember, "heap-contexts-unremembered");
	else
		/* A thread waits: the file is written by the next tick. */
		remember->dirty = remember->due = true;
}

unsigned remember_evidence(struct remember *remember, const struct tl_guarded *block)
{
	const struct context *known = NULL;
	const struct symbol_module *module;
	uint64_t caller;

	if (!remember->contexts.count)
		return 0;
	module = module_of(remember, block, &caller);
	if (module)
		known = contexts_find(&remember->contexts, module->build_id_text, caller);
	return known ? known->evidence : 0;
}

void remember_tick(struct remember *remember)
{
	uint64_t now = clock_now();

	if (now < remember->next && !remember->due)
		return;
	remember->due = false;
	remember->next = now + INTERVAL;
	save(remember);
	for (unsigned i = 0; i < PROCESSES; i++)
		if (remember->process[i].pid)
			apply(remember, &remember->process[i]);
}

void remember_stop(struct remember *remember)
{
	if (remember && remember->dirty) {
		save(remember);
		if (remember->dirty)
			remember->services->log(
				remember->host,
				"--remember %s: another run is at it: left as it is",
				remember->path);
	}
	free(remember);
}
