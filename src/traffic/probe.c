/* SPDX-License-Identifier: Apache-2.0 */
#include "traffic/probe.h"

#include "base/clock.h"

#include "traffic/random.h"
#include "insn/insn.h"
#include "tool/registers.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CODE_WINDOW (20 * MILLISECOND) /* how long is waited for the instruction to run again */
/* how long a thread is held at most, while the data watch is armed */
#define CODE_HOLD (2 * MILLISECOND)
/* occurrences passed over, at most, since the first after a pause is a special one */
#define SKIP_MOST 8u
#define DATA_WINDOW (4 * MILLISECOND) /* the shortest; others are 4, 16 and 64 times as long */
/* how long is waited for the instruction to come to the same bytes again */
#define AGAIN_WINDOW (20 * MILLISECOND)
/* the sampled access must be among so many hits; others are made by other instructions */
#define DATA_HITS 48u
#define FOLLOWED 8u   /* accesses followed after it; each answers what came after the one before */
#define SIGHTS 16384u /* sights kept; a reservoir of all */
#define START_INTERVAL MILLISECOND

int flow_prober_init(struct flow_prober *prober, struct tl_host *host,
		     const struct tl_services *services, bool loads)
{
	memset(prober, 0, sizeof(*prober));
	prober->host = host;
	prober->services = services;
	prober->loads = loads;
	prober->random = clock_now() | 1;
	prober->began = clock_now();
	prober->pair = calloc(FLOW_OBSERVATIONS, sizeof(*prober->pair));
	prober->sight = calloc(SIGHTS, sizeof(*prober->sight));
	flow_places_init(&prober->places, host, services);
	return prober->pair && prober->sight ? 0 : -1;
}

static void count(struct flow_prober *prober, const char *name)
{
	prober->services->count(prober->host, name, 1);
}

/* Pushes, calls and the like are stores and loads as others are. An instruction that loads and
 * stores is sampled as a store. */
void flow_prober_sample(void *state, const struct tl_access *access)
{
	struct flow_prober *prober = state;
	bool store = access->access & TL_WRITE;
	uint32_t place = flow_place_find(&prober->places, access->pid, access->pc);
	uint64_t victim;

	if (place == FLOW_NOWHERE || prober->places.place[place].own)
		return;
	if (store)
		prober->places.place[place].stores++;
	else
		prober->places.place[place].loads++;
	if ((store || prober->loads) &&
	    flow_reservoir(&prober->random, 1, ++prober->candidates, &victim))
		prober->candidate = (struct flow_candidate){.pid = access->pid,
							    .tid = access->tid,
							    .pc = access->pc,
							    .address = access->address,
							    .length = access->length,
							    .store = store,
							    .place = place};
}

/* Puts the pair into the reservoir. */
static void keep(struct flow_prober *prober, const struct flow_pair *pair)
{
	uint64_t victim;

	if (!flow_reservoir(&prober->random, FLOW_OBSERVATIONS, ++prober->made, &victim))
		return;
	if (victim == prober->pairs)
		prober->pairs++;
	else
		prober->places.place[prober->pair[victim].place]
			.probed[prober->pair[victim].store]--;
	prober->pair[victim] = *pair;
	prober->places.place[pair->place].probed[pair->store]++;
}

static void end(struct flow_prober *prober, struct flow_probe *probe)
{
	if (probe->code_cookie)
		prober->services->disarm(prober->host, probe->code_cookie);
	if (probe->data_cookie)
		prober->services->disarm(prober->host, probe->data_cookie);
	probe->used = false;
	prober->services->wake(prober->host);
}

static void keep_sight(struct flow_prober *prober, const struct flow_sight *sight)
{
	uint64_t victim;

	if (!sight->count ||
	    !flow_reservoir(&prober->random, SIGHTS, ++prober->sights_made, &victim))
		return;
	prober->sight[victim] = *sight;
	if (victim == prober->sights)
		prober->sights++;
}

/* Ends the probe with no access seen after the last one. */
static void conclude(struct flow_prober *prober, struct flow_probe *probe)
{
	uint64_t time = clock_now();

	if (probe->pair.store || prober->loads) {
		probe->pair.way = FLOW_CENSORED;
		probe->pair.duration = time > probe->time ? time - probe->time : 0;
		count(prober, "flow-pairs-censored");
		keep(prober, &probe->pair);
	}
	keep_sight(prober, &probe->sight);
	end(prober, probe);
}

static uint64_t draw_window(struct flow_prober *prober)
{
	return DATA_WINDOW << 2 * flow_below(&prober->random, 4);
}

