/* SPDX-License-Identifier: Apache-2.0 */
#include "heap/operators.h"

#include "base/path.h"
#include "base/text.h"
#include "heap/state.h"
#include "memory/binding.h"
#include "process/entry_point.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#define INLINED_MOST 8
#define MODULES_MOST 1024

static const char *const names[] = {
#define OPERATOR(name) #name,
#include "record/operators.def"
#undef OPERATOR
};

static bool is_operator(const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* The C++ library's operators are those of everybody, and the C library knows of none. */
static bool is_standard(const char *module)
{
	static const char *const stems[] = {"libstdc++.so", "libc++.so", "libc++abi.so", NULL};

	return path_is_c_library(module) || text_begins_with_any(path_name(module), stems);
}

/* As they are shown. */
static bool is_within_operator(const struct heap *heap, pid_t pid, uint64_t pc)
{
	struct tl_frame frames[INLINED_MOST];
	int count = heap->services->symbolise(heap->host, pid, pc, frames, INLINED_MOST);

	for (int i = 0; i < count; i++)
		if (frames[i].function && strncmp(frames[i].function, "operator ", 9) == 0)
			return true;
	return false;
}

static bool defines(const struct heap *heap, pid_t pid, const char *module, const char *name)
{
	char expression[4200];

	snprintf(expression, sizeof(expression), "%s:%s", module, name);
	return heap->services->entry(heap->host, pid, expression);
}

/* Do its symbol tables tell of local functions? Compilers put this one into every file. */
static bool has_symbols(const struct heap *heap, pid_t pid, const char *module)
{
	return defines(heap, pid, module, "__do_global_dtors_aux");
}

static bool defines_some(const struct heap *heap, pid_t pid, const char *module)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (defines(heap, pid, module, names[i]))
			return true;
	return false;
}

/* ------------------------------------------------------------------------------------------- */
/* What it takes from other files */

struct taken {
	bool operators, cxx;
};

static bool note_taken(void *context, const char *name)
{
	struct taken *taken = context;

	taken->operators |= is_operator(name);
	taken->cxx |= strncmp(name, "_Z", 2) == 0 || strncmp(name, "__gxx_", 6) == 0 ||
		      strncmp(name, "_Unwind_", 8) == 0;
	return !taken->operators;
}

static uint64_t find_link_map(const struct heap *heap, pid_t pid, const char *module)
{
	struct symbol_memory memory = symbol_memory_of_process(pid);
	uint64_t link_map = symbol_link_map(&memory, process_auxiliary(pid, AT_PHDR),
					    process_auxiliary(pid, AT_PHNUM));

	for (unsigned i = 0; link_map && i < MODULES_MOST; i++) {
		uint64_t dynamic, next = symbol_link_map_next(&memory, link_map, &dynamic);
		const char *path = dynamic ? heap->services->module(heap->host, pid, dynamic)
					   : NULL;

		if (path && strcmp(path, module) == 0)
			return link_map;
		link_map = next;
	}
	return 0;
}

static struct taken taken_by(const struct heap *heap, pid_t pid, const char *module)
{
	struct symbol_memory memory = symbol_memory_of_process(pid);
	uint64_t link_map = find_link_map(heap, pid, module);
	struct taken taken = {0};

	if (!link_map || !symbol_imports(&memory, link_map, note_taken, &taken))
		taken.cxx = true;
	return taken;
}

/* ------------------------------------------------------------------------------------------- */

static enum heap_operators find_out(const struct heap *heap, pid_t pid, uint64_t pc,
				    const char *module)
{
	struct taken taken;

	if (is_within_operator(heap, pid, pc))
		return HEAP_OPERATORS_OWN;
	if (!module)
		return HEAP_OPERATORS_PERHAPS;
	if (is_standard(module))
		return HEAP_OPERATORS_NONE;
	if (defines_some(heap, pid, module))
		return HEAP_OPERATORS_OWN;
	taken = taken_by(heap, pid, module);
	if (taken.operators || has_symbols(heap, pid, module))
		return HEAP_OPERATORS_NONE;
	return taken.cxx ? HEAP_OPERATORS_PERHAPS : HEAP_OPERATORS_HARDLY;
}

enum heap_operators operators_of(struct heap *heap, pid_t pid, uint64_t pc)
{
	struct operators_known *known = &heap->operators;
	const char *module = heap->services->module(heap->host, pid, pc);
	size_t length = module ? strlen(module) : 0;
	const char *end = !module		    ? ""
			  : length < OPERATORS_PATH ? module
						    : module + length + 1 - OPERATORS_PATH;
	unsigned at;

	for (unsigned i = 0; i < OPERATORS_KNOWN; i++)
		if (known->place[i].pid == pid && known->place[i].pc == pc &&
		    strcmp(known->place[i].module, end) == 0)
			return known->place[i].operators;
	at = known->next++ % OPERATORS_KNOWN;
	strcpy(known->place[at].module, end);
	known->place[at].operators = find_out(heap, pid, pc, module);
	known->place[at].pid = pid;
	known->place[at].pc = pc;
	return known->place[at].operators;
}
