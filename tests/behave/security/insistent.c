/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks its controller for as much as it can for so long: announces itself, or
 * processes that are not there, again and again, gives notices or writes hits that were none, or
 * only rings. Then says "asked N times" and waits for a line; ends with status 5.
 *
 * usage: insistent announce|invent|notice|hit|ring SECONDS
 */
#include "../own_area.h"
#include "record/area.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

long shared;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static bool announce(struct area_process *process)
{
	uint32_t watched = AREA_PROCESS_WATCHED, left = AREA_PROCESS_LEFT;

	return atomic_compare_exchange_strong(&process->state, &watched, AREA_PROCESS_ANNOUNCED) ||
	       atomic_compare_exchange_strong(&process->state, &left, AREA_PROCESS_ANNOUNCED);
}

/* Processes that are not there: they are looked for everywhere. */
static bool invent(struct area *area, uint32_t index)
{
	bool asked = false;

	for (uint32_t i = 0; i < AREA_PROCESSES; i++) {
		struct area_process *process = &area->process[i];

		if (i == index || atomic_load(&process->state) == AREA_PROCESS_ANNOUNCED)
			continue;
		process->pid = 1000000000 + (pid_t)i;
		atomic_store(&process->state, AREA_PROCESS_ANNOUNCED);
		asked = true;
	}
	return asked;
}

static bool forge(struct area *area, uint32_t index, uint32_t flags)
{
	struct area_process *process = &area->process[index];
	uint64_t ticket;
	struct area_hit *hit = area_hit_claim(area, index, &ticket);

	if (!hit)
		return false;
	hit->slot = 0;
	hit->generation = atomic_load(&process->slot[0].generation);
	hit->tid = getpid();
	hit->identity = (uint64_t)getpid();
	hit->flags = flags;
	hit->address = (uint64_t)&shared;
	hit->registers.pc = (uint64_t)&announce + 4;
	hit->registers.general[4] = (uint64_t)__builtin_frame_address(0);
	hit->value_length = hit->stack_length = 0;
	hit->entry_time++;
	area_hit_publish(hit, ticket);
	area_hit_leave(hit, ticket, 0);
	return true;
}

static bool ask(struct area *area, uint32_t index, const char *what)
{
	if (strcmp(what, "announce") == 0)
		return announce(&area->process[index]);
	if (strcmp(what, "invent") == 0)
		return invent(area, index);
	if (strcmp(what, "notice") == 0)
		return forge(area, index, AREA_HIT_THREAD);
	return strcmp(what, "hit") != 0 || forge(area, index, AREA_HIT_UNHELD);
}

int main(int argc, char **argv)
{
	struct area *area = own_area(NULL);
	uint32_t index = 0;
	long asked = 0;
	char line[16];
	double end;

	if (argc != 3 || !area)
		return 2;
	while (index < AREA_PROCESSES && area->process[index].pid != getpid())
		index++;
	if (index == AREA_PROCESSES)
		return 4;
	shared++;
	end = now() + atof(argv[2]);
	while (now() < end) {
		if (ask(area, index, argv[1]))
			asked++;
		else
			sched_yield();
		area_ring(area);
	}
	printf("asked %ld times\n", asked);
	fflush(stdout);
	return fgets(line, sizeof(line), stdin) ? 5 : 3;
}
