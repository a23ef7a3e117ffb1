/* SPDX-License-Identifier: Apache-2.0 */
/* `trapline uninit`: find reads of memory that nobody wrote. */
#include "uninit/uninit.h"

#include "cli/command.h"
#include "cli/detect.h"

int command_uninit(int argc, char **argv)
{
	return detect_run(argc, argv, &uninit_tool, NULL);
}
