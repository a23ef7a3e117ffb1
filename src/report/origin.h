/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the files of a finding came from: Debian's package and its version, as the machine that
 * writes the report has it installed. A file is only told of if the one at its path here has the
 * build id that the finding names; so a report that was carried to another machine says nothing
 * rather than a guess.
 */
#ifndef REPORT_ORIGIN_H
#define REPORT_ORIGIN_H

#include <stddef.h>

#include "record/finding.h"

struct origins;

struct origins *origins_create(void); /* NULL when memory is short */
void origins_destroy(struct origins *origins);

/* Keeps the paths of a finding's files and whether it was seen on this machine, both of which
 * finding_redact() takes away. 0 or -ENOMEM. */
int origins_note(struct origins *origins, const struct finding *finding);

/* "PACKAGE VERSION" of a frame's file: 0, or -ENOENT: it is no package's, or another build is
 * there. */
int origins_package(const struct origins *origins, const struct finding_frame *frame, char *text,
		    size_t size);

/* The running kernel, if the finding was seen on this machine: 0 or -ENOENT. */
int origins_kernel(const struct origins *origins, const struct finding *finding, char *text,
		   size_t size);

#endif
