/* SPDX-License-Identifier: Apache-2.0 */
/* Counts in restartable sequences (rseq(2)), and in another way where one was begun anew: a watch
 * on what both read sees two hits a round, of which the first ends the sequence. The program goes
 * on, so the watch does, too. */
#include "hostile.h"
#include "sequence.h"

#define ROUNDS 3000

int main(void)
{
	struct rseq *area = sequence_area();

	if (!__rseq_size)
		return SKIP;
	noise_start();
	(void)sequence_read; /* so that each hit with an even number ends a sequence */
	for (int i = 0; i < ROUNDS; i++)
		if (!count_once(area)) {
			(void)sequence_read;
			sequences++;
		}
	say("counted %ld", sequences);
	for (int i = 0; i < 1000; i++)
		nap(1000);
	noise_stop();
	return 0;
}
