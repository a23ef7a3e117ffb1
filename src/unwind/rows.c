/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/rows.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#define ROWS 2048u	  /* a power of two */
#define HEADER 17u	  /* bytes in front of an entry's program that say which code it covers */
#define ENTRY_MOST 65535u /* bytes of an entry, by which it is told from another … */
#define ENTRY_SUMMED 192u /* … as far as so many of them, and their number, do */
#define RETURN (ROWS_REGISTERS - 1u) /* the return address among `order` */

static const uint8_t order[] = {UNWIND_ROW_ORDER};

_Static_assert(sizeof(order) == ROWS_REGISTERS, "those of struct known_row");

/*
 * `version` is odd while a thread writes; a reader that sees it odd or changed does without, so a
 * signal handler may stand between. What was remembered counts only while the entry's bytes are
 * what they were: another object may have been loaded in the place of one that is gone.
 */
static struct slot {
	_Atomic uint64_t version;
	_Atomic uint64_t place;
	_Atomic uint64_t entry; /* address, and the length in the upper 16 bits */
	_Atomic uint64_t sum;	/* of the entry's bytes */
	_Atomic uint64_t word[3];
} slots[ROWS];

_Static_assert(sizeof(struct known_row) <= 3 * sizeof(uint64_t), "a row fits its words");
_Static_assert(ROWS == 1u << (64 - 53), "slot_of() takes the hash's upper eleven bits");

static struct slot *slot_of(uint64_t place)
{
	return &slots[place * 0x9e3779b97f4a7c15u >> 53];
}

static uint64_t get(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static void set(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_relaxed);
}

static uint64_t sum_of(const uint8_t *bytes, size_t length)
{
	uint64_t sum = length, word;

	if (length > ENTRY_SUMMED)
		length = ENTRY_SUMMED;
	for (; length >= sizeof(word); bytes += sizeof(word), length -= sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		sum = (sum ^ word) * 0xd6e8feb86659fd93u;
		sum ^= sum >> 32;
	}
	word = 0;
	memcpy(&word, bytes, length);
	sum = (sum ^ word) * 0xd6e8feb86659fd93u;
	return sum ^ sum >> 32;
}

static bool is_inside(const struct bytes *section, uint64_t address, size_t length)
{
	return address >= section->address && length <= section->length &&
	       address - section->address <= section->length - length;
}

bool rows_recall(uint64_t place, const struct object *object, struct known_row *row)
{
	struct slot *slot = slot_of(place);
	uint64_t version = atomic_load_explicit(&slot->version, memory_order_acquire);
	uint64_t known = get(&slot->place), entry = get(&slot->entry), sum = get(&slot->sum);
	uint64_t address = entry & 0xffffffffffffu, word[3];
	size_t length = entry >> 48;

	for (unsigned i = 0; i < 3; i++)
		word[i] = get(&slot->word[i]);
	/* Pairs with the release fence in rows_remember(): words of a later version show its mark.
	 */
	atomic_thread_fence(memory_order_acquire);
	if (version & 1 || get(&slot->version) != version || known != place || !length ||
	    !is_inside(&object->section, address, length) ||
	    sum_of(object->section.start + (address - object->section.address), length) != sum)
		return false;
	memcpy(row, word, sizeof(*row));
	return true;
}

/* False: it says something that is not kept. */
static bool shorten(const struct cfi_entry *entry, const struct cfi_row *row,
		    struct known_row *known)
{
	unsigned saved = 0;

	if (entry->signal_frame || entry->return_register != order[RETURN] ||
	    row->frame_register >= UNWIND_REGISTER_COUNT)
		return false;
	*known = (struct known_row){.frame_register = row->frame_register,
				    .frame_operand = row->frame_operand};
	for (unsigned i = 0; i < ROWS_REGISTERS; i++) {
		unsigned number = order[i];

		if (row->rule[number] == CFI_UNSPECIFIED || row->rule[number] == CFI_SAME)
			continue;
		if (row->rule[number] != CFI_OFFSET ||
		    row->operand[number] != (int16_t)row->operand[number])
			return false;
		known->saved |= (uint8_t)(1u << i);
		known->offset[i] = (int16_t)row->operand[number];
		saved++;
	}
	for (unsigned i = 0; i < UNWIND_REGISTER_COUNT; i++)
		saved -= row->rule[i] == CFI_OFFSET;
	/* Nothing is said of other registers. */
	for (unsigned i = 0; i < UNWIND_REGISTER_COUNT; i++)
		if (row->rule[i] > CFI_SAME && row->rule[i] != CFI_OFFSET)
			return false;
	return !saved && known->saved >> RETURN & 1;
}

