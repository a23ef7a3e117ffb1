/* SPDX-License-Identifier: Apache-2.0 */
/* A pointer that moves by less than what it points to: writes the last byte of 4, then of 8, from
 * there on, and the one before them. What is hit is told before the pointer moves. */
#include <unistd.h>

static _Alignas(16) char buffer[64];
char *volatile cursor = buffer + 8;

int main(void)
{
	cursor[0] = 1;
	usleep(100000);
	cursor += 2;
	cursor[3] = 2; /* at once: whoever watches must be there already */
	cursor[-1] = 9;
	usleep(100000);
	cursor += 1;
	usleep(300000); /* all slots are needed: none is left that sees the change at once */
	cursor[7] = 3;
	cursor[-1] = 9;
	return 0;
}
