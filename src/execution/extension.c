/* SPDX-License-Identifier: Apache-2.0 */
#include "execution/extension.h"

#include "agent/readable.h"
#include "agent/state.h"
#include "base/first_library.h"
#include "contact/ask.h"
#include "execution/scratch.h"

#include <string.h>

#define PRELOAD "LD_PRELOAD="
#define PRELOAD_LENGTH (sizeof(PRELOAD) - 1)
#define LOCATOR AREA_VARIABLE "="
/* With it the dynamic linker lists what it loads, and the program does not run (ld.so(8), ldd(1)).
 */
#define TRACE "LD_TRACE_LOADED_OBJECTS="
#define POINTERS READABLE_STRINGS /* looked at at a time */
#define MAX_PRELOAD 65536	  /* bytes of the user's own; more is cut off */
/* More pointers than the kernel takes: 6 MiB with all strings (fs/exec.c, bprm_stack_limits()). */
#define MAX_VARIABLES (6 * 1024 * 1024 / sizeof(char *))

/* What is put together. */
struct parts {
	size_t count;	  /* variables */
	size_t place;	  /* of LD_PRELOAD among them; count: it is not there */
	size_t user_size; /* bytes of what the user preloads, without the final zero */
	const char *user;
	bool lists; /* what the dynamic linker loads: ours is not to be among it */
};

bool agent_can_follow(void)
{
	const struct area *area = agent_state.area;

	return area && agent_state.library[0] && !area_is_closed(area) && area->follow;
}

/* `name`: the variable's first bytes where all variables were read with one call; NULL where that
 * failed, as when one lies at the end of mapped memory: then this one is read by itself. */
static bool begins_with(const char *variable, const char *name, const char *beginning)
{
	char read[PRELOAD_LENGTH];

	if (!name && readable_copy(read, variable, PRELOAD_LENGTH) != PRELOAD_LENGTH)
		return false;
	return memcmp(name ? name : read, beginning, PRELOAD_LENGTH) == 0;
}

static bool is_trace(const char *variable)
{
	char read[sizeof(TRACE) - 1];

	return readable_copy(read, variable, sizeof(read)) == sizeof(read) &&
	       memcmp(read, TRACE, sizeof(read)) == 0;
}

/* Looks at some pointers. Of two variables of a name the first one counts. */
static void look_at(struct parts *parts, char *const environment[], size_t from, size_t count)
{
	char *piece[POINTERS], name[POINTERS][PRELOAD_LENGTH];
	size_t together;

	count = readable_copy(piece, &environment[from], count * sizeof(char *)) / sizeof(char *);
	together = readable_beginnings(name, piece, count, PRELOAD_LENGTH);
	for (size_t i = 0; i < count; i++) {
		const char *known = i < together ? name[i] : NULL;

		if (begins_with(piece[i], known, TRACE) && is_trace(piece[i]))
			parts->lists = true;
		if (parts->place != parts->count || !begins_with(piece[i], known, PRELOAD))
			continue;
		parts->place = from + i;
		parts->user = piece[i] + PRELOAD_LENGTH;
		readable_length(parts->user, MAX_PRELOAD, &parts->user_size);
	}
}

static struct parts find_parts(char *const environment[], size_t count)
{
	struct parts parts = {.count = count, .place = count};

	for (size_t from = 0; from < count; from += POINTERS)
		look_at(&parts, environment, from,
			count - from < POINTERS ? count - from : POINTERS);
	return parts;
}

static size_t array_size(const struct parts *parts)
{
	return (parts->count + 3) * sizeof(char *);
}

static size_t preload_size(const struct parts *parts)
{
	return PRELOAD_LENGTH + strlen(agent_state.library) + 1 + parts->user_size + 1;
}

/* Another thread may have taken variables away since they were counted. */
static size_t copy_pointers(char **to, char *const environment[], size_t count)
{
	size_t got = 0, i;

	if (count)
		got = readable_copy(to, environment, count * sizeof(char *)) / sizeof(char *);
	for (i = 0; i < got && to[i]; i++)
		;
	return i;
}

/* False where the user preloads a library that lets none be before it. */
static bool fill(const struct parts *parts, char *const environment[], char **to)
{
	char *text = (char *)to + array_size(parts), *locator = text + preload_size(parts), *end;
	size_t count = copy_pointers(to, environment, parts->count);
	bool replaces = parts->place < count;

	end = stpcpy(stpcpy(text, PRELOAD), agent_state.library);
	/* One that is there and empty stays so: what stands behind our own is the user's. */
	if (replaces) {
		*end++ = ':';
		end += readable_copy(end, parts->user, parts->user_size);
		*end = '\0';
	}
	agent_executed_locator(stpcpy(locator, LOCATOR));
	to[replaces ? parts->place : count++] = text;
	to[count] = locator;
	to[count + 1] = NULL;
	return !replaces ||
	       !first_library_is_named(text + PRELOAD_LENGTH + strlen(agent_state.library));
}

bool agent_extend(struct agent_extension *extension, char *const environment[])
{
	struct parts parts;
	size_t count = 0;
	void *to = extension->near;

	extension->environment = environment;
	extension->memory = NULL;
	if (environment && !readable_count(environment, MAX_VARIABLES, &count))
		return false;
	parts = find_parts(environment, count);
	if (parts.lists)
		return true;
	extension->size =
		array_size(&parts) + preload_size(&parts) + sizeof(LOCATOR) + AREA_LOCATOR;
	if (extension->size > EXTENSION_NEAR)
		to = extension->memory = scratch_take(extension->size);
	if (!to)
		return false;
	if (!fill(&parts, environment, to)) {
		agent_extension_end(extension);
		return false;
	}
	extension->environment = to;
	return extension->extended = true;
}

void agent_extension_end(struct agent_extension *extension)
{
	if (extension->memory)
		scratch_give(extension->memory, extension->size);
	extension->memory = NULL;
}
