/* SPDX-License-Identifier: Apache-2.0 */
#include "execution/image.h"

#include "agent/state.h"

#include <stdatomic.h>
#include <stdint.h>

#define KIND_BITS 3u

_Static_assert(IMAGE_CLOSED <= KIND_BITS, "a kind fits beside the key");

/* splitmix64's. Two files of one key are as likely as 62 equal bits; a program that looks for them
 * deceives nobody but itself. */
static uint64_t mix(uint64_t key, uint64_t more)
{
	key = (key ^ more) + 0x9e3779b97f4a7c15ull;
	key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9ull;
	key = (key ^ key >> 27) * 0x94d049bb133111ebull;
	return key ^ key >> 31;
}

static uint64_t key_of(const struct stat *status)
{
	uint64_t key = mix(mix(0, status->st_dev), status->st_ino);

	key = mix(mix(key, (uint64_t)status->st_size), status->st_mode);
	key = mix(mix(key, (uint64_t)status->st_ctim.tv_sec), (uint64_t)status->st_ctim.tv_nsec);
	return key & ~(uint64_t)KIND_BITS;
}

static _Atomic uint64_t *place_of(uint64_t key)
{
	return &agent_state.area->image[key >> 32 & (AREA_IMAGES - 1)];
}

enum image_kind image_recall(const struct stat *status)
{
	uint64_t key = key_of(status), word;

	if (!agent_state.area)
		return IMAGE_UNKNOWN;
	word = atomic_load_explicit(place_of(key), memory_order_relaxed);
	return (word & ~(uint64_t)KIND_BITS) == key ? (enum image_kind)(word & KIND_BITS)
						    : IMAGE_UNKNOWN;
}

void image_note(const struct stat *status, enum image_kind kind)
{
	uint64_t key = key_of(status);

	if (agent_state.area && !(status->st_mode & (S_ISUID | S_ISGID)))
		atomic_store_explicit(place_of(key), key | kind, memory_order_relaxed);
}
