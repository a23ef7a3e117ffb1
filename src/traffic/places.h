/* SPDX-License-Identifier: Apache-2.0 */
/* Places: instructions that were sampled or came by, with their weights and an example of how
 * each was reached. One place stands for the same instruction in all processes that have the
 * same file at the same address, as forked ones have; its names are looked up in one of them
 * that is alive. The controller's thread uses them. */
#ifndef TRAFFIC_PLACES_H
#define TRAFFIC_PLACES_H

#include <string.h>
#include <trapline/tool.h>

#define FLOW_PLACES 16384 /* bounds what a program can make us remember */
#define FLOW_STACK 24	  /* frames of an example */
#define FLOW_NOWHERE UINT32_MAX

struct flow_place {
	pid_t pid; /* a process in which it can be named; 0: there is none any more */
	uint64_t pc;
	const char *module;   /* NULL: the code is in no file */
	double loads, stores; /* samples of its loads and stores, each worth the same CPU time */
	/* of its loads, of its stores: how often they run (traffic/weigh.h) */
	double weight[2];
	uint32_t probed[2]; /* how many of its loads, and stores, were followed up */
	uint64_t stack[FLOW_STACK];
	unsigned frames; /* of the example; 0: none yet */
	pid_t tid;	 /* of the example */
	/* code of our own library in the program, which is not the program's code */
	bool own;
	bool leaving;  /* its process is about to end, and no other process has this code */
	uint32_t next; /* next place in the chain of its hash */
};

/* Is it our library in the program? It has functions with the C library's names. */
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
/* The place's index, or FLOW_NOWHERE when there are too many places. */
uint32_t flow_place_find(struct flow_places *places, pid_t pid, uint64_t pc);
/* Keeps the stack of a hit as the example, if there is none yet. */
void flow_place_example(struct flow_places *places, uint32_t index, const struct tl_access *access);
/* Called when the process is about to end. Places that were named in it are named in another
 * living process with the same code from now on; those for which there is none are marked as
 * leaving, and must be named now. Returns how many are leaving. */
uint32_t flow_places_leave(struct flow_places *places, pid_t pid, const pid_t *living,
			   size_t count);
void flow_places_forget(struct flow_places *places); /* forgets the places that are leaving */
void flow_places_free(struct flow_places *places);

#endif
