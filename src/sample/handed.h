/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the memory that a function of the C library is handed it reads and writes, told by its
 * name alone. */
#ifndef SAMPLE_HANDED_H
#define SAMPLE_HANDED_H

#include "process/space.h"

#define HANDED_ARGUMENTS 4 /* rdi, rsi, rdx, rcx */
#define HANDED_LENGTH 8	   /* bytes of what is handed, where no argument tells how many they are */
#define HANDED_MOST (1u << 30)

/* TL_READ | TL_WRITE of what each argument points at; 0: nothing is known of it. */
struct handed {
	unsigned access[HANDED_ARGUMENTS];
	/* Number of the argument that tells how many bytes they are; 0: none does. */
	unsigned length;
};

struct handed handed_to(struct space *space, uint64_t function);

#endif
