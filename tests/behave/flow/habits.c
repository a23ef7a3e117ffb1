/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More of styles.c: lines of a configuration, an event with arguments of its own types, fields of
 * bits, sorted pointers, a list within its members, a mean; and `nested`, which was written after
 * an argument had been taken for that of the function around.
 *
 * usage: habits CASE SECONDS
 */
#include <stdarg.h>
#include <stdio.h>

#include "kinds.h"

static uint64_t elsewhere;

/* config by sscanf */
static char conf[3][48];
static struct {
	unsigned long long port, limit, size;
} config;
static APART void conf_write(void)
{
	snprintf(conf[0], 48, "port = %llu", (unsigned long long)decoy);
	snprintf(conf[1], 48, "limit = %llu", (unsigned long long)made);
	snprintf(conf[2], 48, "size = %llu", (unsigned long long)decoy + 4);
}
static APART void conf_line(const char *line)
{
	char key[32];
	unsigned long long v;
	if (sscanf(line, " %31[^= ] = %llu", key, &v) != 2)
		return;
	if (!strcmp(key, "port"))
		config.port = v;
	else if (!strcmp(key, "limit"))
		config.limit = v;
	else
		config.size = v;
}
static APART void conf_finish(void)
{
	result = config.limit;
}
static APART void conf_finish_other(void)
{
	elsewhere = config.port;
}
static void through_conf(void)
{
	conf_write();
	for (int i = 0; i < 3; i++)
		conf_line(conf[i]);
	conf_finish();
	conf_finish_other();
}

/* varargs logging, by own va_arg */
static uint64_t log_values[8];
static int log_count;
static APART void log_event(const char *types, ...)
{
	va_list ap;
	va_start(ap, types);
	for (const char *t = types; *t; t++)
		switch (*t) {
		case 'u':
			log_values[log_count++ % 8] = va_arg(ap, uint64_t);
			break;
		case 'd':
			log_values[log_count++ % 8] = (uint64_t)va_arg(ap, int);
			break;
		case 's':
			(void)va_arg(ap, const char *);
			break;
		}
	va_end(ap);
}
static APART void log_all(void)
{
	log_count = 0;
	log_event("du", 4, decoy);
	log_event("sdu", "x", 5, made);
	log_event("u", decoy + 3);
}
static APART void log_finish(void)
{
	result = log_values[3] + 2;
}
static APART void log_finish_other(void)
{
	elsewhere = log_values[1] + 2;
}
static void through_log(void)
{
	log_all();
	log_finish();
	log_finish_other();
}

/* bit-fields */
struct header {
	unsigned version : 4, ihl : 4, tos : 8, length : 16;
	unsigned id : 16, flags : 3, off : 13;
};
static struct header headers[3];
static APART void bits_fill(void)
{
	headers[1] = (struct header){.version = 4,
				     .ihl = 5,
				     .length = (unsigned)(made >> 20) & 0xffff,
				     .id = (unsigned)(decoy >> 20) & 0xffff,
				     .flags = 2};
	headers[2] = (struct header){.version = 6, .length = (unsigned)(decoy >> 24) & 0xffff};
}
static APART void bits_swap(void)
{
	struct header t = headers[1];
	headers[1] = headers[0];
	headers[0] = t;
}
static APART void bits_finish(void)
{
	result = headers[0].length;
}
static APART void bits_finish_other(void)
{
	elsewhere = headers[0].id + headers[2].length;
}
static void through_bits(void)
{
	bits_fill();
	bits_swap();
	bits_finish();
	bits_finish_other();
}

