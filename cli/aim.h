/* SPDX-License-Identifier: Apache-2.0 */
/* --aim FILE: known findings are read before the run; after it, this tells what came of aiming at
 * them. */
#ifndef CLI_AIM_H
#define CLI_AIM_H

#include "record/aim.h"

#include <stdbool.h>
#include <stdio.h>

struct aiming {
	struct aim_list list;
	struct finding *finding[AIM_MAX]; /* what the list points to */
};

/* NULL, having said why in one sentence: the file cannot be read as findings, or holds nothing to
 * aim at. */
struct aiming *aiming_read(const char *path);
void aiming_destroy(struct aiming *aiming); /* NULL is allowed */
/* Was one of the findings seen again? */
bool aiming_succeeded(const struct aiming *aiming);
/* Notes how many times a finding was seen again, from what the run has found under its id so
 * far. */
void aiming_settle(struct aiming *aiming, const struct finding *found);
/* Writes a line for each finding, and the same as text. False: the stream refused. */
bool aiming_write(const struct aiming *aiming, FILE *stream, const char *run);
void aiming_show(const struct aiming *aiming, FILE *stream);

#endif
