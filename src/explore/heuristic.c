/* SPDX-License-Identifier: Apache-2.0 */
#include "explore/heuristic.h"

#include <stddef.h>
#include <string.h>

const struct heuristic_entry heuristic_table[] = {
	{"aim", HEURISTIC_AIM, "places of the findings of --aim"},
	{"sample", HEURISTIC_SAMPLE, "addresses that clock samples are about to access"},
	{"code", HEURISTIC_CODE, "instructions of code in use, at random"},
	{"contended", HEURISTIC_CONTENDED, "instructions whose memory other threads came to"},
	{"foresight", HEURISTIC_FORESIGHT, "conflicts that look-ahead shows"},
	{"team", HEURISTIC_TEAM, "conflicts of threads that begin an OpenMP region or task"},
	{"birth", HEURISTIC_BIRTH,
	 "conflicts of threads just created with each other and their creator"},
	{"probe", HEURISTIC_PROBE, "instructions whose memory changes under a held thread"},
	{"region-start", HEURISTIC_START, "probes where threads go on after waiting"},
	{"background-thread", HEURISTIC_BACKGROUND, "code of threads that seldom get a CPU"},
	{"argument", HEURISTIC_ARGUMENT, "memory handed to calls out of the program's code"},
	{"coincidence", HEURISTIC_COINCIDENCE, "threads expected at equal intervals"},
	{"widening", HEURISTIC_WIDENING, "watching for writes alone until a writer is held"},
	{"long-holds", HEURISTIC_LONG_HOLDS, "long holds in programs that mostly sleep"},
	{"reserve", HEURISTIC_RESERVE, "what a hold leaves saved for others"},
	{"cooldown", HEURISTIC_COOLDOWN, "a pause for addresses that cost too much"},
	{NULL, HEURISTIC_NONE, NULL},
};

const char *heuristic_name(enum heuristic heuristic)
{
	if (heuristic == HEURISTIC_STALL_FIRST)
		return "stall-first";
	for (const struct heuristic_entry *entry = heuristic_table; entry->name; entry++)
		if (entry->heuristic == heuristic)
			return entry->name;
	return NULL;
}

enum heuristic heuristic_find(const char *name)
{
	for (const struct heuristic_entry *entry = heuristic_table; entry->name; entry++)
		if (strcmp(entry->name, name) == 0)
			return entry->heuristic;
	return HEURISTIC_NONE;
}
