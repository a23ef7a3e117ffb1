/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places that values pass through on their way to several others, forwards: what comes from `made`
 * goes on to `result`, what comes from `decoy` goes the same way as far as a place that both are
 * stored to by the same code, and from there to `elsewhere`. Nothing that reads a decoy may be told
 * of `made`. tests/behave/flow/roads.py says which functions are on which road.
 *
 * usage: onward CASE SECONDS
 */
#include "kinds.h"
#include "table.h"

static uint64_t elsewhere;

/* a table that one function fills, for others to look things up */
static APART void fill_slots(void)
{
	for (uint64_t key = 1; key < 8; key++)
		put(key * 64 + 3, key == 5 ? made : decoy);
}

static APART uint64_t find(uint64_t key)
{
	size_t i = key * 7 % 64;

	while (slots[i].key && slots[i].key != key)
		i = (i + 1) % 64;
	return i;
}

static APART void finish_slot(void)
{
	result = slots[find(5 * 64 + 3)].value + 1;
}

static APART void finish_other_slot(void)
{
	for (uint64_t key = 1; key < 5; key++)
		elsewhere += slots[find(key * 64 + 3)].value;
}

static void through_slots(void)
{
	fill_slots();
	finish_slot();
	finish_other_slot();
}

/* a ring, in which each element is of either kind in turn */
static struct {
	uint64_t kind, value;
} ring[5];
static size_t head, tail;

static APART void push(uint64_t kind, uint64_t value)
{
	ring[head].kind = kind;
	ring[head].value = value;
	head = (head + 1) % 5;
}

static APART void push_all(void)
{
	push(0, decoy);
	push(1, made);
	push(0, decoy + 7);
}

static APART void finish_pop(void)
{
	result = ring[tail].value;
}

static APART void finish_other_pop(void)
{
	elsewhere = ring[tail].value;
}

static APART void pop_all(void)
{
	for (int i = 0; i < 3; i++, tail = (tail + 1) % 5)
		if (ring[tail].kind)
			finish_pop();
		else
			finish_other_pop();
}

static void through_ring(void)
{
	push_all();
	pop_all();
}

/* a stack, whose lowest element holds the one and then the other */
static uint64_t stack[8], kept, dropped;
static size_t top;

static APART void save(uint64_t value)
{
	stack[top++] = value;
}

static APART uint64_t restore(void)
{
	return stack[--top];
}

static APART void save_made(void)
{
	save(made);
}

static APART void save_decoy(void)
{
	save(decoy);
}

static APART void keep(void)
{
	kept = restore();
}

static APART void drop(void)
{
	dropped = restore();
}

static APART void finish_kept(void)
{
	result = kept;
}

static APART void finish_dropped(void)
{
	elsewhere = dropped;
}

static void through_stack(void)
{
	save_decoy();
	drop();
	save_made();
	keep();
	save_decoy();
	drop();
	finish_dropped();
	finish_kept();
}

/* a search, that looks at all and stores one */
static uint64_t shelf[6], best;

static APART void fill_shelf(void)
{
	for (uint64_t i = 0; i < 6; i++)
		shelf[i] = i == 2 ? made : decoy + i;
}

static APART void choose(size_t wanted)
{
	for (size_t i = 0; i < 6; i++) {
		uint64_t at = shelf[i];

		if (i == wanted)
			best = at + 1;
	}
}

static APART void finish_best(void)
{
	result = best;
}

static APART void finish_other_best(void)
{
	elsewhere = best;
}

static void through_search(void)
{
	fill_shelf();
	choose(2);
	finish_best();
	choose(4);
	finish_other_best();
}

/* blocks of one function, asked about by that: one of them is watched at a time */
struct packet {
	uint64_t head, rest[5];
};

static uint64_t unpacked, announced;

static APART struct packet *make_packet(void)
{
	struct packet *packet = malloc(sizeof(*packet));

	if (!packet)
		abort();
	packet->head = made;
	packet->rest[0] = decoy;
	return packet;
}

static APART void unpack(const struct packet *packet)
{
	unpacked = packet->head;
}

static APART void announce(void)
{
	announced = unpacked;
}

static APART void finish_announced(void)
{
	result = announced + 1;
}

static void through_packets(void)
{
	struct packet *packet = make_packet();

	unpack(packet);
	announce();
	finish_announced();
	free(packet);
}

static const struct road roads[] = {
	{"slots", through_slots},   {"ring", through_ring},	  {"stack", through_stack},
	{"search", through_search}, {"packets", through_packets},
};

int main(int argc, char **argv)
{
	return run_road(roads, sizeof(roads) / sizeof(roads[0]), argc, argv);
}
