/* SPDX-License-Identifier: Apache-2.0 */
/* What this tool counts, for --stats. */
#include "heap/counts.h"

#include <stddef.h>

const struct tl_count heap_counts[] = {
	{"heap-watches", "watches placed around blocks, and on freed ones"},
	{"heap-watches-refused",
	 "watches not placed: no slot was free for what they are worth, or none could be opened"},
	{"heap-watches-displaced", "watches ended early, for another that is worth more"},
	{"heap-watches-late", "hits of a watch whose block the allocator had already"},
	{"heap-places-late",
	 "loads not placed by their value: the thread had gone on before the end of the search"},
	{"heap-samples", "sampled accesses that look like an error of a guarded block"},
	{"heap-broken-told",
	 "broken patterns not told of: the write that broke it was seen and told"},
	{"heap-pages-touched",
	 "empty pages of guarded blocks that a thread touched: they were filled"},
	{"heap-pages-locked",
	 "of these, by a call that fills memory without reading or writing it, as mlock(2)"},
	{"heap-pages-told",
	 "of these, by an access that no watch could be placed for: the end of its fault told it"},
	{"heap-pages-unwatched",
	 "of these, by an access that no watch could be placed for, and that its fault did not tell"},
	{"heap-pages-unseen", "empty pages touched where the kernel could not say by whom"},
	{"heap-contexts-certain",
	 "times that, after an error, all blocks of its context were to be guarded from then on"},
	{"heap-contexts-remembered",
	 "contexts with an error in an earlier run whose blocks are all guarded"},
	{"heap-contexts-left-out", "of these, not guarded: there are too many"},
	{"heap-contexts-processes",
	 "processes in which none of them is guarded: too many run at once"},
	{"heap-contexts-unremembered",
	 "contexts with an error that are not kept for the next run: in no file, or there are "
	 "too many"},
	{"heap-outside-asked",
	 "times that an allocator's function was watched for the next block, of a process that "
	 "was entered"},
	{"heap-outside-unsuited",
	 "blocks met so that are not watched: of a size or shape that does not suit"},
	{"heap-outside-live", "blocks met so and watched while they live"},
	{"heap-outside-freed", "of these, watched on after they were freed"},
	{"heap-outside-ended",
	 "watches at such blocks that ended by themselves: too many hits, or nobody came in time"},
	{"heap-own-code", "accesses not told of: made by trapline's own part in the program"},
	{"heap-own-operator",
	 "mismatched frees not told of: the file has operators new and delete of its own"},
	{"heap-kernel-string", "accesses not told of: the kernel copied a string by whole words"},
	{"heap-masked",
	 "accesses not told of: nothing of the instruction, as a masked one, explains the trap"},
	{"heap-loads-beyond",
	 "accesses not told of: a load of a string function behind the end of what it was asked "
	 "about"},
	{"heap-not-bounded",
	 "accesses not told of: a string function, of which it is not known how far it was to "
	 "read"},
	{"heap-before-birth", "accesses not told of: before the block was made"},
	{NULL, NULL},
};