/* qsort of pointers */
struct person {
	int age;
	uint64_t pay;
};
static struct person people[5], *by_age[5];
static APART void sort_fill(void)
{
	static const int ages[5] = {40, 22, 67, 19, 33};
	for (int i = 0; i < 5; i++) {
		people[i].age = ages[i];
		people[i].pay = decoy + (uint64_t)i;
		by_age[i] = &people[i];
	}
	people[2].pay = made;
}
static APART int sort_compare(const void *a, const void *b)
{
	return (*(struct person *const *)a)->age - (*(struct person *const *)b)->age;
}
static APART void sort_finish(void)
{
	result = by_age[4]->pay;
}
static APART void sort_finish_other(void)
{
	elsewhere = by_age[0]->pay;
}
static void through_qsort(void)
{
	sort_fill();
	qsort(by_age, 5, sizeof(*by_age), sort_compare);
	sort_finish();
	sort_finish_other();
}

/* intrusive list with foreach, and a hand-over list */
struct list {
	struct list *next, *prev;
};
struct task {
	uint64_t prio;
	struct list link;
	uint64_t cost;
};
#define task_of(l) ((struct task *)((char *)(l)-offsetof(struct task, link)))
static struct list ready = {&ready, &ready}, done = {&done, &done};
static APART void list_add(struct list *head, struct list *l)
{
	l->next = head;
	l->prev = head->prev;
	head->prev->next = l;
	head->prev = l;
}
static APART void list_del(struct list *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
}
static APART void list_spawn(uint64_t prio, uint64_t cost)
{
	struct task *t = calloc(1, sizeof(*t));
	t->prio = prio;
	t->cost = cost;
	list_add(&ready, &t->link);
}
static APART void list_schedule(void)
{
	while (ready.next != &ready) {
		struct task *best = NULL;
		for (struct list *l = ready.next; l != &ready; l = l->next)
			if (!best || task_of(l)->prio > best->prio)
				best = task_of(l);
		list_del(&best->link);
		list_add(&done, &best->link);
	}
}
static APART void list_spawn_all(void)
{
	list_spawn(1, decoy);
	list_spawn(9, made);
	list_spawn(4, decoy + 2);
}
static APART void list_finish(void)
{
	result = task_of(done.next)->cost;
}
static APART void list_finish_other(void)
{
	elsewhere = task_of(done.prev)->cost;
}
static void through_list(void)
{
	list_spawn_all();
	list_schedule();
	list_finish();
	list_finish_other();
	while (done.next != &done) {
		struct task *t = task_of(done.next);
		list_del(done.next);
		free(t);
	}
}

/* sums: a checksum and an average, several loads into one variable */
static uint64_t samples[6], others[6];
static APART void mean_fill(void)
{
	for (int i = 0; i < 6; i++) {
		samples[i] = made >> i;
		others[i] = decoy >> i;
	}
}
static APART uint64_t mean_of(const uint64_t *v, int n)
{
	uint64_t s = 0;
	for (int i = 0; i < n; i++)
		s += v[i];
	return s / (uint64_t)n;
}
static APART void mean_finish(void)
{
	result = mean_of(samples, 6);
}
static APART void mean_finish_other(void)
{
	elsewhere = mean_of(others, 6);
}
static void through_mean(void)
{
	mean_fill();
	mean_finish();
	mean_finish_other();
}

/* a function's argument that goes through two which have returned */
static struct {
	uint64_t other, value;
} box;
static APART void nested_fill(void)
{
	box.value = made;
	box.other = decoy;
}
static APART uint64_t nested_inner(uint64_t v)
{
	return v ^ 3;
}
static APART uint64_t nested_outer(uint64_t v)
{
	return nested_inner(v) + 1;
}
static APART void nested_finish(uint64_t other)
{
	result = nested_outer(box.value);
	elsewhere = other;
}
static void through_nested(void)
{
	nested_fill();
	nested_finish(box.other);
}

static const struct road roads[] = {
	{"conf", through_conf},	    {"log", through_log},   {"bits", through_bits},
	{"qsort", through_qsort},   {"list", through_list}, {"mean", through_mean},
	{"nested", through_nested},
};

int main(int argc, char **argv)
{
	return run_road(roads, sizeof(roads) / sizeof(roads[0]), argc, argv);
}
