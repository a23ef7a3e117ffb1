/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses to judge. "plain:" marks lines with an access that must come out as plain; "atomic:"
 * marks lines where nothing may.
 */
#include <ck_pr.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <urcu/uatomic.h>
#include <urcu/system.h>
#include "atomics.h"

struct item {
	struct item *next;
	int flags;
	unsigned long bytes;
	_Atomic int references;
	atomic_bool dead;
	volatile int state;
	unsigned tick; /* used through macros */
};

int counter, other, shared[16];
struct item *head;
static _Atomic long total;
atomic_int *indirect;
volatile int stop;
unsigned long bits;

struct pair {
	int first, second;
} pair;
static struct pair *const alias = &pair; /* of the same object */

typedef _Atomic int reading;
#define SHARED(type) static _Atomic type
SHARED(int) gauge;
reading hits, *busiest = &hits;
_Atomic(long) sums[4];

#define LOCAL_LOAD(place) __atomic_load_n(&(place), __ATOMIC_RELAXED)
#define TICK(item) LOCAL_LOAD((item)->tick)
#define PLAIN_FLAGS(item) ((item)->flags)
#define SET(item, value) ((item)->flags = (value))
#define ONCE(place) (*(volatile __typeof__(place) *)&(place))

__attribute__((noinline)) int plain_accesses(struct item *item, int n)
{
	int sum = 0;

	counter++;		  /* plain: */
	counter = counter + n;	  /* plain: */
	item->flags = n;	  /* plain: */
	item->next->bytes += 3;	  /* plain: */
	sum += shared[n & 15];	  /* plain: */
	shared[(n + 1) & 15] = 5; /* plain: */
	SET(item->next, n);	  /* plain: */
	if (head->flags == 7)	  /* plain: */
		sum++;
	sum += PLAIN_FLAGS(head->next);		    /* plain: */
	for (struct item *i = head; i; i = i->next) /* plain: */
		sum += (int)i->bytes;		    /* plain: */
	*(int *)item = 0;			    /* plain: */
	free(item->next);			    /* plain: */
	return sum + other;			    /* plain: */
}

__attribute__((noinline)) int c11(struct item *item, int n)
{
	int sum = atomic_load_explicit(&item->references, memory_order_relaxed); /* atomic: */

	atomic_store_explicit(&item->references, n, memory_order_relaxed); /* atomic: */
	sum += (int)atomic_load(&total);				   /* atomic: */
	sum += item->references;					   /* atomic: */
	item->dead = true;						   /* atomic: */
	total = n;							   /* atomic: */
	sum += *indirect;						   /* atomic: */
	sum += item->state;						   /* atomic: */
	stop = 1;							   /* atomic: */
	atomic_fetch_add_explicit(					   /* atomic: */
				  &item->references,			   /* atomic: */
				  1,					   /* atomic: */
				  memory_order_relaxed);		   /* atomic: */
	return sum;
}

__attribute__((noinline)) int c11_declared(_Atomic int *where, int n)
{
	hits = n;	    /* atomic: */
	*busiest = n;	    /* atomic: */
	sums[n & 3] = n;    /* atomic: */
	gauge = n;	    /* atomic: */
	*where = n;	    /* atomic: */
	return (int)(*where /* atomic: */
		     + hits + sums[n & 1] + gauge);
}

__attribute__((noinline)) int builtins(struct item *item, int n)
{
	int sum = __atomic_load_n(&counter, __ATOMIC_RELAXED); /* atomic: */

	__atomic_store_n(&item->flags, n, __ATOMIC_RELAXED); /* atomic: */
	sum += (int)LOCAL_LOAD(item->bytes);		     /* atomic: */
	sum += (int)TICK(item);				     /* atomic: */
	sum += HEADER_LOAD(&counter);			     /* atomic: */
	HEADER_STORE(&counter, sum);			     /* atomic: */
	sum += ONCE(other);				     /* atomic: */
	sum += header_function(&other);			     /* atomic: */
	ONCE(item->flags) = 3;				     /* atomic: */
	while (						     /* atomic: */
	       __atomic_load_n(&other,			     /* atomic: */
			       __ATOMIC_ACQUIRE) == 12345)   /* atomic: */
		sum++;
	pair.first = n +				  /* plain: */
		     __atomic_load_n(&alias->second,	  /* atomic: */
				     __ATOMIC_RELAXED);	  /* atomic: */
	return sum + (int)__sync_fetch_and_add(&bits, 1); /* atomic: */
}

__attribute__((noinline)) int libraries(struct item *item, int n)
{
	int sum = ck_pr_load_int(&counter); /* atomic: */

	ck_pr_store_int(&item->flags, n);    /* atomic: */
	ck_pr_store_ptr(&head, item);	     /* atomic: */
	sum += uatomic_read(&counter);	     /* atomic: */
	uatomic_set(&other, n);		     /* atomic: */
	sum += CMM_LOAD_SHARED(item->flags); /* atomic: */
	CMM_STORE_SHARED(item->flags, 2);    /* atomic: */
	return sum;
}

__attribute__((noinline)) int assembly(struct item *item, int n)
{
	int sum;

	__asm__ volatile("movl %1, %0" : "=r"(sum) : "m"(item->flags)); /* atomic: */
	__asm__ volatile("movl %1, %0"					/* atomic: */
			 : "=m"(counter)				/* atomic: */
			 : "r"(n));					/* atomic: */
	return sum;
}

int main(void)
{
	struct item *item = calloc(1, sizeof(*item));
	static atomic_int number;

	item->next = calloc(1, sizeof(*item));
	head = item;
	indirect = &number;
	return plain_accesses(item, 1) + c11(item, 2) + c11_declared(indirect, 3) +
	       builtins(item, 3) + libraries(item, 4) + assembly(item, 5);
}
