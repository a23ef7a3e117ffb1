/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More of what programs do every day (see chores.c): processes that share memory, a free list of
 * buffers, two buffers in turn, a heap as a queue, hexadecimal numbers, a tree of letters, a text
 * that grows, a file, threads that return, a gap buffer, columns of rows, decimal numbers,
 * pointers that are sorted.
 *
 * usage: tasks CASE SECONDS
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>
#include "kinds.h"

static uint64_t elsewhere;

/* stages: processes that hand on through shared memory */
static struct stages {
	_Atomic unsigned asked, answered;
	uint64_t in, out;
} * stages;
static APART void stages_serve(void)
{
	stages->out = stages->in * 2;
}
static APART void stages_loop(void)
{
	for (unsigned seen = 0;; seen++) {
		while (atomic_load(&stages->asked) == seen)
			sched_yield();
		stages_serve();
		atomic_store(&stages->answered, seen + 1);
	}
}
static void stages_begin(void)
{
	stages = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		stages_loop();
	}
}
static APART void stages_ask(void)
{
	unsigned turn = atomic_load(&stages->asked) + 1;
	stages->in = made;
	atomic_store(&stages->asked, turn);
	while (atomic_load(&stages->answered) != turn)
		sched_yield();
}
static APART void stages_finish(void)
{
	result = stages->out;
}
static APART void through_stages(void)
{
	if (!stages)
		stages_begin();
	stages_ask();
	stages_finish();
}

/* buffers: a free list of buffers, one of which is filled and given back */
struct buffer {
	struct buffer *next;
	uint64_t data[6];
};
static struct buffer buffers[4], *_Atomic spare;
static APART struct buffer *buffers_take(void)
{
	struct buffer *buffer = atomic_load(&spare);
	while (buffer && !atomic_compare_exchange_weak(&spare, &buffer, buffer->next))
		;
	return buffer;
}
static APART void buffers_give(struct buffer *buffer)
{
	buffer->next = atomic_load(&spare);
	while (!atomic_compare_exchange_weak(&spare, &buffer->next, buffer))
		;
}
static APART void buffers_fill(struct buffer *buffer, uint64_t value)
{
	for (int i = 0; i < 6; i++)
		buffer->data[i] = value + (uint64_t)i;
}
static APART void buffers_finish(const struct buffer *buffer)
{
	result = buffer->data[4];
}
static APART void through_buffers(void)
{
	struct buffer *one, *other;
	if (!atomic_load(&spare))
		for (int i = 0; i < 4; i++)
			buffers_give(&buffers[i]);
	one = buffers_take();
	other = buffers_take();
	buffers_fill(one, decoy);
	buffers_fill(other, made);
	buffers_finish(other);
	elsewhere = one->data[4];
	buffers_give(one);
	buffers_give(other);
}

/* screen: two buffers in turn */
static uint64_t screen[2][16];
static unsigned screen_shown;
static APART void screen_draw(void)
{
	uint64_t *back = screen[!screen_shown];
	for (int i = 0; i < 16; i++)
		back[i] = i == 5 ? made : decoy;
}
static APART void screen_flip(void)
{
	screen_shown = !screen_shown;
}
static APART void screen_finish(void)
{
	result = screen[screen_shown][5];
}
static APART void through_screen(void)
{
	screen_draw();
	screen_flip();
	screen_finish();
}

