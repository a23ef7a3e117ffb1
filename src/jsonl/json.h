/* SPDX-License-Identifier: Apache-2.0 */
/* A finding and a module table as JSON values (docs/report.md has every field), and back. */
#ifndef JSONL_JSON_H
#define JSONL_JSON_H

#include <jansson.h>

#include "record/finding.h"
#include "record/modules.h"
#include "session/error.h"

#define JSON_VERSION 1 /* of the format: "v" */

json_t *json_from_finding(const struct finding *finding); /* NULL when memory is short */

/* 0, or -EILSEQ with `error` naming the field, or -ENOMEM. Unknown fields are passed over. */
int json_to_finding(const json_t *json, struct finding **finding, struct report_error *error);
int json_to_modules(const json_t *json, struct record_modules **modules,
		    struct report_error *error);

#endif
