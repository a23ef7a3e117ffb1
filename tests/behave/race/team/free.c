/* SPDX-License-Identifier: Apache-2.0 */
/* The same without a race: what is read nobody writes, and what both write is reduced. */
#define LENGTH 4000

static int value[LENGTH + 1], from[LENGTH + 1];

int main(void)
{
	int sum = 0, most = 0;

#pragma omp parallel for num_threads(2) reduction(+ : sum)
	for (int i = 0; i < LENGTH; i++) {
		value[i] = from[i + 1] + i;
		sum += value[i];
#pragma omp critical
		most = value[i] > most ? value[i] : most;
	}
	return sum == most;
}
