/* SPDX-License-Identifier: Apache-2.0 */
/* Code that the program of shared.c and its library both have: the library has more of it. */
#ifdef SHARED_LIBRARY
__attribute__((noinline)) static int early(int value)
{
	return value * 5; /* line: early */
}
#endif

__attribute__((noinline)) static int late(int value)
{
	return value * 7;
}
