/* SPDX-License-Identifier: Apache-2.0 */
/* Counts in restartable sequences (rseq(2)), which any signal that comes within one begins anew:
 * a watch on what one reads before its last instruction would never let it come to that. */
#include "hostile.h"

#include <stddef.h>
#include <sys/rseq.h>

#define ROUNDS 1000

volatile long sequence_read; /* read in each sequence, and watched */
static volatile long sequences;

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

int main(void)
{
	struct rseq *area = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);

	if (!__rseq_size)
		return SKIP;
	noise_start();
	for (int i = 0; i < ROUNDS; i++)
		while (!count_once(area))
			;
	say("counted %ld", sequences);
	for (int i = 0; i < 1000; i++)
		nap(1000);
	noise_stop();
	return 0;
}
