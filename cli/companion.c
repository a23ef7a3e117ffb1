/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/companion.h"

#include "base/descriptor_limit.h"
#include "cli/background.h"
#include "cli/command.h"
#include "cli/program.h"
#include "record/area.h"
#include "record/utf8.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const char *expand(const char *name, pid_t pid)
{
	const char *place = name ? strstr(name, "%p") : NULL;
	char *expanded;

	if (!place ||
	    asprintf(&expanded, "%.*s%d%s", (int)(place - name), name, (int)pid, place + 2) < 0)
		return name;
	return expanded;
}

int companion_begin(struct detect_options *options, char **program)
{
	char link[64], path[PATH_MAX];
	struct area *area;
	ssize_t length;
	char *why;
	pid_t root;

	if (area_open(&area, options->control.area_fd)) {
		utf8_fprintf(stderr, "trapline: --area is for programs that preload or link "
				     "libtrapline-agent.so of this same version\n");
		return STATUS_USAGE;
	}
	root = area->root;
	area_unmap(area);
	why = program_lethal_filter();
	if (why) {
		utf8_fprintf(stderr, "trapline: %s\n", why);
		free(why);
		return STATUS_FAILED;
	}
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)root);
	length = readlink(link, path, sizeof(path) - 1);
	path[length > 0 ? length : 0] = '\0';
	*program = options->named ? program_path(options->named) : strdup(path);
	options->output = expand(options->output, root);
	options->generate = expand(options->generate, root);
	descriptor_limit_lift();
	return STATUS_OK;
}

static void settle_signals(struct control *control)
{
	static const int ignored[] = {SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2};

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	background_stop_on_signals(control);
	background_stop_on(SIGHUP);
}

void companion_settle(const struct detect_options *options, struct control *control)
{
	int null;

	settle_signals(control);
	if (!options->quiet || !options->output || options->stats)
		return;
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null < 0)
		return;
	dup2(null, STDERR_FILENO);
	close(null);
}
