/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting a controller beside a process, which no wait() of that process finds: raw system calls
 * alone.
 *
 *	process -> intermediate (new session, ends at once) -> companion
 *
 * The intermediate has no exit signal, so its end is told to nobody, and only __WALL finds it. The
 * companion then belongs to the system. Where the process itself inherits orphans (process 1 of a
 * container, a subreaper) the intermediate stays, asleep, until the companion has ended.
 */
#ifndef RECORD_COMPANION_H
#define RECORD_COMPANION_H

#include "record/area.h"

/* The companion's descriptor of the area, as its command line has it. Beside it, it has standard
 * error alone. */
#define COMPANION_AREA "3"

struct companion {
	const char *command; /* path of `trapline` */
	char *const *arguments, *const *environment;
	struct area *area;
	int area_fd;
};

/* 0: it begins, as area->controller, or the area will be closed. -errno. */
int companion_start(const struct companion *companion);

#endif
