/* SPDX-License-Identifier: Apache-2.0 */
/* A library whose first call is wrong. */
#include "mistakes.h"

void library_write_past(void);
void library_read_dropped(void);

void library_write_past(void)
{
	char *block = checked(malloc(hidden(26)));

	((volatile char *)hidden(block))[26] = 1;
	free(block);
	stay();
}

void library_read_dropped(void)
{
	char *block = checked(malloc(hidden(90)));

	free(hidden(block));
	(void)*(volatile char *)(hidden(block) + 60);
	stay();
}
