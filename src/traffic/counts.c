/* SPDX-License-Identifier: Apache-2.0 */
/* What the tools of this folder count, for --stats. */
#include "traffic/counts.h"

#include <stddef.h>

const struct tl_count flow_traffic_counts[] = {
	{"flow-pairs", "pairs of an access and the next one at the same bytes"},
	{"flow-pairs-censored", "accesses after which nobody came in time"},
	{"flow-code-not-armed", "instructions not watched: no slot could be opened"},
	{"flow-code-not-reached", "instructions watched that no thread came to"},
	{"flow-operand-unknown", "threads met at one whose operand could not be computed"},
	{"flow-data-not-armed", "data not watched: no slot could be opened"},
	{"flow-access-not-seen", "threads met at one whose access was not seen then"},
	{"flow-not-again",
	 "data watched that the sampled instruction did not come to again: it was waited for in "
	 "the code"},
	{"flow-probes-overdue", "watches that did not end in time"},
	{"flow-hits-guessed", "hits not used: late, or of an instruction that is not certain"},
	{"flow-processes-refused",
	 "processes too many to keep in mind: none of them tells where one that ends was"},
	{"flow-places-refused", "places in code not remembered: too many are"},
	{"flow-edges-not-told", "edges of the map beyond those that are told"},
	{"flow-lines-not-armed", "places in cache lines not watched: no slot could be opened"},
	{"flow-lines-displaced", "cache lines forgotten for others"},
	{"flow-sites-refused", "places that allocate not remembered: too many are"},
	{"flow-words-refused", "words of blocks not watched: no slot could be opened"},
	{"flow-words-censored",
	 "words whose watch ended before they were read, overwritten or freed"},
	{"flow-blocks-passed",
	 "blocks not looked at: empty, without a stack, all words in use, or the budget used up"},
	{NULL, NULL},
};
