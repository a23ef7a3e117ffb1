/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for the auxiliary vector where the kernel laid it, behind the environment's end. */
#include "hostile.h"
#include <elf.h>
#include <sys/auxv.h>

int main(int argc, char **argv, char **environment)
{
	char **end = environment;
	Elf64_auxv_t *at;
	unsigned wrong = 0, found = 0;

	while (*end)
		end++;
	for (at = (Elf64_auxv_t *)(end + 1); at->a_type != AT_NULL; at++) {
		if (at->a_type == AT_IGNORE)
			continue;
		found++;
		wrong += getauxval(at->a_type) != at->a_un.a_val;
	}
	noise_start();
	nap(500000);
	noise_stop();
	say("%d arguments, the environment %s argv, vector %s, %u wrong", argc,
	    environment == argv + argc + 1 ? "behind" : "elsewhere than",
	    found > 8 ? "found" : "not found", wrong);
	return 0;
}
