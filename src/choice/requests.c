/* SPDX-License-Identifier: Apache-2.0 */
#include "choice/requests.h"

#include "hold/hold.h"

#include <errno.h>

#define DEFAULT_WINDOW (100 * MILLISECOND)
#define DEFAULT_HITS 16
#define WIDEN_HITS 8	    /* hits of a watch that is widened at each writer … */
#define HOLD_WRITER 400000u /* ns: readers must have time to come, and the controller to widen */
#define HOLD_ACCESS 150000u

void request_fill(struct tl_watch *watch)
{
	if (!watch->hits)
		watch->hits = watch->widen ? WIDEN_HITS : DEFAULT_HITS;
	if (watch->hits > SLOT_HITS_MAX)
		watch->hits = SLOT_HITS_MAX;
	if (!watch->window)
		watch->window = DEFAULT_WINDOW;
	if (!watch->hold)
		watch->hold = watch->widen || (watch->access & TL_EXEC) ? HOLD_WRITER : HOLD_ACCESS;
}

static bool waits_already(const struct requests *requests, const struct tl_watch *watch)
{
	for (unsigned i = 0; i < requests->count; i++)
		if (requests->request[i].watch.address == watch->address &&
		    requests->request[i].watch.pid == watch->pid)
			return true;
	return false;
}

int request_add(struct explorer *explorer, const struct tl_watch *watch)
{
	struct requests *requests = explorer->requests;
	struct request *request = &requests->request[requests->count];
	struct target *target;
	unsigned lowest = 0;

	if ((watch->length & (watch->length - 1)) || watch->length > 8 || !watch->length ||
	    watch->address % watch->length || !watch->access)
		return -EINVAL;
	count_one(explorer->program, COUNT_REQUESTS);
	if (heuristic_is_off(explorer->program->options.without, HEURISTIC_SAMPLE))
		return -EBUSY;
	target = target_find(explorer->program, watch->pid);
	if (target && cooldown_forbids(target, watch)) {
		count_one(explorer->program, COUNT_REQUESTS_DEAR);
		return -EBUSY;
	}
	if (waits_already(requests, watch))
		return -EALREADY;
	if (requests->count == REQUESTS_MAX) {
		for (unsigned i = 1; i < REQUESTS_MAX; i++)
			if (requests->request[i].watch.priority <
			    requests->request[lowest].watch.priority)
				lowest = i;
		count_one(explorer->program, COUNT_REQUESTS_REFUSED);
		if (requests->request[lowest].watch.priority >= watch->priority)
			return -EBUSY;
		request = &requests->request[lowest];
	} else {
		requests->count++;
	}
	request->watch = *watch;
	request->time = clock_now();
	if (request->watch.widen &&
	    heuristic_is_off(explorer->program->options.without, HEURISTIC_WIDENING)) {
		request->watch.widen = false;
		request->watch.access = TL_READ | TL_WRITE;
	}
	request_fill(&request->watch);
	return 0;
}

static void drop(struct requests *requests, unsigned index)
{
	requests->request[index] = requests->request[--requests->count];
}

void requests_expire(struct explorer *explorer, uint64_t now)
{
	struct requests *requests = explorer->requests;

	for (unsigned i = 0; i < requests->count;) {
		if (now - requests->request[i].time > REQUEST_AGE) {
			count_one(explorer->program, COUNT_REQUESTS_EXPIRED);
			drop(requests, i);
		} else {
			i++;
		}
	}
}

static int choose(struct explorer *explorer, struct target *target)
{
	const struct requests *requests = explorer->requests;
	int best = -1;
	unsigned equals = 0;

	for (unsigned i = 0; i < requests->count; i++) {
		const struct tl_watch *watch = &requests->request[i].watch;

		if (watch->pid != target->pid || slot_watching(target, watch->address))
			continue;
		if (best < 0 || watch->priority > requests->request[best].watch.priority) {
			best = (int)i;
			equals = 1;
		} else if (watch->priority == requests->request[best].watch.priority &&
			   random_next(&explorer->program->random) % ++equals == 0) {
			best = (int)i;
		}
	}
	return best;
}

bool request_waits(struct explorer *explorer, struct target *target)
{
	return choose(explorer, target) >= 0;
}

bool request_take(struct explorer *explorer, struct target *target, struct tl_watch *watch)
{
	struct requests *requests = explorer->requests;
	int chosen = choose(explorer, target);

	if (chosen < 0)
		return false;
	*watch = requests->request[chosen].watch;
	drop(requests, (unsigned)chosen);
	return true;
}
