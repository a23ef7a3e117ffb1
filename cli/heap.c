/* SPDX-License-Identifier: Apache-2.0 */
/* `trapline heap`: find errors of a program with blocks of its heap. */
#include "heap/heap.h"

#include "cli/command.h"
#include "cli/detect.h"

int command_heap(int argc, char **argv)
{
	return detect_run(argc, argv, &heap_tool, NULL);
}
