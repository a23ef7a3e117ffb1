/* SPDX-License-Identifier: Apache-2.0 */
/* What `trapline flow` found, as people read it: tables and trees, graphs, pages. */
#ifndef REPORT_FLOW_H
#define REPORT_FLOW_H

#include "record/finding.h"

#include <stdbool.h>
#include <stdio.h>

/* What edges are drawn between. */
enum flow_by { FLOW_BY_FUNCTION, FLOW_BY_MODULE, FLOW_BY_FILE, FLOW_BY_LINE, FLOW_BY_THREAD };

struct flow_view {
	struct finding *const *findings; /* others than flow's are passed over */
	size_t count;
	enum flow_by by;
	const char *title; /* of a page */
};

/* Is it one of flow's? */
bool flow_is_finding(const struct finding *finding);
/* A step towards where values go: its first access reads, and its second one wrote what is read. */
bool flow_is_forwards(const struct finding *finding);
/* A detail's text, or NULL; as a number, or 0. */
const char *flow_detail_text(const struct finding *finding, const char *name);
double flow_detail_number(const struct finding *finding, const char *name);
/* The place of access `index`, named as `by` says. */
void flow_name(const struct finding *finding, size_t index, enum flow_by by, char *text,
	       size_t size);

/* An edge between named nodes, all findings of it together. */
struct flow_link {
	char *from, *to;
	double percent;
	double seen;
	const struct finding *example;
};
/* Heaviest first; free with flow_links_free(). NULL when memory is short, or there is none. */
struct flow_link *flow_links(const struct flow_view *view, size_t *count);
void flow_links_free(struct flow_link *links, size_t count);

void flow_write_text(FILE *stream, const struct flow_view *view);
void flow_write_dot(FILE *stream, const struct flow_view *view);
void flow_write_html(FILE *stream, const struct flow_view *view);

#endif
