/* SPDX-License-Identifier: Apache-2.0 */
/* What came of aiming at known findings (record/aim.h), as JSON and as text. */
#ifndef JSONL_AIM_H
#define JSONL_AIM_H

#include "record/aim.h"
#include "session/error.h"

#include <jansson.h>
#include <stdio.h>

json_t *aim_to_json(const struct aim_told *told); /* NULL when memory is short */
/* 0, or -EILSEQ with `error` naming the field. */
int aim_from_json(const json_t *json, struct aim_told *told, struct report_error *error);
/* Is the object one of these? */
bool aim_is_json(const json_t *json);

/* What it was, and what the counts say of a fix. */
void aim_write_text(FILE *stream, const struct aim_told *told);

#endif
