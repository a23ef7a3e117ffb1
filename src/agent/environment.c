/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's environment, before the program looks at it: our two variables are taken out again,
 * in place, so that neither getenv() nor a walk over environ meets them. What
 * programs executed later need is kept in agent_state and put back by src/agent/execute.c.
 */
#include "agent/state.h"

#include <string.h>
#include <unistd.h>

static char *find_variable(const char *name, char ***place)
{
	size_t length = strlen(name);

	for (char **at = environ; at && *at; at++) {
		if (strncmp(*at, name, length) == 0 && (*at)[length] == '=') {
			*place = at;
			return *at + length + 1;
		}
	}
	return NULL;
}

static void remove_variable(char **place)
{
	for (; *place; place++)
		place[0] = place[1];
}

static bool copy_text(char *to, size_t size, const char *from, size_t length)
{
	if (length >= size)
		return false;
	memcpy(to, from, length);
	to[length] = '\0';
	return true;
}

/* LD_PRELOAD is ours and then, after a colon, the user's own. */
static void restore_preload(void)
{
	char **place;
	char *value = find_variable("LD_PRELOAD", &place);
	size_t own;

	if (!value)
		return;
	own = strcspn(value, ": ");
	if (!copy_text(agent_state.library, sizeof(agent_state.library), value, own))
		return;
	if (!value[own]) {
		remove_variable(place);
		return;
	}
	copy_text(agent_state.user_preload, sizeof(agent_state.user_preload), value + own + 1,
		  strlen(value + own + 1));
	memmove(value, value + own + 1, strlen(value + own + 1) + 1);
}

bool agent_hide_environment(void)
{
	char **place;
	char *value = find_variable(AREA_VARIABLE, &place);

	if (!value)
		return false;
	if (!copy_text(agent_state.locator, sizeof(agent_state.locator), value, strlen(value)))
		return false;
	remove_variable(place);
	restore_preload();
	return true;
}
