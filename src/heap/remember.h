/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts with evidence, from earlier runs and for later ones: `--remember FILE`. */
#ifndef HEAP_REMEMBER_H
#define HEAP_REMEMBER_H

#include "heap/contexts.h"

#include <trapline/tool.h>

struct remember; /* without a file it remembers for this run */

/* 0 or -errno; what is wrong with the file was logged. */
int remember_start(struct remember **remember, struct tl_host *host,
		   const struct tl_services *services);
void remember_process_began(struct remember *remember, pid_t pid);
void remember_process_ended(struct remember *remember, pid_t pid);
/* There is evidence of an error about this block: of what (enum contexts_evidence). */
void remember_note(struct remember *remember, const struct tl_guarded *block, unsigned evidence);
/* What is known about others of its context. */
unsigned remember_evidence(struct remember *remember, const struct tl_guarded *block);
/* Now and then: files that were loaded meanwhile; what could not be written yet. */
void remember_tick(struct remember *remember);
void remember_stop(struct remember *remember);

#endif
