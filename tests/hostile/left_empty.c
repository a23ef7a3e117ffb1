/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that was unmapped is expected to stay so, as emulators and collectors do. */
#include "hostile.h"

#define ROUNDS 400
#define SIZE (64 * 1024)

int main(void)
{
	int filled = 0;

	noise_start();
	for (int i = 0; i < ROUNDS; i++) {
		unsigned char pages[SIZE / 4096];
		void *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				    -1, 0);

		expect(memory != MAP_FAILED);
		expect(munmap(memory, SIZE) == 0);
		nap(5000);
		for (size_t at = 0; at < SIZE; at += 4096)
			filled += mincore((char *)memory + at, 4096, pages) == 0;
	}
	noise_stop();
	say("%d pages came back", filled);
	return 0;
}
