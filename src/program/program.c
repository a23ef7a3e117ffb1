/* SPDX-License-Identifier: Apache-2.0 */
#include "program/program.h"

#include "base/path.h"

#include <fnmatch.h>
#include <string.h>

static bool matches(const struct control_globs *globs, const char *path)
{
	const char *name = path_name(path);

	for (size_t i = 0; i < globs->count; i++)
		if (fnmatch(globs->glob[i], path, 0) == 0 || fnmatch(globs->glob[i], name, 0) == 0)
			return true;
	return false;
}

bool program_wants_module(const struct program *program, const char *path)
{
	const struct control_options *options = &program->options;

	return (!options->include.count || matches(&options->include, path)) &&
	       !matches(&options->exclude, path);
}
