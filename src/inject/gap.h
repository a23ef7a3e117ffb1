/* SPDX-License-Identifier: Apache-2.0 */
/* Where in a process our memory is in no one's way. */
#ifndef INJECT_GAP_H
#define INJECT_GAP_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Where the handler's memory and the area are to be; 0: anywhere. The kernel puts what nobody asked
 * a place for where the program has just unmapped something: a program that still counts on that
 * being empty would find ours there.
 */
struct gap {
	uint64_t image, area;
};

/*
 * The image lies above the first thread's stack, in what the page table of the stack's end spans:
 * the kernel puts nothing there later on. That table is there already, and so are those above it:
 * each new one takes some 50 microseconds in a virtual machine whose page tables the hypervisor
 * shadows, and as long again when the memory is unmapped, in the time that the thread is stopped.
 * Where there is no such room it lies before the area, in the middle of the largest piece of the
 * address space that nothing is mapped in.
 */
struct gap gap_find(pid_t pid, uint64_t image_size);

#endif
