/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program killed at 1,000 random moments, by SIGKILL, while its threads note hits: every hit it
 * had published is read, whole, and its records can be used again.
 *
 * Usage: area_kill [ROUNDS [SEED]]
 */
#include "record/area.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 3

static struct area *area;
static uint64_t taken; /* of this round */

static void check(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "area_kill: not so: %s\n", what);
	exit(1);
}

/* A hit whose every field follows from one number. */
static void fill(struct area_hit *hit, uint64_t number)
{
	hit->identity = number;
	hit->address = number * 3;
	hit->serial = number * 5;
	hit->stack_length = AREA_STACK;
	memset(hit->stack, (int)(number & 0xff), AREA_STACK);
}

static void verify(const struct area_hit *hit)
{
	uint64_t number = hit->identity;

	check(hit->address == number * 3 && hit->serial == number * 5, "fields of one hit agree");
	for (int i = 0; i < AREA_STACK; i += 64)
		check(hit->stack[i] == (uint8_t)number, "the stack is the hit's own");
}

static void *note(void *arg)
{
	uint64_t number = (uintptr_t)arg << 32;

	for (;;) {
		uint64_t ticket;
		struct area_hit *hit = area_hit_claim(area, 0, &ticket);

		if (!hit) {
			atomic_fetch_add(&area->process[0].dropped, 1);
			continue;
		}
		fill(hit, ++number);
		area_hit_publish(hit, ticket);
		/* Counted after it was made: what the reader must find at least. */
		atomic_fetch_add(&area->process[0].serial, 1);
		area_ring(area);
		area_hit_leave(hit, ticket, number);
	}
	return NULL;
}

static void run_program(void)
{
	pthread_t thread;

	for (uintptr_t i = 1; i < THREADS; i++)
		pthread_create(&thread, NULL, note, (void *)i);
	note((void *)0);
}

static void take_all(void)
{
	for (int i = 0; i < AREA_HITS; i++) {
		struct area_hit *hit = &area->hit[i];
		enum area_hit_state state =
			area_hit_state(atomic_load_explicit(&hit->state, memory_order_acquire));

		if (state != AREA_HIT_HELD && state != AREA_HIT_LEAVING && state != AREA_HIT_DONE)
			continue;
		verify(hit);
		taken++;
		/* As the controller: a record is taken back when its thread has left, or is dead.
		 */
		if (state != AREA_HIT_DONE || !area_hit_take(hit))
			taken--;
	}
}

static void take_what_the_dead_left(void)
{
	for (int i = 0; i < AREA_HITS; i++) {
		struct area_hit *hit = &area->hit[i];
		enum area_hit_state state = area_hit_state(atomic_load(&hit->state));

		if (state == AREA_HIT_HELD || state == AREA_HIT_LEAVING || state == AREA_HIT_DONE) {
			verify(hit);
			taken++;
		}
		if (state != AREA_HIT_FREE)
			area_hit_reclaim(hit);
	}
}

static uint64_t one_round(unsigned delay)
{
	struct timespec pause = {0, (long)delay * 1000}, step = {0, 50000};
	uint64_t made;
	pid_t pid;

	atomic_store(&area->process[0].serial, 0);
	taken = 0;
	pid = fork();
	if (pid == 0) {
		run_program();
		_exit(0);
	}
	for (long waited = 0; waited < pause.tv_nsec; waited += step.tv_nsec) {
		take_all();
		nanosleep(&step, NULL);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	take_what_the_dead_left();
	made = atomic_load(&area->process[0].serial);
	check(taken >= made, "every hit made was read");
	check(taken <= made + THREADS, "and none twice");
	for (int i = 0; i < AREA_HITS; i++)
		check(area_hit_state(atomic_load(&area->hit[i].state)) == AREA_HIT_FREE,
		      "every record can be used again");
	return made;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1000, fd;
	uint64_t made = 0;

	srand(argc > 2 ? (unsigned)atoi(argv[2]) : (unsigned)time(NULL));
	check(area_create(&area, &fd) == 0, "an area can be made");
	for (int i = 0; i < rounds; i++)
		made += one_round((unsigned)rand() % 3000);
	printf("%d deaths, %llu hits made, all read\n", rounds, (unsigned long long)made);
	return 0;
}
