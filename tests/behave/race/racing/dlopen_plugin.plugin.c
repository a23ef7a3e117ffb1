/* SPDX-License-Identifier: Apache-2.0 */
/* The module of dlopen_plugin.c: remembers the last caller, in a variable of its own. */
void plugin_step(int caller);

static int last_caller;
static int changes;

void plugin_step(int caller)
{
	if (last_caller != caller) {  /* RACE a */
		last_caller = caller; /* RACE a */
		changes++;	      /* RACE b */
	}
}
