/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs as other people write them: a parser of tokens, a queue with a lock, a cache of what was
 * used last, matrices, a machine of states, an arena, a socket; more in habits.c and styles.cc.
 * None of it suggested anything in src/. tests/behave/flow/roads.py says which functions are on
 * which road; what comes from `decoy` goes beside it to `elsewhere`.
 *
 * usage: styles CASE SECONDS
 */
#include <ctype.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
#include "kinds.h"

static uint64_t elsewhere;

/* json: tokens first, then a walk over them */
struct json_token_place {
	char type;
	int start, end, size;
};
struct json_reader {
	int pos, next;
};
static char json_text[128];
static struct json_token_place json_tokens[16];
static APART void json_write(void)
{
	memcpy(json_text, "{\"aa\": 000, \"bb\": [000, 11], \"c\": 000}", 39);
	json_text[19] = (char)('1' + (made >> 30) % 9);
	json_text[7] = (char)('1' + (decoy >> 30) % 9);
	json_text[34] = (char)('1' + (decoy >> 33) % 9);
}
static APART struct json_token_place *json_token(struct json_reader *p, char type, int start,
						 int end)
{
	struct json_token_place *t = &json_tokens[p->next++];
	t->type = type;
	t->start = start;
	t->end = end;
	t->size = 0;
	return t;
}
static APART int json_tokenize(struct json_reader *p, const char *s)
{
	for (; s[p->pos]; p->pos++) {
		char c = s[p->pos];
		int start = p->pos;
		switch (c) {
		case '{':
		case '[':
			json_token(p, c, start, start + 1);
			break;
		case '}':
		case ']':
		case ':':
		case ',':
		case ' ':
			break;
		case '"':
			for (p->pos++; s[p->pos] != '"'; p->pos++)
				;
			json_token(p, 's', start + 1, p->pos);
			break;
		default:
			while (isdigit((unsigned char)s[p->pos]))
				p->pos++;
			json_token(p, 'n', start, p->pos);
			p->pos--;
		}
	}
	return p->next;
}
static APART uint64_t json_number(const char *s, const struct json_token_place *t)
{
	uint64_t v = 0;
	for (int i = t->start; i < t->end; i++)
		v = v * 10 + (uint64_t)(s[i] - '0');
	return v;
}
static APART void json_finish(void)
{
	for (int i = 0; i < 16; i++)
		if (json_tokens[i].type == 's' && json_text[json_tokens[i].start] == 'b') {
			result = json_number(json_text, &json_tokens[i + 2]);
			return;
		}
}
static APART void json_finish_other(void)
{
	elsewhere = json_number(json_text, &json_tokens[2]);
}
static void through_json(void)
{
	struct json_reader p = {0, 0};
	json_write();
	json_tokenize(&p, json_text);
	json_finish();
	json_finish_other();
}

/* ring between threads by mutex and condition */
struct job {
	void (*run)(struct job *);
	uint64_t arg[3];
};
static struct {
	struct job slot[4];
	unsigned head, tail;
	pthread_mutex_t lock;
	pthread_cond_t more, less;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
	  .more = PTHREAD_COND_INITIALIZER,
	  .less = PTHREAD_COND_INITIALIZER};
static APART void ring_run(struct job *j)
{
	result = j->arg[0] ^ 5;
}
static APART void ring_run_other(struct job *j)
{
	elsewhere = j->arg[0] ^ 5;
}
static APART void ring_submit(void (*run)(struct job *), uint64_t a)
{
	pthread_mutex_lock(&pool.lock);
	while (pool.head - pool.tail == 4)
		pthread_cond_wait(&pool.less, &pool.lock);
	pool.slot[pool.head++ % 4] = (struct job){run, {a, a + 1, 3}};
	pthread_cond_signal(&pool.more);
	pthread_mutex_unlock(&pool.lock);
}
static APART void *ring_worker(void *unused)
{
	for (;;) {
		struct job j;
		pthread_mutex_lock(&pool.lock);
		while (pool.head == pool.tail)
			pthread_cond_wait(&pool.more, &pool.lock);
		j = pool.slot[pool.tail++ % 4];
		pthread_cond_signal(&pool.less);
		pthread_mutex_unlock(&pool.lock);
		j.run(&j);
	}
	return unused;
}
static APART void ring_submit_all(void)
{
	ring_submit(ring_run_other, decoy);
	ring_submit(ring_run, made);
	ring_submit(ring_run_other, decoy + 7);
}
static void through_ring(void)
{
	static pthread_t t;
	if (!t && pthread_create(&t, NULL, ring_worker, NULL))
		abort();
	ring_submit_all();
}

