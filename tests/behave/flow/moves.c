/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways of moving a value that the other programs do not have: string instructions, exchanges and
 * comparisons with exchange, real numbers that functions return, sums, blocks that realloc() moves,
 * texts that strtok_r() takes apart. tests/behave/flow/roads.py says which functions are on which
 * road; what comes from `decoy` goes beside it to `elsewhere`.
 *
 * usage: moves CASE SECONDS
 */
#include "kinds.h"

static uint64_t elsewhere;

/* a large structure that is assigned, which compilers make a string instruction of */
struct page {
	uint64_t word[64];
};

static struct page page, copy;

static APART void fill_page(void)
{
	page.word[20] = decoy;
	page.word[21] = made;
	page.word[22] = decoy + 1;
}

static APART void copy_page(struct page *to, const struct page *from)
{
	*to = *from;
}

static APART void finish_page(void)
{
	result = copy.word[21];
}

static APART void finish_other_page(void)
{
	elsewhere = copy.word[20] ^ copy.word[22];
}

static void through_page(void)
{
	fill_page();
	copy_page(&copy, &page);
	finish_page();
	finish_other_page();
}

/* a box whose content is exchanged */
static uint64_t box;

static APART void send(uint64_t value)
{
	__atomic_exchange_n(&box, value, __ATOMIC_SEQ_CST);
}

static APART void send_made(void)
{
	send(made);
}

static APART uint64_t take(void)
{
	return __atomic_exchange_n(&box, 0, __ATOMIC_SEQ_CST);
}

static APART void finish_mail(void)
{
	result = take();
}

static APART void finish_other_mail(void)
{
	elsewhere = take();
}

static void through_mail(void)
{
	send_made();
	finish_mail();
	send(decoy);
	finish_other_mail();
}

/* a stack of nodes from a pool, without a lock */
struct node {
	struct node *below;
	uint64_t value;
};

static struct node pool[5], *head;
static unsigned next;

static APART void push(uint64_t value)
{
	struct node *node = &pool[next++ % 5];

	node->value = value;
	node->below = __atomic_load_n(&head, __ATOMIC_ACQUIRE);
	while (!__atomic_compare_exchange_n(&head, &node->below, node, 1, __ATOMIC_ACQ_REL,
					    __ATOMIC_ACQUIRE))
		;
}

static APART struct node *pop(void)
{
	struct node *node = __atomic_load_n(&head, __ATOMIC_ACQUIRE);

	while (!__atomic_compare_exchange_n(&head, &node, node->below, 1, __ATOMIC_ACQ_REL,
					    __ATOMIC_ACQUIRE))
		;
	return node;
}

static APART void push_all(void)
{
	push(decoy);
	push(made);
}

static APART void finish_popped(void)
{
	result = pop()->value;
}

static APART void finish_other_popped(void)
{
	elsewhere = pop()->value;
}

static void through_pool(void)
{
	push_all();
	finish_popped();
	finish_other_popped();
}

/* a real number that a function returns */
static double reals[4], kept_real, other_real;

static APART void put_reals(void)
{
	reals[1] = (double)(decoy >> 12);
	reals[2] = (double)(made >> 12);
}

static APART double half_of(int index)
{
	return reals[index] / 2;
}

static APART void keep_real(void)
{
	kept_real = half_of(2) + 1;
}

static APART void keep_other_real(void)
{
	other_real = half_of(1) + 1;
}

static APART void finish_real(void)
{
	result = (uint64_t)kept_real;
}

static APART void finish_other_real(void)
{
	elsewhere = (uint64_t)other_real;
}

static void through_reals(void)
{
	put_reals();
	keep_real();
	finish_real();
	keep_other_real();
	finish_other_real();
}

/* a sum of many; of the values that are not negative another one */
static int64_t bills[6], total, debts[6], positive;

static APART void fill_bills(void)
{
	for (int i = 0; i < 6; i++)
		bills[i] = (int64_t)(i == 2 ? made : decoy >> i);
}

static APART void fill_debts(void)
{
	for (int i = 0; i < 6; i++)
		debts[i] = (int64_t)(decoy + (uint64_t)i);
}

static APART int64_t add_up(const int64_t *amounts)
{
	int64_t sum = 0;

	for (int i = 0; i < 6; i++)
		sum += amounts[i];
	return sum;
}

static APART void take_bills(void)
{
	int64_t sum = 0;

	for (int i = 0; i < 6; i++)
		sum += bills[i];
	total = sum;
}

static APART void take_debts(void)
{
	positive = add_up(debts);
}

static APART void finish_total(void)
{
	result = (uint64_t)total;
}

static APART void finish_other_total(void)
{
	elsewhere = (uint64_t)positive;
}

static void through_sum(void)
{
	fill_bills();
	fill_debts();
	take_bills();
	take_debts();
	finish_total();
	finish_other_total();
}

/* a text that is taken apart in place */
static char text[32];

static APART void write_line(void)
{
	unsigned digit = (unsigned)(made >> 20) % 9 + 1, other = (unsigned)(decoy >> 20) % 9 + 1;

	memcpy(text, "k=00;v=00;w=00", 15);
	text[2] = (char)('0' + other);
	text[7] = (char)('0' + digit);
	text[12] = (char)('0' + other);
}

static APART void finish_token(const char *token)
{
	result = strtoul(token + 2, NULL, 10);
}

static APART void finish_other_token(const char *token)
{
	elsewhere = strtoul(token + 2, NULL, 10);
}

static void through_tokens(void)
{
	char *rest, *token;

	write_line();
	for (token = strtok_r(text, ";", &rest); token; token = strtok_r(NULL, ";", &rest))
		if (token[0] == 'v')
			finish_token(token);
		else
			finish_other_token(token);
}

/* a block that grows, and moves */
static uint64_t *block;

static APART void put_in_block(void)
{
	block[1] = decoy;
	block[3] = made;
}

static APART void grow_block(void)
{
	uint64_t *between = malloc(64), *grown = realloc(block, 40 * sizeof(*block));

	if (!between || !grown)
		abort();
	block = grown;
	free(between);
}

static APART void finish_block(void)
{
	result = block[3];
}

static APART void finish_other_block(void)
{
	elsewhere = block[1];
}

static void through_block(void)
{
	block = malloc(8 * sizeof(*block));
	if (!block)
		abort();
	put_in_block();
	grow_block();
	finish_block();
	finish_other_block();
	free(block);
}

static const struct road roads[] = {
	{"page", through_page},	  {"mail", through_mail}, {"pool", through_pool},
	{"reals", through_reals}, {"sum", through_sum},	  {"tokens", through_tokens},
	{"block", through_block},
};

int main(int argc, char **argv)
{
	return run_road(roads, sizeof(roads) / sizeof(roads[0]), argc, argv);
}
