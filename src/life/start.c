/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the watching begins where the preload library was loaded: the environment leads to the
 * controller's area, or the program starts a controller itself (companion.c).
 */
#include "agent/state.h"
#include "base/syscall.h"
#include "contact/ask.h"
#include "life/companion.h"
#include "life/environment.h"
#include "life/process.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static void join_invitation(void)
{
	struct area *area;
	uint64_t secret;
	int err = area_attach(&area, agent_state.locator);

	if (err && agent_should_ask(agent_state.locator, err, &secret))
		err = agent_ask(&area, secret, area_locator_pid(agent_state.locator));
	if (err)
		return;
	area_locator(area, area->controller, agent_state.locator);
	agent_attach(area);
}

static void say(const char *text)
{
	raw_syscall3(SYS_write, STDERR_FILENO, (long)text, (long)strlen(text));
}

static const char *why_alone_failed(int err)
{
	switch (err) {
	case -ENOENT:
		return "there is no trapline command where this library was installed";
	case -ECHILD:
		return "trapline ended at once beside it";
	case -EACCES:
		return "no events could be opened on it, `trapline doctor` tells why";
	case -ETIMEDOUT:
		return "trapline did not answer";
	default:
		return "it could not be begun";
	}
}

/* With bare LD_PRELOAD no command runs that could report a failure: the library reports it, since
 * the user asked for the watching. */
static void begin_alone(void)
{
	int err = agent_start_companion(NULL);

	if (!err)
		return;
	say("trapline: races are not looked for: ");
	say(why_alone_failed(err));
	say("\n");
}

__attribute__((constructor)) static void start(void)
{
	if (getauxval(AT_SECURE))
		return;
	switch (agent_hide_environment()) {
	case AGENT_INVITED:
		join_invitation();
		break;
	case AGENT_ALONE:
		begin_alone();
		break;
	default:
		break;
	}
}
