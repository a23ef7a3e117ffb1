/* SPDX-License-Identifier: Apache-2.0 */
#include "report/judge.h"

#include "race/facts.h"
#include "race/rules.h"
#include "symbol/compiler.h"
#include "tool/atomicity.h"

#include <string.h>

struct race {
	struct tl_access access[2];
	struct rule_side side[2];
	struct rule_meeting meeting;
	char reason[2][SYMBOL_REASON_MAX];
	bool kept; /* what it was judged by is in the finding */
	bool more; /* is known now than was then */
};

static unsigned operation(const struct finding_access *from)
{
	unsigned access = (from->atomic ? TL_ATOMIC : 0) | (from->kernel ? TL_KERNEL : 0);

	if (from->operation == FINDING_READ || from->operation == FINDING_READ_MODIFY_WRITE)
		access |= TL_READ;
	if (from->operation == FINDING_WRITE || from->operation == FINDING_READ_MODIFY_WRITE)
		access |= TL_WRITE;
	return access;
}

static void recall(struct race *race, const struct finding *finding)
{
	uint32_t facts[2];

	race->kept = true;
	for (int i = 0; i < 2; i++) {
		const struct finding_access *from = &finding->accesses[i];
		struct rule_side *side = &race->side[i];

		race->access[i] = (struct tl_access){.access = operation(from),
						     .address = from->address,
						     .length = from->size,
						     .value_known = from->after_known,
						     .value = from->after};
		side->access = &race->access[i];
		side->code.module = from->stack.frames[0].module;
		side->code.function = from->stack.frames[0].function;
		facts[i] = from->facts;
		race->kept &= facts_read(from->facts, &race->access[i], side);
	}
	facts_meeting(facts, &race->meeting);
}

/* Of one side, from what is at hand now. */
static void learn(struct symboliser *symboliser, struct race *race, int index,
		  const struct finding_frame *frame, const struct symbol_variable *variable)
{
	struct rule_side *side = &race->side[index];
	enum tl_atomicity told;
	uint64_t pc;
	struct symbol_modules *modules = symboliser_find(symboliser, frame, &pc);
	const char *producer = modules ? symbol_producer(modules, pc) : NULL;
	bool updates_tell = producer && symbol_producer_is_gcc(producer);

	if (!modules || race->access[index].access & TL_KERNEL)
		return;
	told = tool_atomicity(symbol_atomicity_judge(modules, pc, variable,
						     tool_kind_of_load(&race->access[index]),
						     race->reason[index]));
	if (told != TL_ATOMICITY_UNKNOWN) {
		race->more |= told != side->atomicity;
		side->atomicity = told;
		side->reason = race->reason[index];
	}
	if (producer && side->access->traits & TL_TRAIT_UPDATE) {
		race->more |= updates_tell != side->updates_tell;
		side->updates_tell = updates_tell;
	}
}

static void settle(struct finding *finding, const struct verdict *verdict)
{
	enum finding_class before = finding->certainty;
	enum finding_class now = (enum finding_class)verdict->certainty;

	if (now < before) {
		finding->evidence_count = 0;
		finding_add_evidence(finding,
				     finding_format(finding,
						    "%s when it was found; debug information "
						    "or sources that came later tell more",
						    finding_class_name(before)));
	}
	finding->certainty = now;
	finding->rank = verdict->rank;
	for (unsigned i = 0; i < verdict->evidence_count; i++)
		finding_add_evidence(finding, verdict->evidence[i]);
}

/* Both atomic: it would not have been told. It stays, as the last of what is possible. */
static void settle_atomic(struct finding *finding)
{
	struct verdict verdict = {.certainty = TL_POSSIBLE,
				  .rank = RULES_RANK_LAST,
				  .evidence = {"both accesses are atomic operations"},
				  .evidence_count = 1};

	settle(finding, &verdict);
}

/* The instructions themselves are not at hand here: without facts a class can rise no higher. */
static void settle_without_facts(struct finding *finding, const struct verdict *verdict)
{
	if (finding->certainty == FINDING_POSSIBLE && !verdict->hidden &&
	    verdict->certainty == TL_LIKELY)
		settle(finding, verdict);
}

void judge_again(struct symboliser *symboliser, struct finding *finding,
		 const struct symbol_variable *variable)
{
	struct race race = {.kept = false};
	struct verdict then, now;

	if (finding->access_count != 2 || strcmp(finding->kind, FINDING_DATA_RACE) != 0 ||
	    !finding->accesses[0].stack.count || !finding->accesses[1].stack.count)
		return;
	recall(&race, finding);
	rules_judge(&race.side[0], &race.side[1], &race.meeting, &then);
	for (int i = 0; i < 2; i++)
		learn(symboliser, &race, i, &finding->accesses[i].stack.frames[0], variable);
	if (!race.more)
		return;
	rules_judge(&race.side[0], &race.side[1], &race.meeting, &now);
	rules_rank(&race.side[0], &race.side[1], &now);
	/* A merged finding has the class of another pair than that whose facts it kept. */
	if (!race.kept || then.hidden || (enum finding_class)then.certainty != finding->certainty)
		settle_without_facts(finding, &now);
	else if (!now.hidden)
		settle(finding, &now);
	else if (strcmp(now.rule, "hidden-atomic") == 0)
		settle_atomic(finding);
}
