/* SPDX-License-Identifier: Apache-2.0 */
/* What this tool counts, for --stats. */
#include "race/counts.h"

#include <stddef.h>

const struct tl_count race_counts[] = {
	{"repeats", "pairs of a race that was found already, no surer than it"},
	{"hidden-guessed", "pairs not told of: the instruction of one side is not certain"},
	{"hidden-libc",
	 "pairs not told of: inside the C library or the dynamic linker, or in a library's own "
	 "matter"},
	{"hidden-atomic", "pairs not told of: both sides are atomic"},
	{"hidden-not-taken",
	 "pairs not told of: a load that the compiler made and the program does not use"},
	{"hidden-call-stack",
	 "pairs not told of: what calls and returns keep on the stack themselves"},
	{"hidden-released", "pairs not told of: an atomic access of one side released the other"},
	{NULL, NULL},
};
