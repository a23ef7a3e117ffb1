/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small programs of other kinds, each with a value that goes by one road from `made` to `result`,
 * and decoys that go the same way beside it. tests/behave/flow/roads.py says which functions are on
 * which road.
 *
 * usage: further CASE SECONDS
 */
#include "kinds.h"

/* what the C library calls back is told by it what to look at */
struct entry {
	uint64_t key, value;
};
static struct entry entries[9];
static uint64_t noted;
/* Compilers may put it in place of its call. */
static void *(*volatile search)(const void *, const void *, size_t, size_t,
				int (*)(const void *, const void *)) = bsearch;

static APART void fill_entries(void)
{
	for (uint64_t i = 0; i < 9; i++)
		entries[i] = (struct entry){i * 3, i == 6 ? made : decoy + i};
}

static int probe(const void *key, const void *element)
{
	const struct entry *entry = element;
	uint64_t wanted = *(const uint64_t *)key;

	noted = entry->value;
	return wanted < entry->key ? -1 : wanted > entry->key;
}

static APART void look_up(void)
{
	uint64_t wanted = 18;

	if (!search(&wanted, entries, 9, sizeof(entries[0]), probe))
		abort();
}

static APART void finish_noted(void)
{
	result = noted ^ 1;
}

static void through_search(void)
{
	fill_entries();
	look_up();
	finish_noted();
}

/* an interpreter: one loop, one stack, what it does is data */
enum { PUSH, ADD, SWAP, DROP, STORE, END };
static struct {
	int what;
	unsigned variable;
} script[8];
static uint64_t variables[4], stack[8];

static APART void load_variables(void)
{
	variables[0] = made;
	variables[1] = decoy;
	variables[2] = 7;
}

static APART void write_script(void)
{
	static const int whats[8] = {PUSH, PUSH, PUSH, ADD, SWAP, DROP, STORE, END};
	static const unsigned names[8] = {1, 0, 2, 0, 0, 0, 3, 0};

	for (int i = 0; i < 8; i++) {
		script[i].what = whats[i];
		script[i].variable = names[i];
	}
}

static APART void interpret(void)
{
	unsigned top = 0;
	uint64_t held;

	for (unsigned at = 0;; at++)
		switch (script[at].what) {
		case PUSH:
			stack[top++] = variables[script[at].variable];
			break;
		case ADD:
			top--;
			stack[top - 1] += stack[top];
			break;
		case SWAP:
			held = stack[top - 1];
			stack[top - 1] = stack[top - 2];
			stack[top - 2] = held;
			break;
		case DROP:
			top--;
			break;
		case STORE:
			variables[script[at].variable] = stack[--top];
			break;
		default:
			return;
		}
}

static APART void finish_script(void)
{
	result = variables[3];
}

static void through_script(void)
{
	load_variables();
	write_script();
	interpret();
	finish_script();
}

/* numbers of seven bits a byte, one after another */
static unsigned char coded[64];
static uint64_t decoded[3];

static APART size_t encode(unsigned char *to, uint64_t value)
{
	size_t length = 0;

	for (; value >= 128; value >>= 7)
		to[length++] = (unsigned char)(value | 128);
	to[length++] = (unsigned char)value;
	return length;
}

static APART void encode_all(void)
{
	size_t length = encode(coded, decoy & 0xffffff);

	length += encode(coded + length, made);
	encode(coded + length, decoy);
}

static APART void decode(void)
{
	const unsigned char *at = coded;

	for (int i = 0; i < 3; i++) {
		unsigned shift = 0;

		decoded[i] = 0;
		do {
			decoded[i] |= (uint64_t)(*at & 127) << shift;
			shift += 7;
		} while (*at++ & 128);
	}
}

static APART void finish_decoded(void)
{
	result = decoded[1];
}

static void through_code(void)
{
	encode_all();
	decode();
	finish_decoded();
}

/* a tree of a pool's nodes; one that is removed is given what its successor held */
static struct node {
	struct node *less, *more;
	uint64_t key, value;
} pool[16], *root;
static unsigned used;

static APART void insert(uint64_t key, uint64_t value)
{
	struct node **at = &root;

	while (*at)
		at = key < (*at)->key ? &(*at)->less : &(*at)->more;
	*at = &pool[used++];
	**at = (struct node){NULL, NULL, key, value};
}

static APART void grow(void)
{
	static const uint64_t keys[7] = {40, 20, 60, 10, 30, 50, 70};

	root = NULL;
	used = 0;
	for (int i = 0; i < 7; i++)
		insert(keys[i], keys[i] == 50 ? made : decoy + keys[i]);
}

static APART void remove_root(void)
{
	struct node **at = &root->more;

	while ((*at)->less)
		at = &(*at)->less;
	root->key = (*at)->key;
	root->value = (*at)->value;
	*at = (*at)->more;
}

static APART void finish_tree(void)
{
	const struct node *at = root;

	while (at->key != 50)
		at = at->key < 50 ? at->more : at->less;
	result = at->value;
}

static void through_tree(void)
{
	grow();
	remove_root();
	finish_tree();
}

/* a table of numbers times another */
static double left[4][4], right[4][4], product[4][4];

static APART void fill_left(void)
{
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 4; j++)
			left[i][j] = i == 2 ? (double)(made >> 40) : (double)j;
}

static APART void fill_right(void)
{
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 4; j++)
			right[i][j] = i == j ? 2 : 0.5;
}

static APART void multiply(void)
{
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 4; j++) {
			double sum = 0;

			for (int k = 0; k < 4; k++)
				sum += left[i][k] * right[k][j];
			product[i][j] = sum;
		}
}

static APART void finish_product(void)
{
	result = (uint64_t)product[2][1];
}

static void through_product(void)
{
	fill_left();
	fill_right();
	multiply();
	finish_product();
}

static const struct road roads[] = {
	{"search", through_search}, {"script", through_script},	  {"code", through_code},
	{"tree", through_tree},	    {"product", through_product},
};

int main(int argc, char **argv)
{
	return run_road(roads, sizeof(roads) / sizeof(roads[0]), argc, argv);
}
