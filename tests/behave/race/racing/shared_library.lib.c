/* SPDX-License-Identifier: Apache-2.0 */
/* The library of shared_library.c: a histogram nobody locks. */
void library_record(int size);

static unsigned long histogram[8];

void library_record(int size)
{
	histogram[size & 1]++; /* RACE a */
}
