/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the region test share. */
#ifndef BEHAVE_REGION_H
#define BEHAVE_REGION_H

#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <trapline/trapline.h>
#include <unistd.h>

#define PAGE 4096ul
#define SIZE (64 * PAGE)

extern volatile unsigned char *memory; /* SIZE bytes to watch parts of */
extern volatile int hits, kernel_hits;
extern volatile unsigned last_access;
extern const void *volatile last_address;
extern volatile size_t last_size;
extern volatile int own_faults; /* the program's own SIGSEGV handler ran, and jumps to escape */
extern sigjmp_buf escape;

void count(tl_hit *hit, void *arg);
tl_event *watch_with(const volatile void *at, size_t length, unsigned access, enum tl_scope scope,
		     tl_hit_fn *fn);
tl_event *watch(const volatile void *at, size_t length, unsigned access);

#define RUN(test) (fprintf(stderr, "%s\n", #test), test())

/* Limits, moves, overlaps, protections, children, sizes. */
void region_life(void);

#endif
