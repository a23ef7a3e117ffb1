/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is not there at the start: `later MODULE` loads a module that has `late_variable`, which its
 * constructor writes at once, and writes it three times; a pointer is set late as well and later
 * moved, and what it points to written at once each time.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct node {
	long key;
	int state;
};

struct node *volatile head;

int main(int argc, char **argv)
{
	void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	void (*write_late)(void) = module ? (void (*)(void))dlsym(module, "write_late") : NULL;

	head = calloc(1, sizeof(*head));
	head->state = 3; /* at once: whoever watches must be there already */
	usleep(100000);
	for (int i = 0; i < 3 && write_late; i++)
		write_late();
	head->state = 4;
	head = calloc(1, sizeof(*head));
	head->state = 5;
	return 0;
}
