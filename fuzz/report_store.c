/* SPDX-License-Identifier: Apache-2.0 */
/* Anybody's database: opening, reading and merging into it. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/store.h"

static void write_file(const char *path, const uint8_t *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

static void merge_one(struct store *store)
{
	struct finding_set *set = finding_set_create();
	struct finding *finding = finding_create(FINDING_NOTE);
	struct report_error error;

	finding->message = "one";
	finding_set_add(set, finding);
	store_merge(store, set, &error);
	finding_set_destroy(set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct query everything;
	char path[64], journal[80];
	struct finding_set *set = finding_set_create();
	struct report_error error;
	struct store *store;

	snprintf(path, sizeof(path), "/dev/shm/trapline-fuzz-%d.db", (int)getpid());
	snprintf(journal, sizeof(journal), "%s-journal", path);
	write_file(path, data, size);
	if (!store_open(&store, path, true, &error)) {
		store_select(store, &everything, set, &error);
		merge_one(store);
		store_close(store);
	}
	finding_set_destroy(set);
	unlink(path);
	unlink(journal);
	return 0;
}
