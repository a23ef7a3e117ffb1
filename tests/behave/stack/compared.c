/* SPDX-License-Identifier: Apache-2.0 */
/* Correct programs that compare an address of a frame that is gone with one of a frame that is
 * there, at the same place: nothing may be reported. Only the second one is used. */
#include "cases.h"

struct request {
	long value[6];
};

static struct request *volatile current;
static struct request elsewhere;

APART static void fill(struct request *request)
{
	for (int i = 0; i < 6; i++)
		request->value[i] = (long)cases_sum + i;
}

APART static void keep(struct request *request)
{
	current = request;
}

APART static void finish_in_memory(struct request *request)
{
	if (current == request)
		request->value[2]++;
}

APART static void finish_by_branch(struct request *request)
{
	struct request *found = current;

	HIDE(found);
	if (__builtin_expect(found == request, 0))
		request->value[2]++;
	else
		work();
}

APART static void finish_by_choice(struct request *request)
{
	struct request *found = current, *other = &elsewhere;

	HIDE(found);
	HIDE(other);
	(found == request ? request : other)->value[2]++;
}

APART static void finish_by_what_was_found(struct request *request)
{
	struct request *found = current;

	HIDE(found);
	if (found == request)
		found->value[2]++;
}

/* `finish`: NULL: the address stays behind. */
APART static void in_a_frame(void (*finish)(struct request *))
{
	struct request request;

	fill(&request);
	if (finish)
		for (int i = 0; i < 20; i++)
			finish(&request);
	else
		keep(&request);
	work();
}

static void one_after_the_other(void (*finish)(struct request *))
{
	void (*volatile next)(struct request *) = finish;

	while (again()) {
		in_a_frame(NULL);
		in_a_frame(next);
		usleep(50);
	}
}

static void in_memory(void)
{
	one_after_the_other(finish_in_memory);
}

static void by_branch(void)
{
	one_after_the_other(finish_by_branch);
}

static void by_choice(void)
{
	one_after_the_other(finish_by_choice);
}

static void by_what_was_found(void)
{
	one_after_the_other(finish_by_what_was_found);
}

int main(int argc, char **argv)
{
	static const struct one_case cases[] = {{"compared_in_memory", in_memory},
						{"compared_by_branch", by_branch},
						{"compared_by_choice", by_choice},
						{"compared_found", by_what_was_found},
						{NULL, NULL}};

	return run_case(cases, argc, argv);
}
