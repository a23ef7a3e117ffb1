/* SPDX-License-Identifier: Apache-2.0 */
/* `trapline race`: find data races in a program. */
#include "cli/command.h"
#include "cli/detect.h"
#include "race/race.h"

int command_race(int argc, char **argv)
{
	return detect_run(argc, argv, &race_tool, NULL);
}