/* urgent: a heap of which the smallest is taken */
struct urgent {
	unsigned key;
	uint64_t load;
};
static struct urgent urgent[16];
static unsigned urgent_count;
static APART void urgent_push(unsigned key, uint64_t load)
{
	unsigned at = urgent_count++;
	while (at && urgent[(at - 1) / 2].key > key) {
		urgent[at] = urgent[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	urgent[at].key = key;
	urgent[at].load = load;
}
static APART struct urgent urgent_pop(void)
{
	struct urgent top = urgent[0], last = urgent[--urgent_count];
	unsigned at = 0, child;
	while ((child = 2 * at + 1) < urgent_count) {
		if (child + 1 < urgent_count && urgent[child + 1].key < urgent[child].key)
			child++;
		if (last.key <= urgent[child].key)
			break;
		urgent[at] = urgent[child];
		at = child;
	}
	urgent[at] = last;
	return top;
}
static APART void urgent_fill(void)
{
	urgent_push(5, decoy);
	urgent_push(2, made);
	urgent_push(9, decoy + 1);
	urgent_push(1, decoy + 2);
}
static APART void urgent_finish(void)
{
	elsewhere = urgent_pop().load;
	result = urgent_pop().load;
	urgent_pop();
	urgent_pop();
}
static APART void through_urgent(void)
{
	urgent_fill();
	urgent_finish();
}

/* hex: a number as text and back, by a table */
static char hex_text[24];
static APART void hex_write(uint64_t value, char *text)
{
	for (int i = 0; i < 16; i++)
		text[i] = "0123456789abcdef"[value >> (60 - 4 * i) & 15];
	text[16] = 0;
}
static APART uint64_t hex_read(const char *text)
{
	uint64_t value = 0;
	for (; *text; text++)
		value = value << 4 | (uint64_t)(*text <= '9' ? *text - '0' : *text - 'a' + 10);
	return value;
}
static APART void hex_encode(void)
{
	hex_write(made, hex_text);
}
static APART void hex_finish(void)
{
	result = hex_read(hex_text);
}
static APART void through_hex(void)
{
	hex_encode();
	hex_finish();
}

/* letters: a tree of letters */
struct letter {
	struct letter *child[4];
	uint64_t value;
};
static struct letter letters[64];
static unsigned letters_used = 1;
static APART struct letter *letters_walk(const char *key, bool make)
{
	struct letter *at = letters;
	for (; *key; key++) {
		struct letter **child = &at->child[*key - 'a'];
		if (!*child && !make)
			return NULL;
		if (!*child)
			*child = &letters[letters_used++];
		at = *child;
	}
	return at;
}
static APART void letters_put(const char *key, uint64_t value)
{
	letters_walk(key, true)->value = value;
}
static APART void letters_finish(void)
{
	const struct letter *letter = letters_walk("abba", false);
	result = letter ? letter->value : 0;
}
static APART void through_letters(void)
{
	letters_put("abb", decoy);
	letters_put("abba", made);
	letters_finish();
}

/* text: a text that grows */
struct text {
	char *bytes;
	size_t length, room;
};
static APART void text_add(struct text *text, char c)
{
	if (text->length == text->room) {
		text->room = text->room ? 2 * text->room : 4;
		text->bytes = realloc(text->bytes, text->room);
	}
	text->bytes[text->length++] = c;
}
static APART void text_write(struct text *text)
{
	uint64_t value = made >> 16;
	for (int i = 0; i < 6; i++)
		text_add(text, '-');
	for (int i = 0; i < 8; i++)
		text_add(text, (char)('a' + (value >> 4 * i & 15)));
}
static APART void text_finish(const struct text *text)
{
	uint64_t value = 0;
	for (size_t i = 6; i < text->length; i++)
		value = value << 4 | (uint64_t)(text->bytes[i] - 'a');
	result = value;
}
static APART void through_text(void)
{
	struct text text = {0};
	text_write(&text);
	text_finish(&text);
	free(text.bytes);
}

/* file: written and read again; backwards the file is an end */
static APART void file_save(int file)
{
	uint64_t row[2] = {decoy, made};
	if (pwrite(file, row, sizeof(row), 0) != sizeof(row))
		_exit(1);
}
static APART void file_finish(int file)
{
	uint64_t row[2];
	if (pread(file, row, sizeof(row), 0) != sizeof(row))
		_exit(1);
	result = row[1];
}
static APART void through_file(void)
{
	static int file;
	if (!file)
		file = memfd_create("file", 0);
	file_save(file);
	file_finish(file);
}

/* gap: an array into whose middle is inserted */
static uint64_t gap[12];
static unsigned gap_count;
static APART void gap_insert(unsigned at, uint64_t value)
{
	memmove(gap + at + 1, gap + at, (gap_count - at) * sizeof(gap[0]));
	gap[at] = value;
	gap_count++;
}
static APART void gap_fill(void)
{
	gap_count = 0;
	gap_insert(0, decoy);
	gap_insert(1, made);
	gap_insert(0, decoy + 1);
	gap_insert(2, decoy + 2);
	gap_insert(5 - 1, decoy + 3);
}
static APART void gap_finish(void)
{
	result = gap[3];
}
static APART void through_gap(void)
{
	gap_fill();
	gap_finish();
}

/* columns: rows that are turned into columns */
static struct row {
	uint64_t id, price, tax;
} rows[8];
static uint64_t prices[8], taxes[8];
static APART void columns_fill(void)
{
	for (unsigned i = 0; i < 8; i++) {
		rows[i].id = i;
		rows[i].price = made + i;
		rows[i].tax = decoy;
	}
}
static APART void columns_turn(void)
{
	for (unsigned i = 0; i < 8; i++) {
		prices[i] = rows[i].price;
		taxes[i] = rows[i].tax;
	}
}
static APART void columns_finish(void)
{
	result = prices[2];
	elsewhere = taxes[2];
}
static APART void through_columns(void)
{
	columns_fill();
	columns_turn();
	columns_finish();
}

/* decimal: digits in an array, carried by hand */
static unsigned char digits[2][12];
static APART void decimal_split(uint64_t value, unsigned char *to)
{
	for (int i = 0; i < 12; i++, value /= 10)
		to[i] = (unsigned char)(value % 10);
}
static APART void decimal_double(const unsigned char *from, unsigned char *to)
{
	unsigned carry = 0;
	for (int i = 0; i < 12; i++) {
		unsigned digit = from[i] * 2u + carry;
		to[i] = (unsigned char)(digit % 10);
		carry = digit / 10;
	}
}
static APART void decimal_finish(void)
{
	uint64_t value = 0;
	for (int i = 11; i >= 0; i--)
		value = value * 10 + digits[1][i];
	result = value;
}
static APART void through_decimal(void)
{
	decimal_split(made >> 32, digits[0]);
	decimal_double(digits[0], digits[1]);
	decimal_finish();
}

/* worker: a thread that is given a structure and returns one */
struct work {
	uint64_t in, out;
};
static APART void *worker_run(void *argument)
{
	struct work *work = argument;
	work->out = work->in + 5;
	return work;
}
static APART void worker_finish(const struct work *work)
{
	result = work->out;
}
static APART void worker_begin(struct work *work)
{
	work->in = made;
}
static APART void through_worker(void)
{
	static struct work work;
	pthread_t thread;
	void *back;
	worker_begin(&work);
	if (!pthread_create(&thread, NULL, worker_run, &work) && !pthread_join(thread, &back))
		worker_finish(back);
}

/* ranks: pointers that qsort() sorts */
struct player {
	uint64_t score;
	int rank;
};
static struct player players[6], *ranked[6];
static int ranks_compare(const void *a, const void *b)
{
	const struct player *const *one = a, *const *other = b;
	return (*one)->rank - (*other)->rank;
}
static APART void ranks_fill(void)
{
	for (int i = 0; i < 6; i++) {
		players[i].rank = (i * 5 + 3) % 6;
		players[i].score = i == 3 ? made : decoy + (uint64_t)i;
		ranked[i] = &players[i];
	}
}
static APART void ranks_finish(void)
{
	result = ranked[0]->score;
}
static APART void through_ranks(void)
{
	ranks_fill();
	qsort(ranked, 6, sizeof(ranked[0]), ranks_compare);
	ranks_finish();
}

static const struct road roads[] = {
	{"stages", through_stages},   {"buffers", through_buffers}, {"screen", through_screen},
	{"urgent", through_urgent},   {"hex", through_hex},	    {"letters", through_letters},
	{"text", through_text},	      {"file", through_file},	    {"gap", through_gap},
	{"columns", through_columns}, {"decimal", through_decimal}, {"worker", through_worker},
	{"ranks", through_ranks},
};

int main(int argc, char **argv)
{
	return run_road(roads, sizeof(roads) / sizeof(roads[0]), argc, argv);
}
