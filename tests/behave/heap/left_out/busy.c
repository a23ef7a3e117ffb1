/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy PAIRS [malloc|moved|realloc|places|wrapped|filtered]: one place allocates and frees so many
 * blocks, and does nothing else; another one allocates a single block, which is written past its
 * end. `moved`: that one is a block of the busy place, given another size. `realloc`: the busy
 * place gives blocks another size. `places`: there are 256 busy places, which take turns.
 * `wrapped`: both call a function that allocates for them. `filtered`: the single block comes
 * first, and all others come under a seccomp filter, where none is guarded.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#define KEPT 64
#define BLOCK 24
#define SIZE(i) (16 + (size_t)((i)*7 % 200))

static char *volatile kept[KEPT];

__attribute__((noinline)) static void spoil(volatile char *block)
{
	block[BLOCK] = 2;
}

__attribute__((noinline)) static void work(long pairs)
{
	for (long i = 0; i < pairs; i++) {
		free(kept[i % KEPT]);
		kept[i % KEPT] = malloc(SIZE(i));
	}
}

__attribute__((noinline)) static void work_resizing(long pairs)
{
	for (long i = 0; i < pairs; i++)
		kept[i % KEPT] = realloc(kept[i % KEPT], SIZE(i));
}

__attribute__((noinline)) static char *make(size_t size)
{
	char *block = malloc(size);

	if (!block)
		abort();
	return block;
}

__attribute__((noinline)) static void work_wrapped(long pairs)
{
	for (long i = 0; i < pairs; i++) {
		free(kept[i % KEPT]);
		kept[i % KEPT] = make(SIZE(i));
	}
}

#define PLACE                             \
	free(kept[i % KEPT]);             \
	kept[i % KEPT] = malloc(SIZE(i)); \
	i++;
#define PLACES_4 PLACE PLACE PLACE PLACE
#define PLACES_16 PLACES_4 PLACES_4 PLACES_4 PLACES_4
#define PLACES_64 PLACES_16 PLACES_16 PLACES_16 PLACES_16

__attribute__((noinline)) static void work_at_places(long pairs)
{
	for (long i = 0; i < pairs;) {
		PLACES_64 PLACES_64 PLACES_64 PLACES_64
	}
}

/* Everything stays allowed. */
static void filter(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {1, &allow};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		abort();
}

int main(int argc, char **argv)
{
	long pairs = argc > 1 ? atol(argv[1]) : 0;
	const char *way = argc > 2 ? argv[2] : "";
	char *block = NULL;

	if (strcmp(way, "filtered") == 0) {
		block = malloc(BLOCK);
		spoil(block);
		free(block);
		filter();
		work(pairs);
		return 0;
	}
	if (strcmp(way, "realloc") == 0)
		work_resizing(pairs);
	else if (strcmp(way, "places") == 0)
		work_at_places(pairs);
	else if (strcmp(way, "wrapped") == 0)
		work_wrapped(pairs);
	else
		work(pairs);
	if (strcmp(way, "moved") == 0) {
		block = realloc(kept[0], BLOCK);
		kept[0] = NULL;
	} else if (strcmp(way, "wrapped") == 0) {
		block = make(BLOCK);
	} else {
		block = malloc(BLOCK);
	}
	spoil(block);
	free(block);
	for (int i = 0; i < KEPT; i++)
		free(kept[i]);
	return 0;
}
