/* SPDX-License-Identifier: Apache-2.0 */
#include "traffic/places.h"

#include <stdlib.h>
#include <string.h>

#define CHAINS (sizeof(((struct flow_places *)0)->chain) / sizeof(uint32_t))

void flow_places_init(struct flow_places *places, struct tl_host *host,
		      const struct tl_services *services)
{
	memset(places, 0, sizeof(*places));
	places->host = host;
	places->services = services;
	memset(places->chain, 0xff, sizeof(places->chain));
}

static bool is_same_file(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool grow(struct flow_places *places)
{
	uint32_t capacity = places->capacity ? 2 * places->capacity : 256;
	struct flow_place *place;

	if (places->count < places->capacity)
		return true;
	if (capacity > FLOW_PLACES)
		return false;
	place = realloc(places->place, capacity * sizeof(*place));
	if (!place)
		return false;
	places->place = place;
	places->capacity = capacity;
	return true;
}

uint32_t flow_place_find(struct flow_places *places, pid_t pid, uint64_t pc)
{
	uint32_t *chain = &places->chain[(pc ^ pc >> 12) % CHAINS];
	const char *module = places->services->module(places->host, pid, pc);

	for (uint32_t i = *chain; i != FLOW_NOWHERE; i = places->place[i].next) {
		struct flow_place *place = &places->place[i];

		if (place->pc != pc || !is_same_file(place->module, module))
			continue;
		if (!place->pid)
			place->pid = pid;
		return i;
	}
	if (!grow(places)) {
		places->refused++;
		places->services->count(places->host, "flow-places-refused", 1);
		return FLOW_NOWHERE;
	}
	places->place[places->count] = (struct flow_place){.pid = pid,
							   .pc = pc,
							   .module = module,
							   .next = *chain,
							   .own = flow_is_own_module(module)};
	*chain = places->count;
	return places->count++;
}

void flow_place_example(struct flow_places *places, uint32_t index, const struct tl_access *access)
{
	struct flow_place *place = &places->place[index];
	struct tl_frame_place frames[FLOW_STACK];
	int count;

	if (place->frames || !access->stack)
		return;
	count = places->services->unwind(places->host, access, frames, FLOW_STACK);
	for (int i = 0; i < count; i++)
		place->stack[i] = i ? frames[i].pc : access->pc;
	place->frames = count > 0 ? (unsigned)count : 0;
	place->tid = access->tid;
}

/* Another living process with the same code there, or 0. */
static pid_t other_home(const struct flow_places *places, const struct flow_place *place, pid_t but,
			const pid_t *living, size_t count)
{
	for (size_t i = 0; i < count && place->module; i++)
		if (living[i] != but &&
		    is_same_file(place->module,
				 places->services->module(places->host, living[i], place->pc)))
			return living[i];
	return 0;
}

uint32_t flow_places_leave(struct flow_places *places, pid_t pid, const pid_t *living, size_t count)
{
	uint32_t leaving = 0;

	for (uint32_t i = 0; i < places->count; i++) {
		struct flow_place *place = &places->place[i];
		pid_t home;

		if (place->pid != pid)
			continue;
		home = other_home(places, place, pid, living, count);
		place->leaving = !home;
		leaving += !home;
		if (home)
			place->pid = home;
	}
	return leaving;
}

void flow_places_forget(struct flow_places *places)
{
	for (uint32_t i = 0; i < places->count; i++) {
		struct flow_place *place = &places->place[i];

		if (place->leaving)
			place->pid = 0;
		place->leaving = false;
	}
}

void flow_places_free(struct flow_places *places)
{
	free(places->place);
}
