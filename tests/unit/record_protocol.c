/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a hit's record (src/record/area.h), tried in every order in which its parties can
 * take their steps: two threads of two processes that both want the one record, a controller that
 * tells and takes back what it finds, and the death of the first process at any moment.
 *
 * It is the code of area.c itself that runs: AREA_STEP() stands between any two accesses of it to
 * what is shared, and hands over to the scheduler here. Each party is a coroutine. A schedule is
 * run from the start, then extended by each party that can go on; one that leads to where another
 * has led is not followed. Orders alone are tried, as if memory were sequentially consistent: which
 * stores a release makes visible is argued at the code.
 *
 * What must hold, always: a record is written by none but the thread that has claimed it; what the
 * controller tells is one hit, whole; in the end every hit of a living process was told once, of
 * the dead one at most once, and the record is free.
 */
#define AREA_STEP() step()
static void step(void);
#include "../../src/record/area.c" /* NOLINT(bugprone-suspicious-include) */

#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define PARTIES 4
#define STEPS_MAX 64
#define STACK_BYTES 65536
#define SEEN_BITS 22
#define LOOKS 2 /* by the controller, while the others go on */

enum party { FIRST, SECOND, CONTROLLER, DEATH };

static struct area *area;
static struct area_hit *hit;

static ucontext_t scheduler, context[PARTIES];
static char stacks[PARTIES][STACK_BYTES];
static bool finished[PARTIES];
static uint64_t history[PARTIES]; /* of what a party has found: its own state follows from it */
static enum party running;

static bool dead, reclaimed;
static unsigned published[2], told[2];
static uint64_t claimed_by[8]; /* 1 + writer, by the number of the use */
static uint64_t told_use;      /* 1 + number of the use that was told and not taken back */
static uint64_t writing[2];    /* its ticket */
static bool in_leave[2];

static enum party schedule[STEPS_MAX];
static unsigned length;

static _Noreturn void fail(const char *what)
{
	static const char letters[] = "12CX";

	fprintf(stderr, "record_protocol: not so: %s; the order is ", what);
	for (unsigned i = 0; i < length; i++)
		fputc(letters[schedule[i]], stderr);
	fputc('\n', stderr);
	exit(1);
}

static void check(bool condition, const char *what)
{
	if (!condition)
		fail(what);
}

static uint64_t mix(uint64_t sum, uint64_t value)
{
	sum = (sum ^ value) * 0x9e3779b97f4a7c15ull;
	return sum ^ sum >> 29;
}

static uint64_t look_at_record(void)
{
	uint64_t sum = mix(1, hit->state);

	return mix(mix(mix(sum, hit->identity), hit->address), hit->exit_time);
}

/* Between two steps of a party all others may take theirs. */
static void step(void)
{
	enum party self = running;

	swapcontext(&context[self], &scheduler);
	history[self] = mix(history[self], look_at_record() + dead);
	if (self < CONTROLLER && in_leave[self])
		check(hit->state == (writing[self] | AREA_HIT_LEAVING),
		      "a record that its thread leaves is that thread's");
}

/* ---- the parties -------------------------------------------------------------------------- */

static void write_field(enum party self, uint64_t *field)
{
	step();
	check(hit->state == (writing[self] | AREA_HIT_FILLING),
	      "a record that is being filled is its thread's");
	*field = writing[self] + self;
}

static void write_hit(enum party self)
{
	uint64_t ticket;

	step();
	if (!area_hit_claim(area, (uint32_t)self, &ticket))
		return;
	writing[self] = ticket;
	check(!claimed_by[ticket >> 16], "each use is claimed once");
	claimed_by[ticket >> 16] = 1 + self;
	write_field(self, &hit->identity);
	write_field(self, &hit->address);
	step();
	area_hit_publish(hit, ticket);
	published[self]++;
	step();
	/* From the first compare-and-swap in it on: it does not return before the last store. */
	if (hit->state == (ticket | AREA_HIT_HELD))
		in_leave[self] = true;
	area_hit_leave(hit, ticket, 1 + self);
	in_leave[self] = false;
}

static void tell(uint64_t state)
{
	uint64_t use = state >> 16, identity, owner = area_hit_owner(state);

	step();
	identity = hit->identity;
	step();
	check(identity == hit->address, "what is told is one hit");
	check(claimed_by[use] == 1 + owner, "it is told of the process that claimed the record");
	check(identity == (use << 16 | owner << 8) + owner, "it is the hit of this use");
	told[owner]++;
	told_use = 1 + use;
}

/* As src/lasting/traces.c and hits.c do. */
static void look(void)
{
	uint64_t state;

	step();
	state = hit->state;
	if (area_hit_state(state) == AREA_HIT_FREE || area_hit_state(state) == AREA_HIT_FILLING)
		return;
	if (told_use != 1 + (state >> 16))
		tell(state);
	step();
	area_hit_take(hit);
}

