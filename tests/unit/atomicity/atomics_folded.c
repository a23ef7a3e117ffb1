/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atomic loads that are an operand of the instruction which uses their value, as LLVM and GCC 16
 * make them: the instruction has the line of the use. Compilers of today do not yet, so it is
 * written in assembly, on the line before it. "plain:" and "atomic:" as in atomics.c.
 */
struct item {
	int flags, size;
};

int counter, limit;

/* A comparison of `object` that belongs to the line before. */
#define COMPARE(object)                                                \
	__asm__ volatile(".loc 1 %c0 0\n\tcmpl $3, %1\n\t.loc 1 %c0 0" \
			 :                                             \
			 : "i"(__LINE__ - 1), "m"(object)              \
			 : "cc")

static inline int flags_of(struct item *item)
{
	return __atomic_load_n(&item->flags, __ATOMIC_RELAXED);
}

static inline int flags_within(struct item *item)
{
	return flags_of(item) & 7;
}

static inline int size_of(struct item *item)
{
	return item->size;
}

static inline int running(void)
{
	return __atomic_load_n(&counter, __ATOMIC_RELAXED);
}

__attribute__((noinline)) int by_variable(struct item *item, int n)
{
	int seen = __atomic_load_n(&item->flags, __ATOMIC_RELAXED), other = n, later;

	if (seen == n) { /* atomic: */
		COMPARE(item->flags);
	}
	if (other == n) { /* plain: */
		COMPARE(item->flags);
	}
	later = flags_of(item);
	if (later == 4) { /* atomic: */
		COMPARE(item->flags);
	}
	if (seen < limit) { /* plain: */
		COMPARE(limit);
	}
	return seen + other + later;
}

__attribute__((noinline)) int by_call(struct item *item, int n)
{
	if (flags_of(item) == n) { /* atomic: */
		COMPARE(item->flags);
	}
	if (flags_within(item) == 1) { /* atomic: */
		COMPARE(item->flags);
	}
	if (size_of(item) == n) { /* plain: */
		COMPARE(item->size);
	}
	/* The operation is on a variable that has a name. */
	while (running() && item->size < n) { /* plain: */
		COMPARE(item->size);
		n++;
	}
	return n;
}

int main(void)
{
	struct item item = {1, 2};

	return by_variable(&item, 1) + by_call(&item, 2);
}
