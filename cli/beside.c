/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `--beside`: the process that was started becomes the program, so that a service manager sees the
 * process it knows: its notifications, its watchdog, its children, its end. The controller is
 * started as the preload library would start it, and is ready when the program begins.
 */
#include "cli/beside.h"

#include "base/syscall.h"
#include "cli/command.h"
#include "cli/program.h"
#include "program/own_limits.h"
#include "program/preload.h"
#include "record/companion.h"
#include "record/utf8.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define READY_LOOKS 10000 /* looks, a millisecond apart, until the controller shows itself */

/* The controller's arguments: those that we were given, and where the area is. */
static char **companion_arguments(char **argv, char **program)
{
	size_t words = 0, used = 0;
	char **arguments;

	while (argv[words])
		words++;
	arguments = calloc(words + 5, sizeof(*arguments));
	if (!arguments)
		return NULL;
	arguments[used++] = (char *)"trapline";
	for (char **at = argv; at < program && *at; at++)
		if (at + 1 < program || strcmp(*at, "--") != 0)
			arguments[used++] = *at;
	arguments[used++] = (char *)"--area";
	arguments[used++] = (char *)COMPANION_AREA;
	arguments[used++] = (char *)"--";
	for (char **at = program; *at; at++)
		arguments[used++] = *at;
	return arguments;
}

/* Waits until the controller is ready. If it dies, the area tells so, or, before it has got so far,
 * its process id does. False: it has died. */
static bool wait_for_controller(const struct area *area)
{
	for (int i = 0; i < READY_LOOKS && !area_is_closed(area); i++) {
		pid_t controller = __atomic_load_n(&area->controller, __ATOMIC_RELAXED);

		if (atomic_load(&area->life))
			return !area_is_closed(area);
		if (controller != area->root && kill(controller, 0) && errno == ESRCH)
			return false;
		raw_nanosleep(1000000);
	}
	return false;
}

static bool prepare_environment(const struct area *area, const char *library)
{
	struct preload before = {0};
	char locator[AREA_LOCATOR];

	area_locator(area, area->controller, locator);
	return !preload_put(&before, library) && !setenv(AREA_VARIABLE, locator, 1);
}

static bool begin(char **argv, char **program, const char *library)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	struct companion companion = {.command = path,
				      .arguments = companion_arguments(argv, program),
				      .environment = environ};

	path[length > 0 ? length : 0] = '\0';
	if (!companion.arguments || own_limits_create_area(&companion.area, &companion.area_fd))
		return false;
	companion.area->root = getpid();
	if (companion_start(&companion) || !wait_for_controller(companion.area))
		return false;
	/* Lets the controller read our memory where Yama restricts ptrace(2), on which that
	 * depends, to descendants. */
	prctl(PR_SET_PTRACER, companion.area->controller, 0, 0, 0);
	return prepare_environment(companion.area, library);
}

int beside_run(char **argv, char **program, const char *library)
{
	if (!begin(argv, program, library))
		utf8_fprintf(stderr,
			     "trapline: no controller could be started beside %s; running it "
			     "bare\n",
			     program[0]);
	return program_run_bare(program);
}
