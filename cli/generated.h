/* SPDX-License-Identifier: Apache-2.0 */
/* The file of --gen-suppressions: a rule for each finding that is shown. */
#ifndef CLI_GENERATED_H
#define CLI_GENERATED_H

#include <stdbool.h>
#include <stdio.h>

struct finding;

struct generated {
	const char *path; /* not owned; "-" is where messages go, NULL is nowhere */
	FILE *file;
	int err; /* errno of the first rule that could not be written, or 0 */
};

/* False: it cannot be opened, which was said. */
bool generated_open(struct generated *generated, const char *path);
/* The program begins: what the file held before goes. */
void generated_begin(struct generated *generated);
void generated_add(struct generated *generated, const struct finding *finding);
/* Returns the status to end with: `status`, or that of a failure, which is said. */
int generated_close(struct generated *generated, int status);

#endif
