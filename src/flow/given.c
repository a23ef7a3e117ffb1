/* SPDX-License-Identifier: Apache-2.0 */
/* Is what is stored the value that was read? Where it passes unchanged its bytes tell. */
#include "flow/from.h"

bool flow_from_read(const struct flow_value *value, const struct tl_access *access, uint64_t *bytes)
{
	return !(access->access & TL_WRITE) &&
	       flow_bytes_at(access, value->address, value->length, bytes) >= value->length;
}

bool flow_from_is_left_there(const struct flow_value *place, uint64_t bytes, uint64_t length,
			     const struct tl_access *access)
{
	uint64_t read;

	return !length || !flow_from_read(place, access, &read) ||
	       !((read ^ bytes) << (64 - 8 * length));
}

void flow_from_doubt(const struct flow_value *value, struct flow_told *told,
		     const struct tl_access *access)
{
	bool tied = told->goal != FLOW_NONE;
	struct flow_store *last = tied ? &told->passage.last : &told->last;

	if (last->known && last->bytes_known &&
	    !flow_from_is_left_there(value, last->bytes, value->length, access))
		last->known = false;
}

/* Does the value that was read, and it alone, have to tell that it is the one that is stored? */
static bool is_by_value(const struct flow_from *from, const struct flow_value *value,
			const struct flow_told *told)
{
	return value->chosen ||
	       (!value->computed && !told->code && !from->tree->writer[value->writer].fixed);
}

/* Of one of several it must be the very value. What is stored as it was read is so where both are
 * known. Where that tells nothing, what was read is forgotten: it need not have gone elsewhere. */
bool flow_from_is_given(const struct flow_from *from, struct flow_value *value,
			struct flow_told *told, const struct tl_access *access)
{
	const struct flow_writer *writer = &from->tree->writer[value->writer];
	const struct flow_value *next = &from->tree->value[writer->value];
	bool known;
	uint64_t given = 0, length = flow_bytes_at(access, next->address, next->length, &given);

	if (access->pc != writer->pc)
		return false;
	if (!value->chosen && value->computed)
		return true;
	if (length > value->length)
		length = value->length;
	known = length && told->read_known;
	if (known && (given ^ told->read) << (64 - 8 * length))
		return false;
	if (!is_by_value(from, value, told) || (known && flow_is_telling(given, length)))
		return true;
	value->common = true;
	flow_passage_forget(&told->passage);
	return false;
}
