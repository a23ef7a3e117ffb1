/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers to choose with, the same ones again from the same seed: never for secrets. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdint.h>

struct random {
	uint64_t state; /* not 0 */
};

/* xorshift64* (Vigna, 2016). */
static inline uint64_t random_next(struct random *random)
{
	random->state ^= random->state >> 12;
	random->state ^= random->state << 25;
	random->state ^= random->state >> 27;
	return random->state * 0x2545f4914f6cdd1dull >> 16;
}

/* One of `count`, each as likely as its weight says; `count`: none has any. */
static inline unsigned random_draw(struct random *random, const uint64_t *weight, unsigned count)
{
	uint64_t sum = 0, at;

	for (unsigned i = 0; i < count; i++)
		sum += weight[i];
	if (!sum)
		return count;
	at = random_next(random) % sum;
	for (unsigned i = 0; i < count; i++) {
		if (at < weight[i])
			return i;
		at -= weight[i];
	}
	return count;
}

#endif
