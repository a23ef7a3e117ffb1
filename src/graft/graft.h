/* SPDX-License-Identifier: Apache-2.0 */
/* A fix, from its file to the memory of a process that was entered. Calls come in this order:
 * graft_prepare(), graft_add() for each function, graft_load(), graft_free(); graft_unload() where
 * the process is not to be patched after all. */
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
	uint64_t original; /* in the library: its pointer for calls of the old function; or 0 */
};

/* Adds one. Nothing is done to the process. 0 or -errno with a sentence about the old function;
 * -ENOSPC, without one: there are INJECTED_REDIRECTS already. */
int graft_add(struct graft *graft, const struct graft_change *change, struct graft_error *error);

/* Puts the library into the process, whose calls still go to the old functions until
 * inject_redirect_switch(). 0; -errno, and nothing of it is in the process. */
int graft_load(struct graft *graft, struct injection *injection);
/* Takes the library out again, which is right only before calls have been led there. */
void graft_unload(struct graft *graft, struct injection *injection);

void graft_free(struct graft *graft);

#endif
