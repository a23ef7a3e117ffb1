/* SPDX-License-Identifier: Apache-2.0 */
#include "record/utf8.h"
#include "tool/set.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

/* Members from here on were added later; a tool may lack them. */
#define SIZE_MIN offsetof(struct tl_tool, interest)

const struct tl_tool *tool_load(const char *path)
{
	void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct tl_tool *tool;

	if (!object) {
		utf8_fprintf(stderr, "trapline: the tool cannot be loaded: %s\n", dlerror());
		return NULL;
	}
	tool = dlsym(object, "tl_tool");
	if (!tool) {
		utf8_fprintf(
			stderr,
			"trapline: %s exports no `tl_tool`; see <trapline/tool.h> for what a tool "
			"is\n",
			path);
		return NULL;
	}
	if (tool->version != TL_TOOL_VERSION || tool->size < SIZE_MIN) {
		utf8_fprintf(stderr,
			     "trapline: %s was made for version %u of the tool interface and this "
			     "trapline has %d: build it again\n",
			     path, tool->version, TL_TOOL_VERSION);
		return NULL;
	}
	return tool;
}
