/* SPDX-License-Identifier: Apache-2.0 */
/* What this tool counts, for --stats. */
#include "stack/counts.h"

#include <stddef.h>

const struct tl_count stack_counts[] = {
	{"stack-functions", "functions whose code was looked at, as their processes ended"},
	{"stack-sites",
	 "of their instructions, those at which the address of a local leaves its frame"},
	{"stack-victims",
	 "of the functions, those whose frames may be written beyond their arrays"},
	{"stack-functions-dropped", "functions and sites left out for want of room"},
	{"stack-processes-full", "processes not looked at: too many run at once"},
	{"stack-tasks-full", "watches not begun: too many are under way"},
	{"stack-busy", "watches not placed: all slots were taken"},
	{"stack-unarmed", "watches not placed: the slot could not be opened"},
	{"stack-plans", "times that what to watch was chosen anew, with --all"},
	{"stack-sites-watched", "sites watched until a thread comes there"},
	{"stack-escapes-unknown", "threads met at one whose frame could not be found"},
	{"stack-dangling",
	 "times that a pointer into a frame was still there when the frame was gone"},
	{"stack-dangling-loads", "loads of such a pointer"},
	{"stack-dangling-compared",
	 "of these, by an instruction that leaves it in no register, as one that compares it"},
	{"stack-frames-guarded", "live frames one of whose words was watched for a write"},
	{"stack-frames-passed",
	 "calls of the function named that were not looked at: another thread's frame was guarded"},
	{"stack-suspects",
	 "instructions watched since a sample showed one accessing a frame that is gone"},
	{"hidden-guessed", "accesses not told of: the instruction is not certain"},
	{"hidden-call-stack", "accesses not told of: calls and returns themselves"},
	{"hidden-own-frame", "uses not told of: a new frame's own, where the one that is gone was"},
	{"hidden-new-owner", "uses not told of: another thread has the stack now"},
	{"hidden-library",
	 "accesses not told of: by the C library, as it hands stacks on or leaves frames"},
	{"hidden-live-frame", "uses not told of: as far as is known, the memory is a live frame's"},
	{"hidden-owner-runs", "uses not told of: nothing tells where the stack's owner is by now"},
	{"hidden-prologue", "writes not told of: a function that begins saves registers there"},
	{"hidden-frame-gone", "writes not told of: the frame was gone"},
	{"hidden-copied-stack", "writes not told of: a stack that is copied to where it was"},
	{NULL, NULL},
};