static int arm_data(struct flow_prober *prober, struct flow_probe *probe, uint64_t window)
{
	struct tl_watch watch = {.size = sizeof(watch),
				 .pid = probe->pid,
				 .address = probe->address,
				 .length = 1,
				 .access = TL_READ | TL_WRITE,
				 .hits = DATA_HITS,
				 .window = window,
				 .cookie = ++prober->cookie};
	int err = prober->services->arm(prober->host, &watch);

	probe->data_cookie = err ? 0 : watch.cookie;
	probe->deadline = clock_now() + 2 * window;
	if (err)
		count(prober, "flow-data-not-armed");
	return err;
}

static void read_value(struct flow_prober *prober, struct flow_probe *probe)
{
	probe->value_known = prober->services->read(prober->host, probe->pid, probe->address,
						    &probe->value, sizeof(probe->value)) ==
			     (ssize_t)sizeof(probe->value);
}

static void start(struct flow_prober *prober, struct flow_probe *probe)
{
	const struct flow_candidate *candidate = &prober->candidate;

	*probe = (struct flow_probe){.used = true,
				     .pid = candidate->pid,
				     .tid = candidate->tid,
				     .pc = candidate->pc,
				     .address = candidate->address,
				     .length = candidate->length,
				     .place = candidate->place,
				     .store = candidate->store};
	prober->candidates = 0;
	probe->again_until = clock_now() + AGAIN_WINDOW;
	if (arm_data(prober, probe, AGAIN_WINDOW + draw_window(prober)))
		probe->used = false;
	else
		read_value(prober, probe); /* from here on the watch sees every store */
}

/* The instruction did not come to the sampled bytes again, so its next run elsewhere is waited
 * for. */
static void start_code(struct flow_prober *prober, struct flow_probe *probe)
{
	struct tl_watch watch = {.size = sizeof(watch),
				 .pid = probe->pid,
				 .tid = probe->tid,
				 .address = probe->pc,
				 .length = 1,
				 .access = TL_EXEC,
				 .hold = CODE_HOLD,
				 .window = CODE_WINDOW,
				 .cookie = ++prober->cookie};

	probe->skip = (unsigned)flow_below(&prober->random, SKIP_MOST);
	probe->deadline = clock_now() + 2 * CODE_WINDOW;
	watch.hits = probe->skip + 1;
	if (prober->services->arm(prober->host, &watch)) {
		count(prober, "flow-code-not-armed");
		probe->used = false;
	} else {
		probe->code_cookie = watch.cookie;
	}
}

/* The address that the instruction is about to load from or store to. False: it cannot be known. */
static bool find_operand(struct flow_prober *prober, struct flow_probe *probe,
			 const struct tl_access *access)
{
	struct insn_registers registers = tool_registers(access->registers, access->pc);
	unsigned wanted = probe->store ? TL_WRITE : TL_READ;
	uint8_t bytes[INSN_MAX_LENGTH];
	struct insn insn;
	ssize_t length =
		prober->services->read(prober->host, access->pid, access->pc, bytes, sizeof(bytes));

	if (length <= 0 || insn_decode(bytes, (size_t)length, access->pc, &insn))
		return false;
	for (unsigned i = 0; i < insn.operand_count; i++)
		if (insn.operand[i].access & wanted && !insn.operand[i].extent_unknown &&
		    !insn_operand_before(&insn, i, &registers, &probe->address, &probe->length) &&
		    probe->length)
			return true;
	return false;
}

/* The thread is held before the instruction: its operand's bytes are watched from now on. */
static void catch (struct flow_prober *prober, struct flow_probe *probe,
		   const struct tl_access *access)
{
	if (probe->seen++ < probe->skip || probe->caught)
		return;
	probe->caught = true;
	if (!access->registers || !find_operand(prober, probe, access)) {
		count(prober, "flow-operand-unknown");
		end(prober, probe);
		return;
	}
	read_value(prober, probe);
	if (arm_data(prober, probe, draw_window(prober)))
		end(prober, probe);
}

static uint64_t low_bytes(uint64_t value, uint64_t length)
{
	return length < 8 ? value & ((1ull << 8 * length) - 1) : value;
}

static void note_sight(struct flow_sight *sight, uint32_t place)
{
	for (unsigned i = 0; i < sight->count; i++)
		if (sight->place[i] == place) {
			sight->times[i]++;
			return;
		}
	if (sight->count == FLOW_SIGHT_PLACES)
		return;
	sight->place[sight->count] = place;
	sight->times[sight->count++] = 1;
}

