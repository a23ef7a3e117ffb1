/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that were looked at before one of them was executed, by any process that shares the
 * area: shells execute the same few again and again. A file is known by what the kernel says of it,
 * its last change included (st_ctime: of its contents, mode and capabilities). Those that may raise
 * privilege are not kept, since it depends on who executes them whether they do. Async-signal-safe;
 * opens nothing.
 */
#ifndef EXECUTION_IMAGE_H
#define EXECUTION_IMAGE_H

#include <stdbool.h>
#include <sys/stat.h>

enum image_kind {
	IMAGE_UNKNOWN,
	IMAGE_OPEN,   /* the dynamic linker loads the library into it */
	IMAGE_CLOSED, /* or does not */
};

enum image_kind image_recall(const struct stat *status);
void image_note(const struct stat *status, enum image_kind kind);

#endif