/* LRU cache */
struct entry {
	struct entry *prev, *next, *chain;
	uint64_t key, value;
};
static struct entry lru = {&lru, &lru, NULL, 0, 0}, *buckets[8];
static int lru_count;
static APART void lru_unlink(struct entry *e)
{
	e->prev->next = e->next;
	e->next->prev = e->prev;
}
static APART void lru_front(struct entry *e)
{
	e->next = lru.next;
	e->prev = &lru;
	lru.next->prev = e;
	lru.next = e;
}
static APART struct entry *lru_evict(void)
{
	struct entry *e = lru.prev, **at = &buckets[e->key % 8];
	lru_unlink(e);
	while (*at != e)
		at = &(*at)->chain;
	*at = e->chain;
	return e;
}
static APART void lru_set(uint64_t key, uint64_t value)
{
	struct entry *e;
	for (e = buckets[key % 8]; e; e = e->chain)
		if (e->key == key) {
			e->value = value;
			lru_unlink(e);
			lru_front(e);
			return;
		}
	if (lru_count >= 5)
		e = lru_evict();
	else {
		e = malloc(sizeof(*e));
		lru_count++;
	}
	e->key = key;
	e->value = value;
	e->chain = buckets[key % 8];
	buckets[key % 8] = e;
	lru_front(e);
}
static APART bool lru_get(uint64_t key, uint64_t *value)
{
	for (struct entry *e = buckets[key % 8]; e; e = e->chain)
		if (e->key == key) {
			lru_unlink(e);
			lru_front(e);
			*value = e->value;
			return true;
		}
	return false;
}
static APART void lru_fill(void)
{
	static uint64_t turn;
	turn++;
	for (uint64_t i = 0; i < 3; i++)
		lru_set(1000 + (turn * 3 + i) % 40, decoy + i);
	lru_set(7, made);
	lru_set(15, decoy);
}
static APART void lru_finish(void)
{
	uint64_t v;
	if (lru_get(7, &v))
		result = v;
}
static APART void lru_finish_other(void)
{
	uint64_t v;
	if (lru_get(15, &v))
		elsewhere = v;
}
static void through_lru(void)
{
	lru_fill();
	lru_finish();
	lru_finish_other();
}

/* matrices of floats: transposed, then scaled */
static float ma[16][16], mb[16][16], mc[16][16];
static float wanted_real, other_real;
static APART void matrix_fill(void)
{
	for (int i = 0; i < 16; i++)
		for (int j = 0; j < 16; j++)
			ma[i][j] = (float)(decoy >> 44) + (float)j;
	for (int j = 0; j < 16; j++)
		ma[3][j] = (float)(made >> 40) + (float)j;
}
static APART void matrix_transpose(void)
{
	for (int i = 0; i < 16; i++)
		for (int j = 0; j < 16; j++)
			mb[j][i] = ma[i][j];
}
static APART void matrix_scale(float by)
{
	for (int i = 0; i < 16; i++)
		for (int j = 0; j < 16; j++)
			mc[i][j] = mb[i][j] * by;
}
static APART void matrix_finish(void)
{
	wanted_real = mc[9][3];
	other_real = mc[9][4];
	memcpy(&result, &wanted_real, 4);
}
static void through_matrix(void)
{
	matrix_fill();
	matrix_transpose();
	matrix_scale(1.5f);
	matrix_finish();
}

