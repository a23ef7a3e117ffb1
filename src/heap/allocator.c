/* SPDX-License-Identifier: Apache-2.0 */
#include "heap/allocator.h"

#include "heap/rules.h"
#include "heap/state.h"

#include "memory/binding.h"
#include "process/entry_point.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#define INSIDE_MOST                                                                   \
	6 /* frames between an access and the function by which the allocator came in \
	   */

static const char *const names[ALLOCATOR_FUNCTIONS] = {
	[ALLOCATOR_MALLOC] = "malloc",
	[ALLOCATOR_CALLOC] = "calloc",
	[ALLOCATOR_REALLOC] = "realloc",
	[ALLOCATOR_FREE] = "free",
	[ALLOCATOR_OTHERS] = "memalign",
	"aligned_alloc",
	"posix_memalign",
	"valloc",
	"pvalloc",
	"malloc_usable_size",
	"malloc_trim",
	"mallinfo",
	"mallinfo2",
	"mallopt",
	"malloc_stats",
	"malloc_info",
	[ALLOCATOR_LEAVES] = "__libc_freeres",
};

static uint64_t entry_of(const struct heap *heap, pid_t pid, const char *module, const char *name)
{
	char expression[96];

	snprintf(expression, sizeof(expression), "%s%s", module, name);
	return heap->services->entry(heap->host, pid, expression);
}

/* glibc has another name for its malloc(); musl's of the same name is another function. */
static bool is_glibc(const struct heap *heap, pid_t pid, const char *module)
{
	uint64_t own = entry_of(heap, pid, module, "__libc_malloc");

	return own && own == entry_of(heap, pid, module, "malloc");
}

/* What lies between them is the allocator's. __libc_freeres() lies elsewhere, with other functions
 * of the C library in between. */
static void note_entry(struct allocator *allocator, unsigned function, uint64_t entry)
{
	allocator->entry[function] = entry;
	if (!entry || function == ALLOCATOR_LEAVES)
		return;
	if (!allocator->lowest || entry < allocator->lowest)
		allocator->lowest = entry;
	if (entry > allocator->highest)
		allocator->highest = entry;
}

/* By the dynamic linker's own list: a library that is loaded before the C library has its malloc()
 * called by all. Static programs have no such list. */
static uint64_t bound_malloc(pid_t pid)
{
	struct symbol_memory memory = symbol_memory_of_process(pid);
	uint64_t link_map = symbol_link_map(&memory, process_auxiliary(pid, AT_PHDR),
					    process_auxiliary(pid, AT_PHNUM));
	struct symbol_binding binding;

	return link_map && symbol_binding_of_name(&memory, link_map, "malloc", &binding)
		       ? binding.address
		       : 0;
}

static bool is_library(const char *module)
{
	const char *name = strrchr(module, '/');

	return strstr(name ? name : module, ".so") != NULL;
}

/* Of the file with another malloc() at that address than the C library's; NULL: it is none. The
 * linker's own is called by nobody else. */
static const char *other_module(const struct heap *heap, pid_t pid,
				const struct allocator *allocator, uint64_t address)
{
	const char *module = address ? heap->services->module(heap->host, pid, address) : NULL;

	return module && strcmp(module, allocator->module) != 0 && !strstr(module, "/ld-linux")
		       ? module
		       : NULL;
}

/* The file whose malloc() the program calls in place of the C library's; NULL: none. One that is
 * linked into the program may be known to that alone. */
static const char *replaced_by(const struct heap *heap, pid_t pid,
			       const struct allocator *allocator)
{
	uint64_t bound = bound_malloc(pid);
	const char *module = other_module(heap, pid, allocator, bound), *first;

	if (module)
		return module;
	first = other_module(heap, pid, allocator,
			     heap->services->entry(heap->host, pid, "malloc"));
	return first && (!bound || !is_library(first)) ? first : NULL;
}

