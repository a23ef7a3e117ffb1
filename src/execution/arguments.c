/* SPDX-License-Identifier: Apache-2.0 */
#include "execution/arguments.h"

#include "agent/permitted.h"
#include "agent/readable.h"
#include "agent/state.h"
#include "base/syscall.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#define STRING_MOST 131072 /* bytes of one that the kernel takes, MAX_ARG_STRLEN */
#define STRINGS_MOST (6 * 1024 * 1024 / sizeof(char *)) /* fs/exec.c, bprm_stack_limits() */

static bool string_is_readable(const char *string)
{
	size_t length;

	return readable_length(string, STRING_MOST, &length) && length < STRING_MOST;
}

static bool strings_are_readable(char *const strings[])
{
	size_t count;

	if (!readable_count(strings, STRINGS_MOST, &count))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!string_is_readable(strings[i]))
			return false;
	return true;
}

static size_t strings_size(char *const strings[], size_t *count)
{
	size_t size = 0;

	for (*count = 0; strings && strings[*count]; (*count)++)
		size += strlen(strings[*count]) + 1;
	return size;
}

static char *copy_string(const char *string, char **to)
{
	size_t size = strlen(string) + 1;
	char *copy = memcpy(*to, string, size);

	*to += size;
	return copy;
}

static void copy_strings(char *const strings[], size_t count, char **array, char **to)
{
	for (size_t i = 0; i < count; i++)
		array[i] = copy_string(strings[i], to);
	array[count] = NULL;
}

/* The entry belongs to the process that announced itself; a vfork()ed child sees its parent's. */
static bool is_watched(void)
{
	const struct area_process *process = agent_state.process;

	return process && permitted(SYS_getpid) && process->pid == raw_getpid();
}

void agent_arguments_copy(struct agent_arguments *arguments)
{
	size_t argc, variables, size;
	char **arrays, *text;
	long memory;

	arguments->memory = NULL;
	if (!is_watched() || !arguments->path || !arguments->argv || !arguments->environment)
		return;
	/* The kernel says what is wrong. Accepted: what another thread unmaps from here on. */
	if (!string_is_readable(arguments->path) || !strings_are_readable(arguments->argv) ||
	    !strings_are_readable(arguments->environment))
		return;
	size = strlen(arguments->path) + 1 + strings_size(arguments->argv, &argc) +
	       strings_size(arguments->environment, &variables) +
	       (argc + variables + 2) * sizeof(char *);
	memory = raw_syscall6(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory < 0)
		return; /* accepted: only a watchpoint on one of them does harm */
	arguments->memory = (void *)memory;
	arguments->size = size;
	arrays = arguments->memory;
	text = (char *)(arrays + argc + variables + 2);
	copy_strings(arguments->argv, argc, arrays, &text);
	copy_strings(arguments->environment, variables, arrays + argc + 1, &text);
	arguments->path = copy_string(arguments->path, &text);
	arguments->argv = arrays;
	arguments->environment = arrays + argc + 1;
}

void agent_arguments_free(const struct agent_arguments *arguments)
{
	if (arguments->memory)
		raw_syscall3(SYS_munmap, (long)arguments->memory, (long)arguments->size, 0);
}
