/* SPDX-License-Identifier: Apache-2.0 */
#include "event/slots.h"

/* Smallest aligned power-of-two block around a run that lies within one aligned 8 bytes. */
static struct slot_piece enclosing_block(uintptr_t addr, unsigned length)
{
	unsigned size = 1;

	while ((addr & ~(uintptr_t)(size - 1)) + size < addr + length)
		size *= 2;
	return (struct slot_piece){addr & ~(uintptr_t)(size - 1), size};
}

/* Largest aligned block that begins at addr and does not pass the end. */
static unsigned leading_block(uintptr_t addr, unsigned length)
{
	unsigned size = 8;

	while (size > length || addr % size)
		size /= 2;
	return size;
}

static int plan_exact(uintptr_t addr, unsigned length, struct slot_piece *pieces)
{
	unsigned first = leading_block(addr, length);

	pieces[0] = (struct slot_piece){addr, first};
	if (first == length)
		return 1;
	if (leading_block(addr + first, length - first) != length - first)
		return 0;
	pieces[1] = (struct slot_piece){addr + first, length - first};
	return 2;
}

int slots_plan(uintptr_t addr, unsigned length, int fewest, struct slot_piece *pieces)
{
	unsigned until_boundary = 8 - (unsigned)(addr % 8);
	int exact = plan_exact(addr, length, pieces);

	if (exact && !(fewest && exact > 1))
		return exact;
	if (length <= until_boundary) {
		pieces[0] = enclosing_block(addr, length);
		return 1;
	}
	pieces[0] = enclosing_block(addr, until_boundary);
	pieces[1] = enclosing_block(addr + until_boundary, length - until_boundary);
	return 2;
}
