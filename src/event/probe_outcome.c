/* SPDX-License-Identifier: Apache-2.0 */
#include "event/probe_outcome.h"

#include <stdarg.h>
#include <stdio.h>

const char *probe_state_name(enum probe_state state)
{
	static const char *const names[] = {"unknown", "works", "limited", "missing"};

	return names[state];
}

void probe_say(struct probe_outcome *outcome, enum probe_state state, const char *format, ...)
{
	va_list arguments;

	outcome->state = state;
	va_start(arguments, format);
	vsnprintf(outcome->detail, sizeof(outcome->detail), format, arguments);
	va_end(arguments);
}

void probe_advise(struct probe_outcome *outcome, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(outcome->advice, sizeof(outcome->advice), format, arguments);
	va_end(arguments);
}
