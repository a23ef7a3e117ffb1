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

size_t perf_record_stack(const struct ring *ring, const struct perf_event_header *header,
			 size_t offset, uint64_t size, void *to, size_t most)
{
	uint64_t at = ring->tail + offset, real = 0;

	if (!size || size > most || offset + size + sizeof(real) > header->size)
		return 0;
	ring_copy(ring, at, to, size);
	ring_copy(ring, at + size, &real, sizeof(real));
	return real < size ? real : size;
}

void perf_record_skip(struct ring *ring, const struct perf_event_header *header)
{
	ring->tail += header->size;
}
