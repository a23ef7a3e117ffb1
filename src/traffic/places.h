/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions that were sampled or came by, with what they weigh and an example of how they were
 * reached. One place stands for the same instruction in all processes that have the same file at
 * the same address, as forked ones have; its names are asked for in one of them that lives.
 */
#ifndef TRAFFIC_PLACES_H
#define TRAFFIC_PLACES_H

#include <string.h>
#include <trapline/tool.h>

#define FLOW_PLACES 16384 /* a bound on what a program can make us remember */
#define FLOW_STACK 24	  /* frames of an example */
#define FLOW_NOWHERE UINT32_MAX

struct flow_place {
	pid_t pid; /* where it can be named; 0: nowhere any more */
	uint64_t pc;
	const char *module;   /* NULL: code in no file */
	double loads, stores; /* samples of these, each worth the same CPU time */
	double weight[2];     /* of loads, of stores: by how often they run (traffic/weigh.h) */
	uint32_t probed[2];   /* loads, stores followed up */
	uint64_t stack[FLOW_STACK];
	unsigned frames; /* of the example; 0: none yet */
	pid_t tid;	 /* of the example */
	bool own;	 /* code of our library in the program, which is not the program's */
	bool leaving;	 /* its process is about to end, and no other has it */
	uint32_t next;	 /* in its chain */
};

/* Our library in the program, which has functions of the C library's names. */
static inline bool flow_is_own_module(const char *module)
{
	return module && strstr(module, "/libtrapline");
}

struct flow_places {
	struct tl_host *host;
	const struct tl_services *services;
	struct flow_place *place;
	uint32_t count, capacity;
	uint32_t chain[4096];
	uint64_t refused;
};

void flow_places_init(struct flow_places *places, struct tl_host *host,
		      const struct tl_services *services);
/* Its index, or FLOW_NOWHERE when there are too many. */
uint32_t flow_place_find(struct flow_places *places, pid_t pid, uint64_t pc);
/* Keeps the stack of a hit as the example, if there is none yet. */
void flow_place_example(struct flow_places *places, uint32_t index, const struct tl_access *access);
/*
 * The process is about to end: places that were named in it are named in another living one that
 * has the same code there. Those that cannot be are leaving, and are named now or never. How many.
 */
uint32_t flow_places_leave(struct flow_places *places, pid_t pid, const pid_t *living,
			   size_t count);
void flow_places_forget(struct flow_places *places); /* those that are leaving */
void flow_places_free(struct flow_places *places);

#endif
