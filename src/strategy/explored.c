/* SPDX-License-Identifier: Apache-2.0 */
#include "strategy/explored.h"

#include "aim/aim.h"
#include "answer/answers.h"
#include "choice/choices.h"
#include "team/team.h"
#include "usage/usage.h"

#include <errno.h>
#include <stdlib.h>

/* All of it in one block of memory; aim and team allocate theirs when there is something to aim at,
 * or a team. */
struct whole {
	struct explored explored;
	struct usage usage;
	struct choices choices;
	struct answers answers;
	struct turns turns;
};

_Static_assert(offsetof(struct whole, explored) == 0, "explored_close() frees all of it");

int explored_open(struct target *target)
{
	struct whole *whole = calloc(1, sizeof(*whole));

	if (!whole)
		return -ENOMEM;
	whole->explored.usage = &whole->usage;
	whole->explored.choices = &whole->choices;
	whole->explored.answers = &whole->answers;
	whole->explored.turns = &whole->turns;
	target->explored = &whole->explored;
	return 0;
}

void explored_close(struct target *target)
{
	if (!target->explored)
		return;
	aim_end(target);
	team_end(target);
	free(target->explored);
}

void explored_prepare(const struct target *target)
{
	if (!target->program->welcomed)
		space_prepare(target->space);
}
