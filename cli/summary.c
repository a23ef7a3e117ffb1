/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/summary.h"

#include "cli/looked.h"
#include "store/group.h"
#include "report/text.h"

#include <unistd.h>

void summary_add(struct summary *summary, const struct finding *finding)
{
	struct text_options text = {.color = text_wants_color(summary->stream)};

	if (!summary->lines++)
		fputs("trapline: what was found, and how many times it was seen:\n",
		      summary->stream);
	if (finding_is_of_libraries(finding) && !summary->libraries++)
		fputs("  in libraries of the system:\n", summary->stream);
	fputs("  ", summary->stream);
	text_write_summary(summary->stream, finding, &text);
}

void summary_end(const struct summary *summary, const struct statistics *statistics)
{
	if (!summary->lines && !isatty(fileno(summary->stream)))
		return;
	if (summary->hidden)
		fprintf(summary->stream,
			"trapline: %u of class `possible` not shown; --show all shows %s\n",
			summary->hidden, summary->hidden == 1 ? "it" : "them");
	if (summary->known)
		fprintf(summary->stream,
			"trapline: %u known of runtimes not shown; --show known shows %s\n",
			summary->known, summary->known == 1 ? "it" : "them");
	looked_tell(statistics, summary->stream);
}
