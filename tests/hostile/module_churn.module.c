/* SPDX-License-Identifier: Apache-2.0 */
/* The module of module_churn.c: a counter that its callers race on. */
int module_loads;
static volatile long steps;
static long table[512];

void *module_step(void *arg);

__attribute__((constructor)) static void count_load(void)
{
	module_loads++;
}

void *module_step(void *arg)
{
	for (int i = 0; i < 1000; i++)
		table[(steps++) & 511]++;
	return arg;
}
