/* SPDX-License-Identifier: Apache-2.0 */
/* A macro of a header that is not found, and in another unit a function of the same name. */
#ifdef OTHER_UNIT
int take(int value);

int take(int value)
{
	return value;
}
#else
#include <macros.h>

int shared, seen;

int main(void)
{
	seen = take(shared) +				/* doubted: */
	       take(shared);				/* doubted: */
	shared = 3;					/* plain: */
	__atomic_store_n(&shared, 4, __ATOMIC_RELAXED); /* atomic: */
	return 0;
}
#endif
