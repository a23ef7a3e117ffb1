/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pointer that turns elsewhere after a debugger has come and gone: writes `head->state`, says so,
 * waits for a line, sets `head` anew and writes there at once.
 */
#include <stdio.h>
#include <stdlib.h>

struct node {
	long key;
	int state;
};

struct node *volatile head;

int main(void)
{
	head = calloc(1, sizeof(*head));
	head->state = 3;
	puts("written");
	fflush(stdout);
	if (getchar() == EOF)
		return 1;
	head = calloc(1, sizeof(*head));
	head->state = 5; /* at once: whoever watches must be there already */
	return 0;
}