/* The access becomes the one whose next access is waited for. */
static void wait_after(struct flow_prober *prober, struct flow_probe *probe,
		       const struct tl_access *access, uint32_t place)
{
	bool known = access->value_known && access->address == probe->address;
	uint64_t length = access->length;

	probe->time = access->time;
	probe->pair = (struct flow_pair){
		.place = place,
		.next = FLOW_NOWHERE,
		.tid = access->tid,
		.address = access->address,
		.length = (uint16_t)(length > UINT16_MAX ? UINT16_MAX : length),
		.store = access->access & TL_WRITE,
		.silence_known = known && probe->value_known && length <= 8,
		.silent = low_bytes(access->value, length) == low_bytes(probe->value, length),
		.group = prober->group,
	};
	if (known) {
		probe->value = access->value;
		probe->value_known = true;
	} else if (access->access & TL_WRITE) {
		probe->value_known = false;
	}
	flow_place_example(&prober->places, place, access);
}

/* Both values are known and differ: somebody stored in between whom no watch sees, the kernel or
 * another process. */
static bool has_changed(const struct flow_probe *probe, const struct tl_access *access)
{
	uint64_t length = access->length < probe->pair.length ? access->length : probe->pair.length;

	return access->value_known && probe->value_known &&
	       access->address == probe->pair.address && length <= 8 &&
	       low_bytes(access->value, length) != low_bytes(probe->value, length);
}

/* How the last access's bytes were used next. An unknown value counts as unchanged, since nobody
 * was seen to store. */
static uint8_t way_of(const struct flow_probe *probe, const struct tl_access *access)
{
	bool reads = access->access & TL_READ;

	if (probe->pair.store)
		return reads ? FLOW_READ_NEXT : FLOW_WRITTEN_NEXT;
	if (!reads || has_changed(probe, access))
		return FLOW_WRITTEN_NEXT;
	return access->tid == probe->pair.tid ? FLOW_SAME_AGAIN : FLOW_OTHER_READS;
}

static void answer(struct flow_prober *prober, struct flow_probe *probe,
		   const struct tl_access *access, uint32_t place)
{
	probe->pair.next = place;
	probe->pair.next_tid = access->tid;
	probe->pair.way = way_of(probe, access);
	probe->pair.duration = access->time > probe->time ? access->time - probe->time : 0;
	if (!probe->pair.store && !prober->loads)
		return;
	count(prober, "flow-pairs");
	keep(prober, &probe->pair);
}

static void on_data(struct flow_prober *prober, struct flow_probe *probe,
		    const struct tl_access *access)
{
	uint32_t place = flow_place_find(&prober->places, access->pid, access->pc);

	if (place == FLOW_NOWHERE || access->access & (TL_LATE | TL_GUESSED)) {
		count(prober, "flow-hits-guessed");
		end(prober, probe);
		return;
	}
	if (access->traits & TL_TRAIT_BEYOND || prober->places.place[place].own)
		return;
	note_sight(&probe->sight, place);
	if (probe->begun) {
		answer(prober, probe, access, place);
		probe->followed++;
	} else if (access->pc == probe->pc) {
		probe->begun = true;
		prober->group++;
	}
	wait_after(prober, probe, access, place);
	if (probe->followed < FOLLOWED)
		return;
	keep_sight(prober, &probe->sight);
	end(prober, probe);
}

static struct flow_probe *find_probe(struct flow_prober *prober, uint64_t cookie)
{
	for (unsigned i = 0; i < FLOW_PROBES; i++) {
		struct flow_probe *probe = &prober->probe[i];

		if (probe->used && cookie &&
		    (probe->code_cookie == cookie || probe->data_cookie == cookie))
			return probe;
	}
	return NULL;
}

void flow_prober_hit(void *state, const struct tl_access *access)
{
	struct flow_prober *prober = state;
	struct flow_probe *probe = find_probe(prober, access->cookie);

	if (!probe)
		return;
	if (access->cookie == probe->code_cookie)
		catch (prober, probe, access);
	else
		on_data(prober, probe, access);
}

/* A code watch also ends when its hits are used up; the data watch goes on then. */
void flow_prober_unwatched(void *state, const struct tl_watch *watch, unsigned hits,
			   unsigned threads)
{
	struct flow_prober *prober = state;
	struct flow_probe *probe = find_probe(prober, watch->cookie);

	(void)hits, (void)threads;

	if (!probe)
		return;
	if (watch->cookie == probe->code_cookie) {
		probe->code_cookie = 0;
		if (!probe->data_cookie) {
			count(prober, "flow-code-not-reached");
			end(prober, probe);
		}
		return;
	}
	probe->data_cookie = 0;
	if (probe->begun) {
		conclude(prober, probe);
	} else if (probe->caught) {
		count(prober, "flow-access-not-seen");
		end(prober, probe);
	} else {
		count(prober, "flow-not-again");
		start_code(prober, probe);
	}
}

