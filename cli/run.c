/* SPDX-License-Identifier: Apache-2.0 */
/* `trapline run --tool ./mine.so`: run a program under somebody's own detector. */
#include "cli/command.h"
#include "cli/detect.h"

#include <stddef.h>

int command_run(int argc, char **argv)
{
	return detect_run(argc, argv, NULL);
}