/* As entry_release() does when a process has ended: what it had published is told before. */
static void reclaim(void)
{
	uint64_t state;

	look();
	step();
	state = hit->state;
	if (area_hit_state(state) != AREA_HIT_FREE && area_hit_owner(state) == FIRST)
		area_hit_reclaim(hit);
	reclaimed = true;
}

static void control(void)
{
	for (int i = 0; i < LOOKS; i++) {
		look();
		if (dead && !reclaimed)
			reclaim();
	}
}

static void run_party(int self)
{
	if (self == DEATH) {
		step();
		dead = true;
	} else if (self == CONTROLLER) {
		control();
	} else {
		write_hit((enum party)self);
	}
	finished[self] = true;
	swapcontext(&context[self], &scheduler);
}

/* ---- the scheduler ------------------------------------------------------------------------ */

static void resume(enum party party)
{
	running = party;
	swapcontext(&scheduler, &context[party]);
}

static bool can_go_on(enum party party)
{
	if (party == DEATH && finished[FIRST])
		return false; /* that it ends by itself changes nothing */
	return !finished[party] && !(party == FIRST && dead);
}

static void begin(void)
{
	memset(hit, 0, sizeof(*hit));
	memset(claimed_by, 0, sizeof(claimed_by));
	memset(history, 0, sizeof(history));
	dead = reclaimed = false;
	told_use = 0;
	area->next_hit = 0;
	for (int i = 0; i < PARTIES; i++) {
		finished[i] = false;
		getcontext(&context[i]);
		context[i].uc_stack.ss_sp = stacks[i];
		context[i].uc_stack.ss_size = STACK_BYTES;
		context[i].uc_link = NULL;
		makecontext(&context[i], (void (*)(void))run_party, 1, i);
	}
	for (int i = 0; i < 2; i++) {
		published[i] = told[i] = 0;
		writing[i] = 0;
		in_leave[i] = false;
	}
	for (int i = 0; i < PARTIES; i++)
		resume((enum party)i); /* up to its first step */
}

static void replay(void)
{
	begin();
	for (unsigned i = 0; i < length; i++)
		resume(schedule[i]);
}

static uint64_t *seen;

/* Is all that decides about what follows as it was after another schedule? */
static bool was_seen(void)
{
	uint64_t key = mix(look_at_record(), (uint64_t)dead << 1 | reclaimed), at;

	for (int i = 0; i < PARTIES; i++)
		key = mix(key, history[i]);
	key |= 1;
	for (at = key >> 3 & ((1u << SEEN_BITS) - 1); seen[at];
	     at = (at + 1) & ((1u << SEEN_BITS) - 1))
		if (seen[at] == key)
			return true;
	seen[at] = key;
	return false;
}

/* The scheduler's own turn, alone: nothing interleaves any more. */
static void finish(void)
{
	uint64_t state = hit->state;

	if (area_hit_state(state) != AREA_HIT_FREE && area_hit_state(state) != AREA_HIT_FILLING &&
	    told_use != 1 + (state >> 16))
		told[area_hit_owner(state)]++;
	area_hit_take(hit);
	if (dead && !reclaimed && area_hit_state(hit->state) != AREA_HIT_FREE &&
	    area_hit_owner(hit->state) == FIRST)
		area_hit_reclaim(hit);
	check(area_hit_state(hit->state) == AREA_HIT_FREE, "in the end the record is free");
	check(told[SECOND] == published[SECOND], "each hit of the living is told once");
	check(dead ? told[FIRST] <= 1 : told[FIRST] == published[FIRST],
	      "a hit of the dead is told once at most");
}

static unsigned long orders, ends;

static void extend(void)
{
	bool any = false, moved = false;

	for (int i = 0; i < PARTIES; i++) {
		if (moved)
			replay();
		moved = can_go_on((enum party)i);
		if (!moved)
			continue;
		any = true;
		check(length < STEPS_MAX, "a schedule ends");
		schedule[length++] = (enum party)i;
		resume((enum party)i);
		orders++;
		if (!was_seen())
			extend();
		length--;
	}
	if (any)
		return;
	ends++;
	running = PARTIES;
	finish();
}

int main(void)
{
	area = calloc(1, sizeof(*area));
	seen = calloc(1u << SEEN_BITS, sizeof(*seen));
	if (!area || !seen)
		return 1;
	hit = &area->hit[0];
	for (int i = 1; i < AREA_HITS; i++)
		area->hit[i].state = AREA_HIT_FILLING;
	begin();
	extend();
	printf("%lu steps of different orders, %lu ends\n", orders, ends);
	return 0;
}
