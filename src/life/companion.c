/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A controller for a program that `trapline` did not start: `trapline race --area 3`, a process of
 * its own beside this one (record/companion.h), which opens its events on this process as it would
 * on a child. In this process it needs no thread, memory, descriptor or library of its own.
 */
#include "life/companion.h"

#include "agent/state.h"
#include "base/syscall.h"
#include "contact/announce.h"
#include "contact/patience.h"
#include "life/process.h"
#include "record/companion.h"

#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <trapline/race.h>
#include <unistd.h>

#define COMMAND "trapline"
#define START_BOUND 10000000000ull /* ns until the companion has opened its events */
#define OPTIONS "TRAPLINE_OPTIONS="

/* Where the command is, relative to this library: as installed, as installed on a multiarch system,
 * as built. */
static const char *const places[] = {"/../bin/" COMMAND, "/../../bin/" COMMAND, "/../../" COMMAND};

static char *const arguments[] = {(char *)COMMAND, (char *)"race", (char *)"--area",
				  (char *)COMPANION_AREA, NULL};

/* Finds this library's own absolute path, which programs executed later are to preload. */
static bool find_library(void)
{
	size_t length = 0;
	Dl_info own;

	if (!dladdr((void *)(uintptr_t)agent_start_companion, &own) || !own.dli_fname)
		return false;
	if (own.dli_fname[0] != '/') {
		long count = raw_syscall3(SYS_getcwd, (long)agent_state.library,
					  sizeof(agent_state.library), 0);

		if (count <= 0)
			return false;
		length = (size_t)count;
		agent_state.library[length - 1] = '/';
	}
	if (length + strlen(own.dli_fname) >= sizeof(agent_state.library))
		return false;
	strcpy(agent_state.library + length, own.dli_fname);
	return true;
}

static bool find_command(char command[PATH_MAX])
{
	size_t folder;

	if (!find_library())
		return false;
	folder = (size_t)(strrchr(agent_state.library, '/') - agent_state.library);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (folder + strlen(places[i]) >= PATH_MAX)
			continue;
		memcpy(command, agent_state.library, folder);
		strcpy(command + folder, places[i]);
		if (raw_syscall3(SYS_faccessat, AT_FDCWD, (long)command, X_OK) == 0)
			return true;
	}
	return false;
}

static bool is_variable(const char *text, const char *name)
{
	return strncmp(text, name, strlen(name)) == 0;
}

/* Copies the program's environment without LD_PRELOAD and with the options given; `to` has room for
 * one entry more than the program's has. */
static void fill_environment(char **to, char *options)
{
	size_t count = 0;

	for (char **at = environ; at && *at; at++)
		if (!is_variable(*at, "LD_PRELOAD=") && !(options && is_variable(*at, OPTIONS)))
			to[count++] = *at;
	if (options)
		to[count++] = options;
	to[count] = NULL;
}

/* Permits the companion to trace this process where Yama restricts ptrace(2), which reading memory
 * depends on, to a process's ancestors. */
static void permit(pid_t companion)
{
	raw_syscall6(SYS_prctl, PR_SET_PTRACER, companion, 0, 0, 0, 0);
}

static int outcome(const struct area *area)
{
	const struct area_process *process = agent_state.process;
	uint32_t state = process ? atomic_load(&process->state) : AREA_PROCESS_FREE;

	if (state == AREA_PROCESS_WATCHED)
		return 0;
	if (state == AREA_PROCESS_LEFT)
		return -EACCES;
	return agent_has_gone(area) ? -ECHILD : -ETIMEDOUT;
}

static int attach(const struct companion *companion)
{
	struct area *area = companion->area;
	int err;

	area->root = raw_getpid();
	area->announce_bound = START_BOUND;
	err = companion_start(companion);
	if (!err)
		err = agent_attach(area);
	if (!err)
		err = outcome(area);
	if (!err) {
		permit(area->controller);
		area_locator(area, area->controller, agent_state.locator);
		return 0;
	}
	area_close(area);
	agent_state.process = NULL;
	return err;
}

/* Joins the program's options and those of the user who runs it; the latter come last and so
 * win. */
static void join_options(char *variable, const char *options, const char *given)
{
	strcpy(variable, OPTIONS);
	strcat(variable, options);
	strcat(variable, " ");
	strcat(variable, given);
}

int agent_start_companion(const char *options)
{
	struct companion companion = {.arguments = arguments};
	char command[PATH_MAX], **environment, *variable = NULL;
	const char *given = "";
	size_t count = 0;
	int err;

	if (!find_command(command))
		return -ENOENT;
	for (char **at = environ; at && *at; at++, count++)
		if (is_variable(*at, OPTIONS))
			given = *at + sizeof(OPTIONS) - 1;
	if (agent_state.options)
		given = agent_state.options;
	if (options || agent_state.options) {
		options = options ? options : "";
		variable = alloca(sizeof(OPTIONS) + strlen(options) + 1 + strlen(given));
		join_options(variable, options, given);
	}
	environment = alloca((count + 2) * sizeof(char *));
	fill_environment(environment, variable);
	companion.command = command;
	companion.environment = environment;
	err = area_create(&companion.area, &companion.area_fd);
	if (err)
		return err;
	err = attach(&companion);
	raw_close(companion.area_fd);
	return err;
}

TL_API int tl_race_start(const char *options)
{
	if (agent_state.process)
		return -EALREADY;
	return agent_start_companion(options ? options : "");
}

TL_API int tl_race_stop(void)
{
	if (!agent_state.process)
		return -ESRCH;
	agent_withdraw();
	return 0;
}
