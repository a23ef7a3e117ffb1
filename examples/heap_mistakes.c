/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two mistakes that no test notices: a copy of a string without room for its final zero, and a list
 * that is freed by walking along it.
 *
 *	trapline heap -- build/examples/heap_mistakes
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct guest {
	char *name;
	long table;
	struct guest *next;
};

static struct guest *add_guest(struct guest *list, const char *name)
{
	struct guest *guest = malloc(sizeof(*guest));

	if (!guest)
		exit(1);
	guest->next = list;
	guest->table = list ? list->table + 1 : 1;
	guest->name = malloc(strlen(name));
	if (!guest->name)
		exit(1);
	strcpy(guest->name, name);
	return guest;
}

static void free_guests(struct guest *list)
{
	for (; list; list = list->next) {
		free(list->name);
		free(list);
	}
}

int main(int argc, char **argv)
{
	static const char *const usual[] = {"Ada Lovelace!", "Grace Hopper!", "Emmy Noether!"};
	struct guest *list = NULL;

	for (int i = 1; i < argc; i++)
		list = add_guest(list, argv[i]);
	for (int i = 0; argc == 1 && i < 3; i++)
		list = add_guest(list, usual[i]);
	for (struct guest *guest = list; guest; guest = guest->next)
		printf("%ld: %s\n", guest->table, guest->name);
	free_guests(list);
	return 0;
}
