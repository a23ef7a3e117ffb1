/* SPDX-License-Identifier: Apache-2.0 */
/* --aim FILE: known findings, read before the run, and what came of aiming at them, told after it.
 */
#ifndef CLI_AIM_H
#define CLI_AIM_H

#include "record/aim.h"

#include <stdbool.h>
#include <stdio.h>

struct aiming {
	struct aim_list list;
	struct finding *finding[AIM_MAX]; /* that the list points to */
};

/* NULL, having said why in one sentence: the file is no such file, or has nothing to aim at. */
struct aiming *aiming_read(const char *path);
void aiming_destroy(struct aiming *aiming); /* NULL is allowed */
/* Was one of them seen again? */
bool aiming_succeeded(const struct aiming *aiming);
/* How many times, by what the run has found under its id so far. */
void aiming_settle(struct aiming *aiming, const struct finding *found);
/* A line each, and as text. False: the stream refused. */
bool aiming_write(const struct aiming *aiming, FILE *stream, const char *run);
void aiming_show(const struct aiming *aiming, FILE *stream);

#endif
