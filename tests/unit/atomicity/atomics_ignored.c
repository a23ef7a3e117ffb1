/* SPDX-License-Identifier: Apache-2.0 */
/* Directives that a compiler without -fopenmp passes over, as GCC's debug information tells. */
int x, y, real;

int main(void)
{
	int v;

#pragma omp atomic read
	v = y; /* plain: */
#pragma omp atomic write
	x = v; /* plain: */
#pragma omp atomic
	x += 2;						 /* plain: */
	return __atomic_load_n(&real, __ATOMIC_RELAXED); /* atomic: */
}
