/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The modules of one process as a raw recording keeps them, to name program counters later and
 * elsewhere. Owns its strings; plain allocation, not for signal handlers.
 */
#ifndef RECORD_MODULES_H
#define RECORD_MODULES_H

#include "record/finding.h"

#define RECORD_MODULES_MAX 65536

struct record_module {
	char *path;
	char *build_id;	     /* lower-case hexadecimal; NULL: none */
	uint64_t start, end; /* [start, end) of its mappings */
	uint64_t bias;	     /* run-time address minus link-time address */
};

struct record_modules {
	pid_t pid;
	char *run; /* the run these belong to; NULL: any */
	struct record_module *modules;
	size_t count;
	size_t capacity;
};

struct record_modules *record_modules_create(const char *run, pid_t pid);
void record_modules_destroy(struct record_modules *modules); /* NULL is allowed */

/* Copies the strings. A later module at the same addresses wins (dlclose, then dlopen). */
int record_modules_add(struct record_modules *modules, const char *path, const char *build_id,
		       uint64_t start, uint64_t end, uint64_t bias);

/* Gives each frame that has none its module, build-id and offset. */
void record_modules_resolve(const struct record_modules *modules, struct finding *finding);

#endif
