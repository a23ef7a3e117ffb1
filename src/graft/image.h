/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The room: a fix for a process that was not prepared for one (`trapline patch`): a shared library
 * becomes the bytes that its dynamic linker would leave in memory, without anything of the process
 * having to run.
 *
 * What the library needs is found in the files of what the process has loaded (exports.h), and
 * what is replaced is looked at where it runs (entry.h). Promised: what only a dynamic linker of
 * the process itself could do is refused with one sentence, and before anything is done to the
 * process. Every file is hostile: each offset is checked where it is used. Runs in the command's
 * thread.
 *
 * This file: the library as it will lie in memory.
 */
#ifndef GRAFT_IMAGE_H
#define GRAFT_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GRAFT_ERROR 320
#define GRAFT_PARTS 16
#define GRAFT_BEHIND 4096 /* bytes of `bound` behind the library, for its caller to fill */

/* One sentence, without the name of the file before it. */
struct graft_error {
	char text[GRAFT_ERROR];
};

struct graft_part {
	uint64_t offset, size; /* whole pages, in order, none in two parts */
	int protection;	       /* PROT_…; never writable and executable */
};

/* A table, by its place among the image's bytes, as the file tells it and so not checked yet; size
 * 0: there is none. */
struct graft_table {
	uint64_t offset, size;
};

struct graft_image {
	uint8_t *bytes; /* as the file has them: addresses as linked, from 0 */
	uint8_t *bound; /* a copy, whose relocations are made, and GRAFT_BEHIND bytes */
	uint64_t size;	/* bytes, in whole pages, without those behind */
	unsigned count; /* of parts */
	struct graft_part part[GRAFT_PARTS];
	struct graft_table symbols, names, versions, needed;
	struct graft_table relocations, calls; /* Elf64_Rela */
	struct graft_table constructors;
	uint64_t init; /* address of DT_INIT; 0: none */
};

/* What a symbol of the library's is bound to. */
struct graft_wanted {
	const char *name;
	const char *version; /* NULL: any */
	bool weak;
};

/* Finds what the library needs. 0 and the address in the process; -ENOENT: nothing of the process
 * has it; another -errno with a sentence in `error`. */
typedef int graft_resolve_fn(void *context, const struct graft_wanted *wanted, uint64_t *address,
			     struct graft_error *error);

/* Reads the library from its file. 0 or -errno with a sentence, and nothing to be freed. */
int graft_image_read(int fd, struct graft_image *image, struct graft_error *error);
/* Makes the relocations in `bound` for an image that will lie at `base`. May be called again for
 * another base. 0 or -errno with a sentence. */
int graft_image_bind(struct graft_image *image, uint64_t base, graft_resolve_fn *resolve,
		     void *context, struct graft_error *error);
/* Calls `each` for every constructor, by its address as linked, until that returns another value
 * than 0, which is returned. -EINVAL: one is not told by the file itself. */
int graft_image_constructors(const struct graft_image *image,
			     int (*each)(void *context, uint64_t address), void *context);
/* Is there code at this address, as linked? */
bool graft_image_is_code(const struct graft_image *image, uint64_t address);
/* Is there room for a pointer at this address, as linked, in memory that the library may write? */
bool graft_image_is_pointer(const struct graft_image *image, uint64_t address);
void graft_image_free(struct graft_image *image);

/* Writes the sentence to `error` and returns `err`. */
int graft_refuse(struct graft_error *error, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
