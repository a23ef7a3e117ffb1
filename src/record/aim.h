/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `trapline race --aim` aims at: known findings, each with the two places that its threads
 * were at, and what comes of watching these first. A chance is a watch in which two threads came to
 * the same bytes, one at either place; a meeting is a chance in which both were there at one
 * moment.
 *
 * Plain data. The findings belong to who made the list and outlive it; the counts are the
 * controller's thread's.
 */
#ifndef RECORD_AIM_H
#define RECORD_AIM_H

#include "record/finding.h"

#define AIM_MAX 64 /* a bit each in one word: see `current` */
#define AIM_SIDES 2
#define AIM_PLACE_SIZE 256

/* How an access was found again in the program, from nothing to certain. */
enum aim_how {
	AIM_NOWHERE,
	AIM_BY_OFFSET,	 /* without symbols, in a file of the same name and of no known build */
	AIM_BY_FUNCTION, /* and the bytes from its start, without lines */
	AIM_BY_LINE,	 /* of its function, or the nearest that has such an access */
	AIM_BY_BUILD,	 /* the same build */
};

/* Their names in the JSON form: "nowhere", … */
const char *aim_how_name(enum aim_how how);

struct aim_side {
	const struct finding_access *access;
	enum aim_how how;      /* the best of all processes */
	unsigned line;	       /* where that is now; 0: not known, or where it was */
	unsigned instructions; /* that are watched there */
	uint64_t visits;       /* times a thread was seen there */
	uint64_t turns;	       /* times it was watched */
};

struct aim_score {
	uint64_t chances, meetings;
};

struct aim {
	const struct finding *finding;
	struct aim_side side[AIM_SIDES];
	struct aim_score score;
	struct aim_score before; /* of earlier runs, as the file tells; 0 chances: it does not */
	char again[FINDING_ID_SIZE]; /* the id that it was seen under in this run; "": it was not */
	uint64_t seen;		     /* how many times */
};

struct aim_list {
	struct aim aim[AIM_MAX];
	unsigned count;
	uint64_t current;   /* those whose places the pair has that is being told, a bit each */
	uint64_t left_out;  /* findings of the file: too many … */
	uint64_t placeless; /* … or without two places of code */
};

/* One finding more. False: it was left out, and counted. The finding stays the caller's. */
bool aim_add(struct aim_list *list, const struct finding *finding);
/* What an earlier run has counted for a finding of that id. */
void aim_add_before(struct aim_list *list, const char *id, const struct aim_score *score);
/* A finding is told: is it one that is aimed at, by its id or by the pair's places? Then it is
 * noted under which id. */
bool aim_recognise(struct aim_list *list, const struct finding *finding);
/* What came of aiming at one finding, as a run tells it at its end and files keep it. */
struct aim_told {
	char id[FINDING_ID_SIZE], again[FINDING_ID_SIZE];
	char run[64];
	uint64_t seen;
	struct aim_score score, before;
	struct {
		char place[AIM_PLACE_SIZE]; /* as the file has it: "increment() counter.c:42" */
		enum aim_how how;
		unsigned line, instructions; /* as of struct aim_side */
		uint64_t visits;
	} side[AIM_SIDES];
};

void aim_tell(const struct aim *aim, const char *run, struct aim_told *told);
/* How many meetings were to be expected of so many chances, by what was counted before; 0: nothing
 * is known of that. */
double aim_told_expected(const struct aim_told *told);

#endif
