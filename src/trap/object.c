/* SPDX-License-Identifier: Apache-2.0 */
#include "trap/object.h"

#include <string.h>

struct tl_event object_table[OBJECT_MAX];

static unsigned table_used;
static struct owner_lock table_lock;

/* 14 bits of magic, 12 of index, 1 of piece, 14 of root, 23 of generation. The magic tells our
 * events from the program's and from another copy of this library: the table's address differs. */
#define GENERATION_MASK 0x7fffffu

static uint64_t magic(void)
{
	return ((uintptr_t)object_table >> 12 ^ 0x2b5au) & 0x3fff;
}

uint64_t object_encode_tag(struct object_tag tag)
{
	return magic() << 50 | (uint64_t)tag.index << 38 | (uint64_t)tag.piece << 37 |
	       (uint64_t)tag.root << 23 | (tag.generation & GENERATION_MASK);
}

bool object_decode_tag(uint64_t data, struct object_tag *tag)
{
	if (data >> 50 != magic())
		return false;
	tag->index = data >> 38 & 0xfff;
	tag->piece = data >> 37 & 1;
	tag->root = data >> 23 & 0x3fff;
	tag->generation = data & GENERATION_MASK;
	return true;
}

_Static_assert(OBJECT_MAX == 1 << 12, "the index has 12 bits");
_Static_assert(OBJECT_MAX_THREADS == (1 << 14) - 1, "the root has 14 bits");

unsigned object_used(void)
{
	return __atomic_load_n(&table_used, __ATOMIC_ACQUIRE);
}

struct tl_event *object_allocate(void)
{
	uint64_t mask = owner_lock(&table_lock);
	struct tl_event *event = NULL;

	for (unsigned i = 0; i < OBJECT_MAX; i++) {
		if (object_table[i].fn)
			continue;
		event = &object_table[i];
		/* Marks the entry as taken until the caller sets the callback. */
		event->fn = (tl_hit_fn *)1;
		if (i >= __atomic_load_n(&table_used, __ATOMIC_ACQUIRE))
			__atomic_store_n(&table_used, i + 1, __ATOMIC_RELEASE);
		break;
	}
	owner_unlock(&table_lock, mask);
	return event;
}

void object_release(struct tl_event *event)
{
	thread_set_destroy(&event->threads);
	__atomic_store_n(&event->fn, NULL, __ATOMIC_RELEASE);
}

bool object_covers_thread(const struct tl_event *event, pid_t tid)
{
	switch (event->scope) {
	case TL_THREAD:
		return event->thread == tid;
	case TL_THREADS:
		return thread_set_contains(&event->threads, tid);
	default:
		return true;
	}
}

bool object_survives_fork(const struct tl_event *event)
{
	return event->scope == TL_TREE;
}
