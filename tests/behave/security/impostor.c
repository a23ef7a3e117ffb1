/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two roles. `victim`: counts at a fixed address, unwatched, until it is killed. Else, under
 * `trapline watch own`: tells the controller that a thread begins whose id is the victim's, and
 * whose copy of the watched variable lies where the victim counts. Ends with status 5 when it could
 * do so.
 *
 * usage: impostor victim | impostor VICTIM_PID
 */
#include "../own_area.h"
#include "record/area.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PLACE 0x70000000ul
#define TRIES 100

_Thread_local volatile long own;

static const struct timespec pause_time = {0, 10000000};

static int be_victim(void)
{
	volatile long *place = mmap((void *)PLACE, 4096, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (place == MAP_FAILED)
		return 2;
	for (;;) {
		++*place;
		nanosleep(&pause_time, NULL);
	}
}

static uint32_t own_index(const struct area *area)
{
	uint32_t index = 0;

	while (index < AREA_PROCESSES && area->process[index].pid != getpid())
		index++;
	return index;
}

static void lie(struct area *area, uint32_t process, pid_t victim)
{
	uint64_t pointer = PLACE - ((uintptr_t)&own - (uintptr_t)__builtin_thread_pointer());
	uint64_t ticket;
	struct area_hit *hit = area_hit_claim(area, process, &ticket);

	if (!hit)
		return;
	hit->tid = victim;
	hit->flags = AREA_HIT_THREAD;
	hit->address = pointer;
	hit->value_length = hit->stack_length = 0;
	area_hit_publish(hit, ticket);
	area_ring(area);
}

int main(int argc, char **argv)
{
	struct area *area = own_area(NULL);
	uint32_t process;

	if (argc != 2)
		return 2;
	if (strcmp(argv[1], "victim") == 0)
		return be_victim();
	if (!area)
		return 3;
	process = own_index(area);
	if (process == AREA_PROCESSES)
		return 4;
	for (int i = 0; i < TRIES; i++) {
		own++;
		lie(area, process, (pid_t)atoi(argv[1]));
		nanosleep(&pause_time, NULL);
	}
	return 5;
}
