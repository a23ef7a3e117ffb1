/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the memory that a function of the C library is handed it reads and writes, told by its
 * name alone. */
#ifndef SAMPLE_HANDED_H
#define SAMPLE_HANDED_H

#include "process/space.h"

#define HANDED_ARGUMENTS 2 /* rdi, rsi */

/* TL_READ | TL_WRITE of what each argument points at; 0: nothing is known of it. */
struct handed {
	unsigned access[HANDED_ARGUMENTS];
};

struct handed handed_to(struct space *space, uint64_t function);

#endif
