/* SPDX-License-Identifier: Apache-2.0 */
/* One OpenMP region of some microseconds: of two threads each has its half of a loop, and the first
 * comes to what the second began with. */
#define LENGTH 4000

static int value[LENGTH + 1];

int main(void)
{
#pragma omp parallel for num_threads(2)
	for (int i = 0; i < LENGTH; i++)
		value[i] = value[i + 1] + i;
	return 0;
}
