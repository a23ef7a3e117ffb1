/* SPDX-License-Identifier: Apache-2.0 */
/* A restartable sequence (rseq(2)) that reads a word before its last instruction. */
#ifndef HOSTILE_SEQUENCE_H
#define HOSTILE_SEQUENCE_H

#include <stddef.h>
#include <sys/rseq.h>

volatile long sequence_read; /* read in each sequence, and watched */
static volatile long sequences;

static inline struct rseq *sequence_area(void)
{
	return (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

/* False: it was begun anew. The kernel leads who was interrupted to behind the word 0x53053053. */
static int count_once(struct rseq *area)
{
	__asm__ volatile goto(".pushsection __rseq_cs, \"aw\"\n"
			      ".balign 32\n"
			      "3: .long 0, 0\n"
			      ".quad 1f, 2f - 1f, 4f\n"
			      ".popsection\n"
			      "leaq 3b(%%rip), %%rax\n"
			      "movq %%rax, %c[descriptor](%[area])\n"
			      "1: movq %[read], %%rax\n"
			      "movq %[counter], %%rcx\n"
			      "incq %%rcx\n"
			      "movq %%rcx, %[counter]\n"
			      "2:\n"
			      ".pushsection __rseq_failure, \"ax\"\n"
			      ".byte 0x0f, 0xb9, 0x3d\n"
			      ".long 0x53053053\n"
			      "4: jmp %l[anew]\n"
			      ".popsection\n"
			      :
			      : [area] "r"(area), [descriptor] "i"(offsetof(struct rseq, rseq_cs)),
				[read] "m"(sequence_read), [counter] "m"(sequences)
			      : "rax", "rcx", "memory"
			      : anew);
	return 1;
anew:
	return 0;
}

#endif
