/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/wrong_option.h"

#include "cli/command.h"
#include "cli/suggest.h"
#include "record/utf8.h"

#include <stdio.h>
#include <string.h>

#define NAMES_MAX 64

static const char *find_nearest(const char *typed, const struct option *known)
{
	const char *names[NAMES_MAX];
	char name[SUGGEST_MAX_LENGTH];
	int count = 0, nearest;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(typed, "="), typed);
	for (; known->name && count < NAMES_MAX; known++)
		names[count++] = known->name;
	nearest = suggest_nearest(name, names, (size_t)count);
	return nearest < 0 ? NULL : names[nearest];
}

/* If the option exists, optopt holds its code. */
static void tell_long(const char *command, const char *typed, const struct option *known)
{
	const char *meant = optopt ? NULL : find_nearest(typed + 2, known);

	if (optopt)
		utf8_fprintf(stderr, "trapline: '%s' has a value, and takes none; ", typed);
	else if (meant)
		utf8_fprintf(stderr, "trapline: %s has no option '%s'; did you mean '--%s'? ",
			     command, typed, meant);
	else
		utf8_fprintf(stderr, "trapline: %s has no option '%s'; ", command, typed);
}

int wrong_option(const char *command, char *const argv[], const struct option *known, int code)
{
	const char *typed = argv[optind - 1];

	if (code == ':')
		utf8_fprintf(stderr, "trapline: '%s' needs a value; ", typed);
	else if (strncmp(typed, "--", 2) == 0)
		tell_long(command, typed, known);
	else
		utf8_fprintf(stderr, "trapline: %s has no option '-%c'; ", command, optopt);
	utf8_fprintf(stderr, "`trapline %s --help` lists the options\n", command);
	return STATUS_USAGE;
}

int wrong_output(const char *command, const char *path)
{
	if (*path && strcmp(path, "--") != 0)
		return STATUS_OK;
	utf8_fprintf(
		stderr,
		"trapline: '-o' needs the name of a file; `trapline %s --help` lists the options\n",
		command);
	return STATUS_USAGE;
}
