/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/summary.h"

#include "report/text.h"

#include <unistd.h>

void summary_add(struct summary *summary, const struct finding *finding)
{
	struct text_options text = {.color = text_wants_color(summary->stream)};

	if (!summary->lines++)
		fputs("trapline: what was found, and how many times it was seen:\n",
		      summary->stream);
	fputs("  ", summary->stream);
	text_write_summary(summary->stream, finding, &text);
}

void summary_end(const struct summary *summary)
{
	if (!summary->hidden || (!summary->lines && !isatty(fileno(summary->stream))))
		return;
	fprintf(summary->stream,
		"trapline: %u of class `possible` not shown; --show all shows %s\n",
		summary->hidden, summary->hidden == 1 ? "it" : "them");
}
