/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/tools.h"

#include "cli/command.h"
#include "cli/program.h"
#include "flow/flow.h"
#include "record/utf8.h"
#include "traffic/traffic.h"
#include "heap/heap.h"
#include "race/race.h"
#include "stack/stack.h"
#include "tool/set.h"
#include "uninit/uninit.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct tl_tool *const tools[] = {
	&race_tool,    &heap_tool,	 &stack_tool,	   &uninit_tool,      &flow_from_tool,
	&flow_to_tool, &flow_share_tool, &flow_waste_tool, &flow_unread_tool, &flow_map_tool,
};

#define TOOL_COUNT (sizeof(tools) / sizeof(tools[0]))

static bool is_file(const char *name)
{
	size_t length = strlen(name);

	return strchr(name, '/') || (length > 3 && strcmp(name + length - 3, ".so") == 0);
}

static const struct tl_tool *find_ours(const char *name)
{
	for (size_t i = 0; i < TOOL_COUNT; i++)
		if (strcmp(tools[i]->name, name) == 0)
			return tools[i];
	return NULL;
}

static int find(const char *name, const struct tl_tool **tool)
{
	*tool = find_ours(name);
	if (*tool)
		return STATUS_OK;
	if (is_file(name)) {
		*tool = tool_load(name);
		return *tool ? STATUS_OK : STATUS_FAILED;
	}
	utf8_fprintf(stderr, "trapline: there is no tool '%s'; the tools are", name);
	for (size_t i = 0; i < TOOL_COUNT; i++)
		utf8_fprintf(stderr, " %s", tools[i]->name);
	fputs(", and shared objects by their path\n", stderr);
	return STATUS_USAGE;
}

static bool is_chosen(const struct tools_chosen *chosen, const struct tl_tool *tool)
{
	for (unsigned i = 0; i < chosen->count; i++)
		if (chosen->tool[i] == tool)
			return true;
	return false;
}

static int add(struct tools_chosen *chosen, const char *name)
{
	const struct tl_tool *tool;
	int status = find(name, &tool);

	if (status != STATUS_OK || is_chosen(chosen, tool))
		return status;
	if (chosen->count == TOOL_SET_MAX) {
		utf8_fprintf(stderr, "trapline: at most %d tools can run at once\n", TOOL_SET_MAX);
		return STATUS_USAGE;
	}
	chosen->tool[chosen->count++] = tool;
	chosen->loaded |= !find_ours(name);
	return STATUS_OK;
}

int tools_add(struct tools_chosen *chosen, const char *names)
{
	int status = STATUS_OK;

	for (const char *name = names, *end; *name && status == STATUS_OK;
	     name = *end ? end + 1 : end) {
		char *one;

		end = strchrnul(name, ',');
		one = strndup(name, (size_t)(end - name));
		status = one ? add(chosen, one) : STATUS_FAILED;
		free(one);
	}
	return status;
}

static unsigned wants_of(const struct tl_tool *tool)
{
	return tool->size >= offsetof(struct tl_tool, wants) + sizeof(tool->wants) ? tool->wants
										   : 0;
}

bool tools_wants_guards(const struct tl_tool *tool)
{
	return wants_of(tool) & TL_WANTS_GUARDS;
}

bool tools_needs_guards(const struct tl_tool *tool)
{
	return tools_wants_guards(tool) && !(wants_of(tool) & TL_WANTS_OUTSIDE);
}

bool tools_are_blind(const struct tl_tool *const tool[], unsigned count, const char *program)
{
	char *why = program_takes_no_library(program);
	unsigned blind = 0;

	for (unsigned i = 0; i < count; i++)
		blind += why && tools_needs_guards(tool[i]);
	for (unsigned i = 0; i < count && blind; i++)
		if (tools_needs_guards(tool[i]))
			utf8_fprintf(stderr,
				     "trapline: %s, and %s sees none of its blocks without one%s\n",
				     why, tool[i]->name, blind == count ? "; running it bare" : "");
	free(why);
	return blind && blind == count;
}

bool tools_cannot_attach(const struct tl_tool *const tool[], unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (tools_needs_guards(tool[i])) {
			utf8_fprintf(
				stderr,
				"trapline: %s sees a program's heap from its start only: start it under "
				"trapline, without -p\n",
				tool[i]->name);
			return true;
		}
	return false;
}