static void say_replaced(const struct heap *heap, pid_t pid, const char *module)
{
	if (is_library(module))
		heap->services->log(heap->host,
				    "process %d allocates by malloc() of %s, not glibc's: nothing "
				    "is seen of its heap here; `trapline heap -- PROGRAM`, which "
				    "starts it, sees it",
				    (int)pid, module);
	else
		heap->services->log(heap->host,
				    "process %d has a malloc() of its own, linked into %s: nothing "
				    "is seen of its heap",
				    (int)pid, module);
}

static void say_unknown(const struct heap *heap, pid_t pid)
{
	heap->services->log(heap->host,
			    "process %d has no malloc() of glibc's, as far as its symbols tell: "
			    "nothing is seen of its heap",
			    (int)pid);
}

bool allocator_find(const struct heap *heap, pid_t pid, struct allocator *allocator)
{
	const char *module = is_glibc(heap, pid, "libc.so.6:") ? "libc.so.6:" : "", *other;
	bool complete;

	memset(allocator, 0, sizeof(*allocator));
	if (!*module && !is_glibc(heap, pid, module)) {
		say_unknown(heap, pid);
		return false;
	}
	for (unsigned i = 0; i < ALLOCATOR_FUNCTIONS; i++)
		note_entry(allocator, i, entry_of(heap, pid, module, names[i]));
	complete = allocator->entry[ALLOCATOR_MALLOC] && allocator->entry[ALLOCATOR_CALLOC] &&
		   allocator->entry[ALLOCATOR_REALLOC] && allocator->entry[ALLOCATOR_FREE];
	allocator->module =
		heap->services->module(heap->host, pid, allocator->entry[ALLOCATOR_MALLOC]);
	if (!complete || !allocator->module) {
		say_unknown(heap, pid);
		return false;
	}
	other = replaced_by(heap, pid, allocator);
	if (other)
		say_replaced(heap, pid, other);
	return !other;
}

static enum allocator_function function_at(const struct allocator *allocator, uint64_t start)
{
	for (unsigned i = 0; i < ALLOCATOR_FUNCTIONS; i++)
		if (start && allocator->entry[i] == start)
			return (enum allocator_function)i;
	return ALLOCATOR_FUNCTIONS;
}

/* Where unwind tables do not say where a function starts, as in static programs, symbols do. */
static enum allocator_function function_called(const char *name)
{
	static const char *const prefixes[] = {"__libc_", "__", ""};

	for (unsigned i = 0; name && i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t length = strlen(prefixes[i]);

		if (strncmp(name, prefixes[i], length) != 0)
			continue;
		for (unsigned j = 0; j < ALLOCATOR_FUNCTIONS; j++)
			if (strcmp(name + length, names[j]) == 0)
				return (enum allocator_function)j;
	}
	return ALLOCATOR_FUNCTIONS;
}

static bool is_in_its_file(const struct heap *heap, const struct allocator *allocator, pid_t pid,
			   const struct tl_frame_place *frame)
{
	const char *module = heap->services->module(heap->host, pid, frame->pc);

	return module && strcmp(module, allocator->module) == 0;
}

struct authorship allocator_author(const struct heap *heap, const struct allocator *allocator,
				   pid_t pid, const struct tl_frame_place *frames, int count)
{
	struct authorship authorship = {AUTHOR_ALLOCATOR, ALLOCATOR_FUNCTIONS, false};
	const char *name[INSIDE_MOST] = {NULL};
	int inside = 0;

	for (; inside < count && inside < INSIDE_MOST; inside++) {
		const struct tl_frame_place *frame = &frames[inside];

		if (!is_in_its_file(heap, allocator, pid, frame))
			break;
		authorship.through = function_at(allocator, frame->function);
		name[inside] =
			heap->services->function_name(heap->host, pid, frame->pc - (inside != 0));
		if (!frame->function)
			authorship.through = function_called(name[inside]);
		authorship.direct = !inside;
		if (authorship.through < ALLOCATOR_FUNCTIONS)
			return authorship;
	}
	if (inside && frames[0].function >= allocator->lowest &&
	    frames[0].function <= allocator->highest)
		return authorship;
	authorship.author = AUTHOR_PROGRAM;
	if (inside && heap_is_allocators(name[0], name[1], inside, count))
		authorship.author = AUTHOR_UNCLEAR;
	return authorship;
}
