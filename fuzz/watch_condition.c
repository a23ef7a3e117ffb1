/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions, as typed after 8 bytes of values: what is read can be evaluated, and an error is
 * said. And the same bytes as steps, which a program may have scribbled over: they must end.
 */
#include "watch/condition.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void evaluate_bytes(const uint8_t *data, size_t size, const struct condition_values *values)
{
	struct condition condition;

	memset(&condition, 0, sizeof(condition));
	memcpy(&condition, data, size < sizeof(condition) ? size : sizeof(condition));
	condition_holds(&condition, values);
	/* Small operations are the interesting ones. */
	for (unsigned i = 0; i < CONDITION_STEPS; i++)
		condition.step[i].operation %= CONDITION_OPERATIONS + 1;
	condition.count %= CONDITION_STEPS + 1;
	condition_holds(&condition, values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct condition_values values = {.is_signed = true, .new_known = true};
	struct condition condition;
	const char *reason = NULL;
	char *text;

	if (size < 8)
		return 0;
	memcpy(&values.new_value, data, 8);
	values.old_value = ~values.new_value;
	values.old_known = data[0] & 1;
	data += 8;
	size -= 8;
	text = malloc(size + 1);
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	if (condition_parse(text, &condition, &reason) == 0)
		condition_holds(&condition, &values);
	else if (!reason || condition.count)
		abort();
	free(text);
	evaluate_bytes(data, size, &values);
	return 0;
}
