/* SPDX-License-Identifier: Apache-2.0 */
/* A set of findings as one SARIF 2.1.0 log (OASIS), as code scanning services take it. */
#ifndef REPORT_SARIF_H
#define REPORT_SARIF_H

#include <stdio.h>

#include "store/set.h"

#define SARIF_SCHEMA_URI "https://json.schemastore.org/sarif-2.1.0.json"

struct sarif_options {
	const char *version; /* of trapline */
	const char *root;    /* source root: paths below it become relative to it; NULL: none */
};

/* 0, -ENOMEM, or -EIO when the stream refuses. */
int sarif_write(FILE *stream, const struct finding_set *set, const struct sarif_options *options);

#endif
