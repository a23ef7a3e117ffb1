/* SPDX-License-Identifier: Apache-2.0 */
/* A fix, from its file to the memory of a process that was entered. */
#ifndef GRAFT_GRAFT_H
#define GRAFT_GRAFT_H

#include "graft/image.h"
#include "inject/fix.h"

#include <sys/types.h>

struct graft;

/* Looks whether the library at `path` can be loaded into the process from outside. Nothing is done
 * to the process. 0 or -errno with a sentence. */
int graft_prepare(struct graft **graft, pid_t pid, const char *path, struct graft_error *error);

/* A function that is to be replaced, and by which; addresses in the library as linked. */
struct graft_change {
	uint64_t from;	   /* in the process */
	uint64_t to;	   /* in the library */
	uint64_t original; /* of its pointer that is told where `from` can still be called; 0: none
			    */
};

/* Adds one. Nothing is done to the process. 0 or -errno with a sentence about the old one; -ENOSPC:
 * all are taken. */
int graft_add(struct graft *graft, const struct graft_change *change, struct graft_error *error);

/* Into the process: its calls still go to the old functions (inject_redirect_switch()). 0 or
 * -errno. */
int graft_load(struct graft *graft, struct injection *injection);
/* Nothing has led there yet. */
void graft_unload(struct graft *graft, struct injection *injection);

void graft_free(struct graft *graft);

#endif