void rows_remember(uint64_t place, const struct object *object, const struct cfi_entry *entry,
		   const struct cfi_row *row)
{
	struct slot *slot = slot_of(place);
	uint64_t version = get(&slot->version), word[3] = {0};
	size_t first = entry->program.first, length = entry->program.end - first + HEADER;
	struct known_row known;

	if (first < HEADER || length > ENTRY_MOST || length < HEADER ||
	    !shorten(entry, row, &known))
		return;
	first -= HEADER;
	/* Another writer, perhaps the very thread that this one has interrupted. */
	if (version & 1 || !is_inside(&object->section, object->section.address + first, length) ||
	    !atomic_compare_exchange_strong_explicit(&slot->version, &version, version + 1,
						     memory_order_acquire, memory_order_relaxed))
		return;
	atomic_thread_fence(memory_order_release);
	memcpy(word, &known, sizeof(known));
	set(&slot->place, place);
	set(&slot->entry, (object->section.address + first) | (uint64_t)length << 48);
	set(&slot->sum, sum_of(object->section.start + first, length));
	for (unsigned i = 0; i < 3; i++)
		set(&slot->word[i], word[i]);
	atomic_store_explicit(&slot->version, version + 2, memory_order_release);
}

/* The frame is found by a register that a callee has saved, or that the walk began with. */
static void note_frame_register(uint8_t number, struct memory *memory,
				const struct unwind_registers *registers,
				const uint64_t saved_at[static ROWS_REGISTERS])
{
	for (unsigned i = 0; i < RETURN; i++) {
		if (order[i] != number)
			continue;
		if (saved_at[i])
			memory_add_to_trail(memory, saved_at[i], registers->value[number]);
		else if (number == UNWIND_FP && memory->trail)
			memory->trail->by_frame_pointer = true;
		else
			memory_leave_trail(memory);
	}
}

int rows_apply(const struct known_row *row, struct memory *memory,
	       struct unwind_registers *registers, uint64_t saved_at[static ROWS_REGISTERS])
{
	struct unwind_registers caller;
	uint64_t frame;

	if (!(registers->known >> row->frame_register & 1))
		return -EINVAL;
	frame = registers->value[row->frame_register] + (uint64_t)(int64_t)row->frame_operand;
	note_frame_register(row->frame_register, memory, registers, saved_at);
	caller.known = registers->known;
	memset(caller.value, 0, sizeof(caller.value));
	for (unsigned i = ROWS_REGISTERS; i-- > 0;) {
		unsigned number = order[i];
		uint64_t at = frame + (uint64_t)(int64_t)row->offset[i];

		caller.value[number] = registers->value[number];
		if (!(row->saved >> i & 1))
			continue;
		caller.known |= 1u << number;
		saved_at[i] = at;
		if (!memory_read(memory, at, &caller.value[number], sizeof(caller.value[number]))) {
			if (i == RETURN)
				memory_add_to_trail(memory, at, caller.value[number]);
			continue;
		}
		if (i == RETURN)
			return -EFAULT;
		caller.known &= ~(1u << number);
	}
	caller.value[UNWIND_SP] = frame;
	caller.value[UNWIND_PC] = caller.value[order[RETURN]];
	caller.known |= 1u << UNWIND_SP;
	caller.known |= 1u << UNWIND_PC;
	caller.known &= unwind_arch.kept | 1u << UNWIND_SP | 1u << UNWIND_PC;
	caller.interrupted = 0;
	*registers = caller;
	return 0;
}
