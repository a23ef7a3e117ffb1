/* SPDX-License-Identifier: Apache-2.0 */
/* Counts in restartable sequences (rseq(2)), which any signal that comes within one begins anew:
 * a watch on what one reads before its last instruction would never let it come to that. */
#include "hostile.h"
#include "sequence.h"

#define ROUNDS 1000

int main(void)
{
	struct rseq *area = sequence_area();

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
