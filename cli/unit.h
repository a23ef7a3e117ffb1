/* SPDX-License-Identifier: Apache-2.0 */
/* What a service's unit file and its drop-ins say, as systemd.unit(5) has it, as far as is needed
 * to start the service under another command. */
#ifndef CLI_UNIT_H
#define CLI_UNIT_H

#include <stdbool.h>
#include <stddef.h>

#define UNIT_COMMANDS_MAX 16

struct unit {
	char *path;			  /* of the unit file; this and the other texts are owned */
	char *command[UNIT_COMMANDS_MAX]; /* ExecStart=, with its prefixes */
	size_t count;
	bool too_many;
	bool filters;	 /* it has a SystemCallFilter=, */
	bool forbids;	 /* a NoExecPaths=, */
	bool has_root;	 /* a root of its own (RootDirectory=, RootImage=), */
	bool identified; /* a SyslogIdentifier= */
};

/*
 * `name` with or without ".service"; `root` is put before each path ("" for this system's own). Our
 * own drop-in does not count. False: there is no such unit, or it cannot be read; `unit` is empty.
 */
bool unit_read(struct unit *unit, const char *root, const char *name);
void unit_free(struct unit *unit);
/* The drop-in that `trapline service` writes; the caller frees. NULL: memory is short. */
char *unit_drop_in(const char *root, const char *name);
/* Is it a name that a service may have, and no path? */
bool unit_is_name(const char *name);

#endif
