/* SPDX-License-Identifier: Apache-2.0 */
/* Findings as bug reports in Markdown, for those who maintain the program. */
#ifndef REPORT_MARKDOWN_H
#define REPORT_MARKDOWN_H

#include <stdio.h>

#include "report/origin.h"
#include "store/set.h"

struct markdown_options {
	const char *version; /* of trapline */
	/* Finds a line of source text: 0, or negative when there is none. NULL: no source. */
	int (*source)(void *arg, const char *file, unsigned line, char *text, size_t size);
	void *source_arg;
	unsigned source_context; /* lines before and after */
	const struct origins *origins;
};

/* 0, or -EIO when the stream refuses. */
int markdown_write(FILE *stream, const struct finding_set *set,
		   const struct markdown_options *options);

#endif
