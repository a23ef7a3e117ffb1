/* SPDX-License-Identifier: Apache-2.0 */
/* Atomic operations behind macros of a header that leaves no trace in debug information. */
#define HEADER_ORDER __ATOMIC_RELAXED
#define HEADER_LOAD(pointer) HEADER_LOAD_INNER(pointer, HEADER_ORDER)
#define HEADER_LOAD_INNER(pointer, order) __extension__({ __atomic_load_n((pointer), (order)); })
#define HEADER_STORE(pointer, value)                                \
	do {                                                        \
		__atomic_store_n((pointer), (value), HEADER_ORDER); \
	} while (0)

static inline int header_function(const int *pointer)
{
	return __atomic_load_n(pointer, __ATOMIC_RELAXED);
}
