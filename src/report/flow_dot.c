/* SPDX-License-Identifier: Apache-2.0 */
/* Flow as a graph for Graphviz. */
#include "report/flow.h"

/* Within double quotes. */
static void write_quoted(FILE *stream, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', stream);
		fputc((unsigned char)*text < 0x20 ? ' ' : *text, stream);
	}
}

void flow_write_dot(FILE *stream, const struct flow_view *view)
{
	size_t count;
	struct flow_link *links = flow_links(view, &count);

	fputs("digraph flow {\n\trankdir=LR;\n\tnode [shape=box, fontname=\"sans-serif\"];\n",
	      stream);
	for (size_t i = 0; i < count; i++) {
		fputs("\t\"", stream);
		write_quoted(stream, links[i].from);
		fputs("\" -> \"", stream);
		write_quoted(stream, links[i].to);
		fprintf(stream, "\" [label=\"%.1f %%\", penwidth=%.1f];\n", links[i].percent,
			1 + links[i].percent / 10);
	}
	fputs("}\n", stream);
	flow_links_free(links, count);
}
