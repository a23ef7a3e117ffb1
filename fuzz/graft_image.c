/* SPDX-License-Identifier: Apache-2.0 */
/* A fix that is loaded from outside: its segments, tables and relocations. */
#include "graft/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int resolve(void *context, const struct graft_wanted *wanted, uint64_t *address,
		   struct graft_error *error)
{
	size_t *lengths = context;

	(void)error;
	*lengths += strlen(wanted->name) + (wanted->version ? strlen(wanted->version) : 0);
	*address = 0x1000;
	return *lengths % 7 ? 0 : -ENOENT;
}

static int count(void *context, uint64_t address)
{
	size_t *lengths = context;

	*lengths += address & 1;
	return 0;
}

static void check(const struct graft_image *image)
{
	uint64_t end = 0;

	for (unsigned i = 0; i < image->count; i++) {
		if (image->part[i].offset < end ||
		    (image->part[i].protection & (PROT_WRITE | PROT_EXEC)) ==
			    (PROT_WRITE | PROT_EXEC))
			abort();
		end = image->part[i].offset + image->part[i].size;
	}
	if (end != image->size)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fix", MFD_CLOEXEC);
	struct graft_error error;
	struct graft_image image;
	size_t lengths = 0;

	if (fd < 0)
		return 0;
	if (write(fd, data, size) == (ssize_t)size && !graft_image_read(fd, &image, &error)) {
		check(&image);
		graft_image_bind(&image, 0x7f0000000000, resolve, &lengths, &error);
		graft_image_constructors(&image, count, &lengths);
		graft_image_free(&image);
	}
	close(fd);
	return 0;
}
