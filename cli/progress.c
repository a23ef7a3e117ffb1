/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/progress.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define LINE_MAX_BYTES 128

void progress_begin(struct progress *progress, bool quiet)
{
	const char *terminal = getenv("TERM"), *plain = getenv("NO_COLOR");

	*progress = (struct progress){.began = clock_now()};
	progress->next = progress->began + SECOND;
	progress->plain = plain && *plain;
	progress->on = !quiet && isatty(STDERR_FILENO) && terminal && *terminal &&
		       strcmp(terminal, "dumb") != 0;
}

bool progress_is_due(struct progress *progress)
{
	uint64_t now = progress->on ? clock_now() : 0;

	if (!progress->on || now < progress->next)
		return false;
	progress->next = now + SECOND;
	return true;
}

/* Text that does not fit would go on in a second row, which would never be removed. */
static size_t columns(void)
{
	struct winsize size;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1u
									       : 79;
}

void progress_draw(struct progress *progress, unsigned found, unsigned hidden, double cost)
{
	uint64_t seconds = (clock_now() - progress->began) / SECOND;
	char line[LINE_MAX_BYTES];

	snprintf(line, sizeof(line), "trapline: %llu s, %u found, %u possible hidden, cost %.1f %%",
		 (unsigned long long)seconds, found, hidden, cost);
	fprintf(stderr, progress->plain ? "\r\033[K%.*s" : "\r\033[K\033[2m%.*s\033[0m",
		(int)columns(), line);
	fflush(stderr);
	progress->drawn = true;
}

void progress_clear(struct progress *progress)
{
	if (progress->drawn)
		fputs("\r\033[K", stderr);
	progress->drawn = false;
}
