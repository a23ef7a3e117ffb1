/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What armed slots cost at each switch of a program's threads, bounded by the program's own CPU
 * time between switches. The price of a switch is measured on a thread of our own, which sleeps and
 * wakes. Where two threads of a process hand one CPU to each other, a million times a second, the
 * kernel exchanges their events without touching the registers, and a switch costs nearly nothing:
 * at the full price more than all of the CPU's time would be charged.
 *
 * So the CPU time that passes from one switch to the next is compared: while slots are armed, and
 * while none is. It varies with what the program does, so that only a price is judged by it that
 * would stand out.
 */
#ifndef COST_BOUND_H
#define COST_BOUND_H

#include <stdbool.h>
#include <stdint.h>

struct bound {
	double with, without; /* ns of CPU time from one switch to the next; 0: not known */
	double armed;	      /* switches while armed, since the last look */
	double guessed;	      /* switches charged before both times were known … */
	double charged;	      /* … and what was charged for them, ns in all */
};

/* Takes in what has passed since the last look: the program's switches and its CPU time. */
void bound_look(struct bound *bound, double switches, uint64_t cpu_time);
/* The price of a switch, ns: `price`, or less where the program's own CPU time shows that a
 * switch cannot cost as much. */
double bound_price(const struct bound *bound, double price);
/* What `switches` cost that were made while slots were armed, ns. It is negative where more had
 * been charged by a guess, which is given back. */
double bound_charge(struct bound *bound, double switches, double price);

#endif
