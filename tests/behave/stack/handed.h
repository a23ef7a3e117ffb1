/* SPDX-License-Identifier: Apache-2.0 */
/* What handed.c and handed.cc share: each of their cases is also built so that it is correct. */
#ifndef HANDED_H
#define HANDED_H

#include "cases.h"

/* CORRECT: 0: a frame that is gone is used. 1: the same, but what is used is static. 2: it is used
 * while its frame is there, and nothing keeps its address afterwards. */
#ifndef CORRECT
#define CORRECT 0
#endif
#if CORRECT == 1
#define LOCAL static
#else
#define LOCAL
#endif

static int forgotten; /* the address, before the frame has gone */

#if CORRECT == 2
#define FINISH(touch, forget)  \
	do {                   \
		touch();       \
		forget;        \
		forgotten = 1; \
	} while (0)
#else
#define FINISH(touch, forget) \
	do {                  \
	} while (0)
#endif

#define CASE(name, period)                            \
	static void run_##name(void)                  \
	{                                             \
		for (unsigned i = 0; again(); i++) {  \
			leave_##name();               \
			usleep(period);               \
			if (i % 6 == 5 && !forgotten) \
				touch_##name();       \
		}                                     \
	}

#endif