static bool lives(const struct flow_prober *prober, pid_t pid)
{
	for (size_t i = 0; i < prober->lives; i++)
		if (prober->living[i] == pid)
			return true;
	return false;
}

/* The sampled instruction has not come to these bytes for so long that it is no longer expected
 * to. */
static bool is_not_again(const struct flow_probe *probe, uint64_t time)
{
	return probe->used && probe->data_cookie && !probe->begun && !probe->caught &&
	       time > probe->again_until;
}

void flow_prober_tick(void *state)
{
	struct flow_prober *prober = state;
	uint64_t time = clock_now();

	for (unsigned i = 0; i < FLOW_PROBES; i++) {
		struct flow_probe *probe = &prober->probe[i];

		if (is_not_again(probe, time)) {
			prober->services->disarm(prober->host, probe->data_cookie);
			probe->data_cookie = 0;
			count(prober, "flow-not-again");
			start_code(prober, probe);
		}
		if (probe->used && time > probe->deadline) {
			count(prober, "flow-probes-overdue");
			end(prober, probe);
		}
		if (probe->used || !prober->candidates || time < prober->next_start ||
		    !lives(prober, prober->candidate.pid))
			continue;
		prober->next_start = time + START_INTERVAL;
		start(prober, probe);
	}
}

void flow_prober_began(void *state, pid_t pid)
{
	struct flow_prober *prober = state;

	if (prober->lives < sizeof(prober->living) / sizeof(prober->living[0]))
		prober->living[prober->lives++] = pid;
	else
		count(prober, "flow-processes-refused");
}

void flow_prober_ended(struct flow_prober *prober, pid_t pid)
{
	for (unsigned i = 0; i < FLOW_PROBES; i++) {
		struct flow_probe *probe = &prober->probe[i];

		if (!probe->used || probe->pid != pid)
			continue;
		if (probe->begun)
			conclude(prober, probe);
		else
			end(prober, probe);
	}
	for (size_t i = 0; i < prober->lives; i++)
		if (prober->living[i] == pid)
			prober->living[i--] = prober->living[--prober->lives];
}

/* Weighs loads and stores apart: an instruction that does both is weighed as what it was seen
 * as. */
void flow_prober_weigh(struct flow_prober *prober)
{
	uint32_t count = prober->places.count;
	double *samples = calloc(2 * (size_t)count + 1, sizeof(*samples));
	double *occurrences = samples ? samples + count : NULL;

	for (uint32_t i = 0; samples && i < count; i++)
		samples[i] = prober->places.place[i].loads + prober->places.place[i].stores;
	if (!samples || flow_weigh(samples, count, prober->sight, prober->sights, occurrences))
		occurrences = samples;
	prober->weight[0] = prober->weight[1] = 0;
	for (uint32_t i = 0; occurrences && i < count; i++) {
		struct flow_place *place = &prober->places.place[i];
		bool store = place->stores > place->loads ||
			     (!place->loads && place->probed[1] >= place->probed[0]);

		place->weight[store] = occurrences[i];
		place->weight[!store] = 0;
		prober->weight[store] += occurrences[i];
	}
	free(samples);
}

double flow_pair_weight(const struct flow_prober *prober, const struct flow_pair *pair)
{
	const struct flow_place *place = &prober->places.place[pair->place];
	double all = prober->weight[pair->store];

	return all > 0 && place->probed[pair->store]
		       ? place->weight[pair->store] / all / place->probed[pair->store]
		       : 0;
}

struct flow_observation *flow_prober_observations(const struct flow_prober *prober, bool store,
						  size_t *count)
{
	struct flow_observation *observations = calloc(prober->pairs + 1, sizeof(*observations));

	*count = 0;
	for (uint64_t i = 0; observations && i < prober->pairs; i++) {
		const struct flow_pair *pair = &prober->pair[i];
		double weight = flow_pair_weight(prober, pair);

		if (pair->store == store && weight > 0)
			observations[(*count)++] =
				(struct flow_observation){.weight = weight,
							  .duration = pair->duration,
							  .group = pair->group,
							  .way = pair->way};
	}
	return observations;
}

void flow_prober_free(struct flow_prober *prober)
{
	flow_places_free(&prober->places);
	free(prober->pair);
	free(prober->sight);
}
