/* SPDX-License-Identifier: Apache-2.0 */
/* `trapline stack`: uses of stack frames that are gone, and writes over live ones. */
#include "cli/command.h"
#include "cli/detect.h"
#include "stack/stack.h"

int command_stack(int argc, char **argv)
{
	return detect_run(argc, argv, &stack_tool, NULL);
}