/* a state machine by table: frames of type, length, value */
enum machine_state { S_TYPE, S_LEN, S_VAL };
struct machine {
	enum machine_state state;
	uint8_t type, len, have;
	uint8_t val[8];
};
static uint8_t frames[64];
static int frames_len;
static APART void machine_emit(uint8_t type, uint64_t v)
{
	frames[frames_len++] = type;
	frames[frames_len++] = 8;
	memcpy(frames + frames_len, &v, 8);
	frames_len += 8;
}
static APART void machine_write(void)
{
	frames_len = 0;
	machine_emit(1, decoy);
	machine_emit(2, made);
	machine_emit(1, decoy + 2);
}
static APART void machine_other(struct machine *m)
{
	memcpy(&elsewhere, m->val, 8);
}
static APART void machine_finish(struct machine *m)
{
	memcpy(&result, m->val, 8);
}
static APART void machine_byte(struct machine *m, uint8_t b)
{
	switch (m->state) {
	case S_TYPE:
		m->type = b;
		m->state = S_LEN;
		break;
	case S_LEN:
		m->len = b;
		m->have = 0;
		m->state = S_VAL;
		break;
	case S_VAL:
		m->val[m->have++] = b;
		if (m->have == m->len) {
			m->state = S_TYPE;
			(m->type == 2 ? machine_finish : machine_other)(m);
		}
	}
}
static struct machine the_machine;
static APART void machine_feed(void)
{
	for (int i = 0; i < frames_len; i++)
		machine_byte(&the_machine, frames[i]);
}
static void through_machine(void)
{
	machine_write();
	machine_feed();
}

/* bump allocator */
static char arena[4096];
static size_t arena_used;
struct record {
	struct record *next;
	const char *name;
	uint64_t weight;
};
static APART void *bump(size_t n)
{
	void *p = arena + arena_used;
	arena_used += (n + 15) & ~(size_t)15;
	return p;
}
static APART struct record *bump_record(struct record *next, const char *name, uint64_t weight)
{
	struct record *r = bump(sizeof(*r));
	size_t n = strlen(name) + 1;
	char *copy = bump(n);
	memcpy(copy, name, n);
	*r = (struct record){next, copy, weight};
	return r;
}
static struct record *bump_head;
static APART void bump_build(void)
{
	arena_used = 0;
	bump_head = bump_record(NULL, "first", decoy);
	bump_head = bump_record(bump_head, "second", made);
	bump_head = bump_record(bump_head, "third", decoy + 9);
}
static APART uint64_t bump_find(const char *name)
{
	for (struct record *r = bump_head; r; r = r->next)
		if (strcmp(r->name, name) == 0)
			return r->weight;
	return 0;
}
static APART void bump_finish(void)
{
	result = bump_find("second") + 1;
}
static APART void bump_finish_other(void)
{
	elsewhere = bump_find("third") + 1;
}
static void through_bump(void)
{
	bump_build();
	bump_finish();
	bump_finish_other();
}

/* socket echo */
struct conn {
	int fd;
	size_t used;
	char in[64];
};
static int ends[2];
static struct conn client, server;
static APART void echo_send(int fd, uint32_t kind, uint64_t v)
{
	struct {
		uint32_t kind, size;
		uint64_t v;
	} m = {kind, 16, v};
	if (send(fd, &m, sizeof(m), 0) != sizeof(m))
		abort();
}
static APART void echo_serve(void)
{
	ssize_t n = recv(server.fd, server.in, sizeof(server.in), 0);
	if (n > 0 && send(server.fd, server.in, (size_t)n, 0) != n)
		abort();
}
static APART void echo_receive(void)
{
	ssize_t n = recv(client.fd, client.in + client.used, sizeof(client.in) - client.used, 0);
	if (n > 0)
		client.used += (size_t)n;
}
static APART void echo_finish(void)
{
	uint64_t v;
	memcpy(&v, client.in + 8, 8);
	result = v;
	client.used = 0;
}
static void through_echo(void)
{
	if (!client.fd) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
			abort();
		client.fd = ends[0];
		server.fd = ends[1];
	}
	echo_send(client.fd, 3, made);
	echo_serve();
	echo_receive();
	echo_finish();
}

static const struct road roads[] = {
	{"json", through_json},	    {"ring", through_ring},	  {"lru", through_lru},
	{"matrix", through_matrix}, {"machine", through_machine}, {"bump", through_bump},
	{"echo", through_echo},
};

int main(int argc, char **argv)
{
	return run_road(roads, sizeof(roads) / sizeof(roads[0]), argc, argv);
}
