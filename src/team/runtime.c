/* SPDX-License-Identifier: Apache-2.0 */
#include "team/runtime.h"

#include "base/path.h"
#include "base/text.h"
#include "memory/binding.h"
#include "process/entry_point.h"

#include <elf.h>
#include <string.h>

/* libgomp's ABI (libgomp.h of GCC: "libgomp_g.h") and libomp's (kmp.h of LLVM). */
static const struct {
	const char *name;
	unsigned argument;
} known[] = {
	{"GOMP_parallel", 0},
	{"__kmpc_fork_call", 2},
	{"GOMP_parallel_sections", 0},
	{"GOMP_parallel_loop_nonmonotonic_dynamic", 0},
	{"GOMP_parallel_loop_nonmonotonic_guided", 0},
	{"GOMP_parallel_loop_maybe_nonmonotonic_runtime", 0},
	{"GOMP_parallel_loop_static", 0},
	{"GOMP_parallel_loop_dynamic", 0},
	{"GOMP_parallel_loop_guided", 0},
	{"GOMP_parallel_loop_runtime", 0},
	{"GOMP_parallel_reductions", 0},
	{"GOMP_teams_reg", 0},
	{"GOMP_task", 0},
	{"__kmpc_omp_task_alloc", 5},
	{"GOMP_taskloop", 0},
	{"GOMP_taskloop_ull", 0},
	{"__kmpc_fork_teams", 2},
};
#define KNOWN (sizeof(known) / sizeof(known[0]))
#define DEFAULTS 2 /* of a library that calls one perhaps, where the program itself does not */

static bool is_runtime(const char *path)
{
	static const char *const names[] = {"libgomp.so",  "libomp.so", "libomp5.so",
					    "libiomp5.so", "libomp-",	NULL};

	return path && text_begins_with_any(path_name(path), names);
}

bool team_is_runtime(struct space *space, uint64_t pc)
{
	return is_runtime(space_module(space, pc));
}

static bool is_runtime_loaded(struct space *space)
{
	const struct symbol_mappings *mappings = symbol_modules_mappings(space_modules(space));

	for (size_t i = 0; i < mappings->count; i++)
		if (is_runtime(mappings->mapping[i].path))
			return true;
	return false;
}

struct imports {
	const struct symbol_memory *memory;
	uint64_t link_map;
	struct team_entry *entry;
	unsigned count;
};

static bool take_import(void *context, const char *name)
{
	struct imports *imports = context;
	struct symbol_binding binding;

	for (size_t i = 0; i < KNOWN; i++)
		if (strcmp(known[i].name, name) == 0 &&
		    symbol_binding_of_name(imports->memory, imports->link_map, name, &binding))
			imports->entry[imports->count++] =
				(struct team_entry){binding.address, known[i].argument};
	return imports->count < TEAM_ENTRIES;
}

unsigned team_entries(struct space *space, pid_t pid, struct team_entry entry[static TEAM_ENTRIES])
{
	struct symbol_memory memory = symbol_memory_of_process(pid);
	struct imports imports = {.memory = &memory, .entry = entry};

	if (!is_runtime_loaded(space))
		return 0;
	imports.link_map = symbol_link_map(&memory, process_auxiliary(pid, AT_PHDR),
					   process_auxiliary(pid, AT_PHNUM));
	if (imports.link_map)
		symbol_imports(&memory, imports.link_map, take_import, &imports);
	for (size_t i = 0; i < DEFAULTS && imports.link_map && !imports.count; i++)
		take_import(&imports, known[i].name);
	return imports.count;
}
