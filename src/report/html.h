/* SPDX-License-Identifier: Apache-2.0 */
/* A set of findings as one HTML page that needs nothing but itself. */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include <stdio.h>

#include "store/set.h"

/* Finds a line of source text: 0, or -errno when there is none. */
typedef int html_source_fn(void *arg, const char *file, unsigned line, char *text, size_t size);

struct html_options {
	const char *title;	/* NULL: "Findings" */
	const char *version;	/* of trapline */
	html_source_fn *source; /* NULL: no source lines */
	void *source_arg;
	unsigned source_context; /* lines before and after */
};

/* 0, -ENOMEM, or -EIO when the stream refuses. */
int html_write(FILE *stream, const struct finding_set *set, const struct html_options *options);

#endif
