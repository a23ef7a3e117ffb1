/* SPDX-License-Identifier: Apache-2.0 */
#include "handler/sequence.h"

#include "agent/arch.h"
#include "base/syscall.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Of so many hits of a slot one is looked at: a few are no harm. A prime, since a thread may do
 * what a failed sequence was to do in another way that is hit as well: an even number of hits a
 * turn would show the sequence alone. */
#define EACH 17u
#define MOST 64u /* looks at one thread, all of which find a sequence begun anew */
#define THREADS 64u

/* By a hash of the thread's id. Accepted: of two threads that share one, a thread that is in no
 * sequence may keep what happens to the other from being noticed; and a thread that goes on another
 * way after each failed sequence, where nothing is watched, passes for one that never goes on. */
static _Atomic uint32_t in_a_row[THREADS];

/* The kernel has led the thread to where the sequence begins anew before it made the signal's
 * frame. In front of that address stands the word that the program has registered for this. */
static bool begins_anew(const ucontext_t *context)
{
	struct area_registers registers;
	uint32_t word = 0;

	agent_arch.registers(context, &registers);
	return raw_read_memory(&word, registers.pc - sizeof(word), sizeof(word)) == sizeof(word) &&
	       word == agent_arch.sequence_word;
}

void sequence_note(struct area_process *process, const struct area_slot *slot,
		   const ucontext_t *context)
{
	_Atomic uint32_t *count;

	if (atomic_load_explicit(&slot->hits, memory_order_relaxed) % EACH != 0 ||
	    atomic_load_explicit(&process->quiet, memory_order_relaxed))
		return;
	count = &in_a_row[(uint32_t)raw_gettid() % THREADS];
	if (!begins_anew(context))
		atomic_store_explicit(count, 0, memory_order_relaxed);
	else if (atomic_fetch_add_explicit(count, 1, memory_order_relaxed) + 1 >= MOST)
		atomic_store(&process->endless, 1);
}
