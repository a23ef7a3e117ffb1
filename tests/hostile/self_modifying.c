/* SPDX-License-Identifier: Apache-2.0 */
/* Code that rewrites its own immediate operand before each call, on a page that allows it. */
#include "hostile.h"

int main(void)
{
	/* movl $immediate, %eax; ret */
	static const unsigned char template[] = {0xb8, 0, 0, 0, 0, 0xc3};
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int (*function)(void) = (int (*)(void))code;
	int wrong = 0;

	if (code == MAP_FAILED)
		return SKIP;
	memcpy(code, template, sizeof(template));
	noise_start();
	for (int i = 0; i < 300000; i++) {
		*(volatile int *)(code + 1) = i;
		wrong += function() != i;
		if (i % 1000 == 0)
			nap(5000);
	}
	noise_stop();
	say("%d wrong", wrong);
	return wrong != 0;
}
