/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/perf_record.h"

bool perf_record_next(const struct ring *ring, struct perf_event_header *header)
{
	if (ring->tail + sizeof(*header) > ring->head)
		return false;
	ring_copy(ring, ring->tail, header, sizeof(*header));
	return header->size >= sizeof(*header);
}

bool perf_record_copy(const struct ring *ring, const struct perf_event_header *header, void *to,
		      size_t length)
{
	if (header->size < length)
		return false;
	ring_copy(ring, ring->tail, to, length);
	return true;
}

void perf_record_skip(struct ring *ring, const struct perf_event_header *header)
{
	ring->tail += header->size;
}
