/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/asking.h"

#include "base/clock.h"

#define WINDOW (100 * MILLISECOND)
#define HITS 48u	/* of a watch: what comes by all the time costs no more */
#define ENOUGH 48u	/* answers to a question, after which others come first … */
#define TURNS_BEHIND 16 /* … so many turns */

int flow_asking_init(struct flow_asking *asking, const char *name)
{
	for (unsigned i = 0; i < FLOW_QUESTIONS; i++)
		asking->question[i].item = FLOW_NO_ITEM;
	return flow_expression_init(&asking->expression, asking->host, asking->services, name);
}

void flow_asking_finish(struct flow_asking *asking)
{
	flow_expression_finish(&asking->expression);
}

uint64_t flow_asking_arm(struct flow_asking *asking, pid_t pid, uint64_t address, uint64_t length,
			 unsigned access)
{
	struct tl_watch watch = {.size = sizeof(watch),
				 .pid = pid,
				 .address = address,
				 .length = access == TL_EXEC ? 1
							     : flow_piece_length(address, length),
				 .access = access,
				 .hits = HITS,
				 .window = WINDOW,
				 .cookie = ++asking->cookie};

	if (asking->services->arm(asking->host, &watch) == 0)
		return watch.cookie;
	asking->services->count(asking->host, "flow-not-armed", 1);
	return 0;
}

void flow_asking_stop(struct flow_asking *asking, struct flow_question *question)
{
	if (question->cookie)
		asking->services->disarm(asking->host, question->cookie);
	if (question->code_cookie)
		asking->services->disarm(asking->host, question->code_cookie);
	*question = (struct flow_question){.item = FLOW_NO_ITEM};
}

int flow_asking_find(const struct flow_asking *asking, const struct tl_access *access)
{
	for (int i = 0; i < FLOW_QUESTIONS && access->cookie; i++) {
		const struct flow_question *question = &asking->question[i];

		if (question->item != FLOW_NO_ITEM &&
		    (access->cookie == question->cookie || access->cookie == question->code_cookie))
			return i;
	}
	return -1;
}

static bool is_asked(const struct flow_asking *asking, uint32_t item)
{
	for (unsigned i = 0; i < FLOW_QUESTIONS; i++)
		if (asking->question[i].item == item)
			return true;
	return false;
}

static uint64_t turns(const struct flow_item *item)
{
	return item->visits + (item->confirmed >= ENOUGH ? TURNS_BEHIND : 0);
}

static uint32_t choose(const struct flow_asking *asking, struct flow_item *chosen)
{
	uint32_t best = FLOW_NO_ITEM;
	struct flow_item item;

	for (uint32_t i = 0; asking->asker->item(asking->state, i, &item); i++) {
		if (item.ended || is_asked(asking, i))
			continue;
		if (best == FLOW_NO_ITEM || turns(&item) < turns(chosen)) {
			best = i;
			*chosen = item;
		}
	}
	return best;
}

static unsigned slots_in_use(const struct flow_asking *asking)
{
	unsigned count = 0;

	for (unsigned i = 0; i < FLOW_QUESTIONS; i++)
		count += (asking->question[i].cookie != 0) + (asking->question[i].code_cookie != 0);
	return count;
}

/* False: no further question can be asked now. */
static bool ask_next(struct flow_asking *asking, unsigned question)
{
	struct flow_item item = {0};
	uint32_t index = choose(asking, &item);
	unsigned needed = item.sought ? 2 : 1;

	if (index == FLOW_NO_ITEM ||
	    slots_in_use(asking) + needed >
		    asking->services->slots(asking->host, asking->expression.pid) ||
	    !asking->asker->ask(asking->state, question, index))
		return false;
	asking->question[question].item = index;
	asking->question[question].deadline = clock_now() + 2 * WINDOW;
	return true;
}

void flow_asking_tick(struct flow_asking *asking)
{
	uint64_t now = clock_now();

	flow_expression_tick(&asking->expression, asking->asker->add, asking->state);
	for (unsigned i = 0; i < FLOW_QUESTIONS && asking->expression.pid > 0; i++) {
		struct flow_question *question = &asking->question[i];

		if (question->item != FLOW_NO_ITEM && now > question->deadline)
			flow_asking_stop(asking, question);
		if (question->item == FLOW_NO_ITEM && !ask_next(asking, i))
			return;
	}
}

void flow_asking_unwatched(struct flow_asking *asking, const struct tl_watch *watch)
{
	for (unsigned i = 0; i < FLOW_QUESTIONS; i++) {
		struct flow_question *question = &asking->question[i];

		if (question->item == FLOW_NO_ITEM)
			continue;
		if (question->cookie == watch->cookie)
			question->cookie = 0;
		else if (question->code_cookie == watch->cookie)
			question->code_cookie = 0;
		else
			continue;
		flow_asking_stop(asking, question);
	}
}

bool flow_asking_ended(struct flow_asking *asking, pid_t pid)
{
	if (!flow_expression_ended(&asking->expression, pid))
		return false;
	for (unsigned i = 0; i < FLOW_QUESTIONS; i++)
		flow_asking_stop(asking, &asking->question[i]);
	return true;
}
