/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/unwatched.h"

#include "event/firing.h"
#include "event/probe.h"
#include "record/utf8.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY "libtrapline-agent.so"
#define WATCHES_FEW 10	 /* fewer watches than this in a whole run are few */
#define REFUSALS_MANY 10 /* so many refusals for each watch are many */

/* Counters of what kept processes from being watched. Of equal counts the first one here is
 * told. */
static const struct reason {
	const char *counter, *words;
} reasons[] = {
	{"sequences-endless", "processes were let go, since each hit began a restartable sequence "
			      "of theirs anew (rseq(2))"},
	{"processes-left", "no event could be opened in processes, as where no hardware slot is "
			   "free; `trapline doctor` says why"},
	{"areas-refused", "programs ran as another user, whom only root may look into"},
	{"programs-unreadable", "programs were executed where " LIBRARY " cannot be read"},
	{"programs-unentered", "programs were executed that no library can be loaded into: static, "
			       "set-user-ID or for another C library"},
	{"children-unseen", "children were made by raw system calls rather than through libc"},
	{"processes-lost", "processes became programs that could not be entered"},
	{"processes-withdrawn", "processes were let go, since they debug themselves, take SIGTRAP "
				"by a signalfd or allow no system calls"},
	{"processes-unentered", "processes were more than can be watched at a time"},
	{"processes-short", "processes were many, so they did not wait to be watched, and ended "
			    "within 0.1 s"},
	{"processes-strange", "processes were others than they said"},
	{"unanswered", "the program waited for trapline in vain"},
};

#define REASON_COUNT (sizeof(reasons) / sizeof(reasons[0]))

/* Somebody who asked for every block of the heap is told which blocks were not guarded, or not for
 * as long as others. */
static const struct shortfall {
	const char *counter, *words;
} shortfalls[] = {
	{"guards-left-out",
	 "not guarded, of places that had allocated hundreds before: half of the "
	 "program's own time was used up, and --loan 100 lends ten seconds more; or realloc() made "
	 "them of a large block, or of one that may be of an allocator of the program's own; or "
	 "their process was not watched just then"},
	{"guards-unkept-time", "given back as they were freed, so that a later use is not seen, of "
			       "places that had allocated hundreds before: half of the program's "
			       "own time was used up; --loan 100 lends ten seconds more"},
	{"guards-crowded", "not guarded, since too many live ones were already"},
	{"guards-refused",
	 "not guarded, since the allocator had no room for what lies around them"},
};

#define SHORTFALL_COUNT (sizeof(shortfalls) / sizeof(shortfalls[0]))

struct tally {
	uint64_t watched, ending, reason[REASON_COUNT];
	uint64_t watches, refused, paused;
	uint64_t guards, shortfall[SHORTFALL_COUNT]; /* counts of blocks of the heap */
};

static void take(void *context, const char *name, uint64_t value, const char *meaning)
{
	struct tally *tally = context;

	(void)meaning;
	for (size_t i = 0; i < REASON_COUNT; i++)
		if (strcmp(name, reasons[i].counter) == 0)
			tally->reason[i] = value;
	for (size_t i = 0; i < SHORTFALL_COUNT; i++)
		if (strcmp(name, shortfalls[i].counter) == 0)
			tally->shortfall[i] = value;
	if (strcmp(name, "processes") == 0)
		tally->watched = value;
	else if (strcmp(name, "processes-ending") == 0)
		tally->ending = value;
	else if (strcmp(name, "watches") == 0 || strcmp(name, "code-watches") == 0)
		tally->watches += value;
	else if (strcmp(name, "watches-failed") == 0)
		tally->refused = value;
	else if (strcmp(name, "pauses") == 0)
		tally->paused = value;
	else if (strcmp(name, "guards") == 0)
		tally->guards = value;
}

static size_t main_reason(const struct tally *tally)
{
	size_t most = 0;

	for (size_t i = 1; i < REASON_COUNT; i++)
		if (tally->reason[i] > tally->reason[most])
			most = i;
	return most;
}

/* If no event may be opened at all, that is the reason, whatever else was counted. */
static bool tell_refusal(const char *nothing, const char *counter, uint64_t count)
{
	const struct probe_outcome *outcome = probe_outcome(PROBE_PERMISSION);

	if (outcome->state != PROBE_MISSING)
		return false;
	utf8_fprintf(stderr, "trapline: %s: %s (%s: %llu)\n", nothing, outcome->advice, counter,
		     (unsigned long long)count);
	return true;
}

/* Tells why no process was watched, or few. False: there is nothing to tell. */
static bool tell_processes(const struct tally *tally, const char *nothing)
{
	size_t most = main_reason(tally);
	uint64_t count = tally->reason[most];

	if (!tally->watched && count && tell_refusal(nothing, reasons[most].counter, count))
		return true;
	if (!count && !tally->watched && tally->ending)
		utf8_fprintf(
			stderr,
			"trapline: the program had ended before it could be watched, so %s: run it "
			"again, or where less else runs\n",
			nothing);
	else if (!count && !tally->watched)
		utf8_fprintf(stderr,
			     "trapline: the program never took part, so %s: " LIBRARY " must be "
			     "installed beside trapline, and the program able to open /proc\n",
			     nothing);
	else if (count && count >= tally->watched)
		utf8_fprintf(stderr, "trapline: %s: %s (%s: %llu; processes: %llu)\n",
			     tally->watched ? "little was watched" : nothing, reasons[most].words,
			     reasons[most].counter, (unsigned long long)count,
			     (unsigned long long)tally->watched);
	else
		return false;
	return true;
}

/* Tells how many watches a sampling tool set, and how many it could not set. */
static void tell_watches(const struct tally *tally)
{
	bool refused = tally->refused >= tally->paused;
	uint64_t count = refused ? tally->refused : tally->paused;

	if (tally->watches >= WATCHES_FEW || count < WATCHES_FEW ||
	    count < REFUSALS_MANY * tally->watches)
		return;
	utf8_fprintf(stderr, "trapline: little was watched: %s (%s: %llu; watches: %llu)\n",
		     refused ? "hardware slots refused addresses"
			     : "the budget was used up; --budget raises it",
		     refused ? "watches-failed" : "pauses", (unsigned long long)count,
		     (unsigned long long)tally->watches);
}

static void tell_shortfalls(const struct tally *tally)
{
	for (size_t i = 0; i < SHORTFALL_COUNT; i++)
		if (tally->shortfall[i])
			fprintf(stderr, "trapline: %llu block%s %s (%s; guards: %llu)\n",
				(unsigned long long)tally->shortfall[i],
				tally->shortfall[i] == 1 ? " of the heap was"
							 : "s of the heap were",
				shortfalls[i].words, shortfalls[i].counter,
				(unsigned long long)tally->guards);
}

void unwatched_tell(const struct control *control, const char *nothing)
{
	struct tally tally = {0};

	control_counts(control, take, &tally);
	/* Watches are also refused where a watched process became a program that is not watched. */
	if (!tell_processes(&tally, nothing) && tally.watched)
		tell_watches(&tally);
	if (control_guards_all(control))
		tell_shortfalls(&tally);
}

void unwatched_foretell(bool guards)
{
	if (firing_is_absent(TL_WRITE))
		fprintf(stderr, "trapline: %s; %s\n", FIRING_ABSENT,
			guards ? "only what page faults, patterns and calls of free() show will be found"
			       : "nothing will be found");
}
