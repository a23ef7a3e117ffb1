/* SPDX-License-Identifier: Apache-2.0 */
#include "region/decode.h"

#include <string.h>

#define PLACES 256 /* 60 KiB in all */

/* `version` is odd while the entry is being written; a reader whose version has moved meanwhile has
 * read nothing of use. Pairs within this file: look_up() with remember(). */
struct place {
	uint32_t version;
	uint64_t pc;
	uint8_t bytes[INSN_MAX_LENGTH + 1];
	struct insn insn;
};

static struct place places[PLACES];

static struct place *place_of(uint64_t pc)
{
	return &places[(pc ^ pc >> 8) % PLACES];
}

static bool look_up(struct place *place, const uint8_t *bytes, size_t available, uint64_t pc,
		    struct insn *insn)
{
	uint32_t version = __atomic_load_n(&place->version, __ATOMIC_ACQUIRE);

	if (version & 1 || place->pc != pc || !place->insn.length ||
	    place->insn.length > available || memcmp(place->bytes, bytes, place->insn.length) != 0)
		return false;
	*insn = place->insn;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&place->version, __ATOMIC_RELAXED) == version;
}

/* Another thread that is writing the entry goes first; we need not be remembered. */
static void remember(struct place *place, const uint8_t *bytes, uint64_t pc,
		     const struct insn *insn)
{
	uint32_t version = __atomic_load_n(&place->version, __ATOMIC_RELAXED);

	if (version & 1 || !__atomic_compare_exchange_n(&place->version, &version, version + 1,
							false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	place->pc = pc;
	memcpy(place->bytes, bytes, insn->length);
	place->insn = *insn;
	__atomic_store_n(&place->version, version + 2, __ATOMIC_RELEASE);
}

int region_decode(const uint8_t *bytes, size_t available, uint64_t pc, struct insn *insn)
{
	struct place *place = place_of(pc);
	int err;

	if (look_up(place, bytes, available, pc, insn))
		return 0;
	err = insn_decode(bytes, available, pc, insn);
	if (!err)
		remember(place, bytes, pc, insn);
	return err;
}
