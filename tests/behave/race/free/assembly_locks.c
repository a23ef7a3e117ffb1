/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks of inline assembly that an update without LOCK gives back: a ticket lock's `incw`, `andl`
 * of a bit, `decb` and `subl` of a byte and a word that who waits tries to take all the time.
 * Without debug information these are the instructions that GCC makes of `x++`.
 */
#include "../harness.h"
#include <sched.h>

static struct {
	uint16_t next, served;
} ticket;
static uint32_t bit, word;
static uint8_t byte;
static unsigned long guarded[4];

static void wait_for_it(void)
{
	static __thread unsigned turns;

	__asm__ volatile("pause");
	if (++turns % 64 == 0)
		sched_yield();
}

static inline void take_ticket(void)
{
	uint16_t mine = 1, served;

	__asm__ volatile("lock xaddw %0, %1" : "+r"(mine), "+m"(ticket.next) : : "memory", "cc");
	for (;;) {
		__asm__ volatile("movw %1, %0" : "=r"(served) : "m"(ticket.served) : "memory");
		if (served == mine)
			break;
		wait_for_it();
	}
}

static inline void give_ticket(void)
{
	__asm__ volatile("incw %0" : "+m"(ticket.served) : : "memory", "cc");
}

static inline void take_bit(void)
{
	unsigned char was;

	for (;;) {
		__asm__ volatile("lock btsl $0, %1\n\tsetc %0"
				 : "=q"(was), "+m"(bit)
				 :
				 : "memory", "cc");
		if (!was)
			break;
		wait_for_it();
	}
}

static inline void give_bit(void)
{
	__asm__ volatile("andl $~1, %0" : "+m"(bit) : : "memory", "cc");
}

static inline void take_byte(void)
{
	uint8_t was;

	for (;;) {
		was = 1;
		__asm__ volatile("xchgb %0, %1" : "+q"(was), "+m"(byte) : : "memory");
		if (!was)
			break;
		wait_for_it();
	}
}

static inline void give_byte(void)
{
	__asm__ volatile("decb %0" : "+m"(byte) : : "memory", "cc");
}

static inline void take_word(void)
{
	uint32_t was;

	for (;;) {
		was = 0;
		__asm__ volatile("lock cmpxchgl %2, %1"
				 : "+a"(was), "+m"(word)
				 : "r"(1)
				 : "memory", "cc");
		if (!was)
			break;
		wait_for_it();
	}
}

static inline void give_word(void)
{
	__asm__ volatile("subl $1, %0" : "+m"(word) : : "memory", "cc");
}

static void *worker(void *arg)
{
	(void)arg;
	while (running()) {
		take_ticket();
		guarded[0]++;
		work(20);
		give_ticket();
		take_bit();
		guarded[1]++;
		work(20);
		give_bit();
		take_byte();
		guarded[2]++;
		work(20);
		give_byte();
		take_word();
		guarded[3]++;
		work(20);
		give_word();
		pace_hot();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(worker, harness_threads);
	harness_finish();
	return guarded[0] != guarded[1] || guarded[0] != guarded[2] || guarded[0] != guarded[3];
}
