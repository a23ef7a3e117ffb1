/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code of a fix in a process that was entered, and calls of its functions that lead there.
 *
 * The fix's memory is mapped by calls made for the process, and stays when it is left: a thread may
 * be inside, or hold its address, for ever. Where a call leads is the handler's to say
 * (src/handler/injected.c), by a table in its own memory: the program can change nothing by it that
 * it could not change anyway.
 */
#ifndef INJECT_FIX_H
#define INJECT_FIX_H

#include "inject/inject.h"

#define INJECT_FIX_PARTS 32

struct inject_part {
	uint64_t offset, size; /* whole pages, in order */
	int protection;	       /* PROT_…; never writable and executable */
};

struct inject_fix {
	uint64_t size; /* bytes; whole pages */
	unsigned count;
	struct inject_part part[INJECT_FIX_PARTS]; /* what lies between is not accessible */
	uint64_t base;				   /* where it is in the process; 0: nowhere */
};

/* Maps the fix's memory; a thread is stopped for each call. 0; or -errno, and nothing of the fix is
 * mapped. */
int inject_fix_map(struct injection *injection, struct inject_fix *fix);
/* Writes the fix's memory. `bytes`: fix->size of them, as they are to lie there. */
int inject_fix_fill(struct injection *injection, struct inject_fix *fix, const void *bytes);
/* Unmaps the fix. No call may have led to it yet. */
void inject_fix_unmap(struct injection *injection, struct inject_fix *fix);

/* Tells the handler where calls lead. Redirects of the process must be off. 0 or -errno. */
int inject_redirect_set(const struct injection *injection, const struct injected_redirect *redirect,
			unsigned count);
/* From here on a hit at the first instruction of an old function leads to the new one, or not. */
int inject_redirect_switch(const struct injection *injection, bool on);

#endif
