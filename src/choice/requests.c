/* SPDX-License-Identifier: Apache-2.0 */
#include "choice/requests.h"

#include "hold/hold.h"

#include <errno.h>

#define DEFAULT_WINDOW (100 * MILLISECOND)
#define DEFAULT_HITS 16
#define WIDEN_HITS 8	    /* of a watch that is widened for each writer … */
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

static bool waits_already(const struct explorer *explorer, const struct tl_watch *watch)
{
	for (unsigned i = 0; i < explorer->requests; i++)
		if (explorer->request[i].watch.address == watch->address &&
		    explorer->request[i].watch.pid == watch->pid)
			return true;
	return false;
}

int request_add(struct explorer *explorer, const struct tl_watch *watch)
{
	struct request *request = &explorer->request[explorer->requests];
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
	if (waits_already(explorer, watch))
		return -EALREADY;
	if (explorer->requests == REQUESTS_MAX) {
		for (unsigned i = 1; i < REQUESTS_MAX; i++)
			if (explorer->request[i].watch.priority <
			    explorer->request[lowest].watch.priority)
				lowest = i;
		count_one(explorer->program, COUNT_REQUESTS_REFUSED);
		if (explorer->request[lowest].watch.priority >= watch->priority)
			return -EBUSY;
		request = &explorer->request[lowest];
	} else {
		explorer->requests++;
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

static void drop(struct explorer *explorer, unsigned index)
{
	explorer->request[index] = explorer->request[--explorer->requests];
}

void requests_expire(struct explorer *explorer, uint64_t now)
{
	for (unsigned i = 0; i < explorer->requests;) {
		if (now - explorer->request[i].time > REQUEST_AGE) {
			count_one(explorer->program, COUNT_REQUESTS_EXPIRED);
			drop(explorer, i);
		} else {
			i++;
		}
	}
}

static int choose(struct explorer *explorer, struct target *target)
{
	int best = -1;
	unsigned equals = 0;

	for (unsigned i = 0; i < explorer->requests; i++) {
		const struct tl_watch *watch = &explorer->request[i].watch;

		if (watch->pid != target->pid || slot_watching(target, watch->address))
			continue;
		if (best < 0 || watch->priority > explorer->request[best].watch.priority) {
			best = (int)i;
			equals = 1;
		} else if (watch->priority == explorer->request[best].watch.priority &&
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
	int chosen = choose(explorer, target);

	if (chosen < 0)
		return false;
	*watch = explorer->request[chosen].watch;
	drop(explorer, (unsigned)chosen);
	return true;
}
