/* SPDX-License-Identifier: Apache-2.0 */
/* Where in a process our memory is in no one's way. */
#ifndef INJECT_GAP_H
#define INJECT_GAP_H

#include <stdint.h>
#include <sys/types.h>

/*
 * An address in the middle of the largest piece of the address space that nothing is mapped in; 0:
 * not known. The kernel puts what nobody asked a place for where the program has just unmapped
 * something: a program that still counts on that being empty would find ours there.
 */
uint64_t gap_find(pid_t pid);

#endif
