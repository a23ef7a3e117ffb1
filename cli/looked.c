/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/looked.h"

#include <string.h>

static uint64_t value_of(const struct statistics *statistics, const char *name)
{
	for (unsigned i = 0; i < statistics->count; i++)
		if (strcmp(statistics->row[i].name, name) == 0)
			return statistics->row[i].value;
	return 0;
}

/* What was left out, by the count that says how often, and what to do about it. */
static const struct gap {
	const char *count, *reason;
} gaps[] = {
	{"processes-left", "processes could not be watched"},
	{"processes-unentered", "processes were too many"},
	{"processes-short", "processes were many and ended within 0.1 s, unwatched"},
	{"processes-withdrawn", "processes were left alone since they use SIGTRAP or are debugged"},
	{"programs-unentered", "programs were executed that no library can be loaded into"},
	{"children-unseen", "children were made by raw system calls and not watched"},
	{"threads-unsampled", "threads ran before and could not be sampled"},
	{"cpus-unsampled", "CPUs were more than clock samples are taken on"},
	{"samples-undecoded", "samples were at code that could not be decoded"},
	{"samples-unread", "samples came faster than they were read"},
	{"requests-refused", "addresses were left out since too many waited for a slot"},
	{"requests-expired", "addresses were left out since no slot came free in time"},
	{"requests-dear", "addresses were left out since hits there cost too much lately"},
	{"pauses", "times nothing was watched since the budget was used up (--budget)"},
	{"hits-dropped", "hits found no free record"},
};

static void tell_gaps(const struct statistics *statistics, FILE *stream)
{
	const char *before = "trapline: not looked at:\n";

	for (unsigned i = 0; i < sizeof(gaps) / sizeof(gaps[0]); i++) {
		uint64_t count = value_of(statistics, gaps[i].count);

		if (!count)
			continue;
		fprintf(stream, "%s  %8llu %s\n", before, (unsigned long long)count,
			gaps[i].reason);
		before = "";
	}
}

void looked_tell(const struct statistics *statistics, FILE *stream)
{
	uint64_t ran = value_of(statistics, "code-ran");
	uint64_t reached = value_of(statistics, "code-reached");

	if (!ran)
		return;
	fprintf(stream,
		"trapline: looked for %.0f s; threads: %llu, processes: %llu, addresses watched: "
		"%llu, instructions watched: %llu; of the code seen to run, in pieces of 64 bytes, "
		"%llu of %llu (%.0f %%)\n",
		(double)value_of(statistics, "ms-watching") / 1000,
		(unsigned long long)value_of(statistics, "threads-seen"),
		(unsigned long long)value_of(statistics, "processes"),
		(unsigned long long)value_of(statistics, "watches"),
		(unsigned long long)value_of(statistics, "code-watches"),
		(unsigned long long)reached, (unsigned long long)ran,
		100.0 * (double)reached / (double)ran);
	tell_gaps(statistics, stream);
}
