/* SPDX-License-Identifier: Apache-2.0 */
/* Samples are moved sixteen bytes at a time by vector loads while a thread patches one. */
#include "../harness.h"
#include <emmintrin.h>

static short samples[64] __attribute__((aligned(16)));

static void *mix(void *arg)
{
	(void)arg;
	while (running()) {
		__m128i sum = _mm_setzero_si128();

		for (int i = 0; i < 64; i += 8) {
			const __m128i *block = (const __m128i *)&samples[i];

			sum = _mm_add_epi16(sum, *block); /* RACE a */
		}
		__asm__ volatile("" : : "x"(sum));
		pace_warm();
	}
	return NULL;
}

static void *record(void *arg)
{
	short value = 0;

	(void)arg;
	while (running()) {
		samples[value & 63] = value; /* RACE a */
		value++;
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 3);
	harness_start(mix, harness_threads - 1);
	harness_start(record, 1);
	return harness_finish();
}
