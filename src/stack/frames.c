/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/frames.h"

#include "control/control.h"
#include "hit/stack.h"
#include "symbol/stack.h"

int frames_of(struct space *space, const struct tl_access *access, struct tl_frame_place *frames,
	      int max)
{
	static struct symbol_stack_frame found[FRAMES_MAX]; /* one thread; large */
	struct symbol_memory memory = symbol_memory_of_process(access->pid);
	struct symbol_stack_source source;
	bool complete;
	int count;

	if (!space || !access->stack)
		return 0;
	source = hit_stack_source(access->stack, &memory);
	count = (int)symbol_stack_unwind(space_modules(space), &source, found,
					 (size_t)(max < FRAMES_MAX ? max : FRAMES_MAX), &complete);
	for (int i = 0; i < count; i++) {
		frames[i] = (struct tl_frame_place){.pc = found[i].pc};
		if (found[i].has_cfa)
			frames[i].cfa = found[i].cfa;
		if (found[i].has_cfa && !found[i].signal)
			frames[i].return_slot = found[i].cfa - sizeof(uint64_t);
	}
	return count;
}

int frames_find(const struct tl_frame_place *frames, int count, uint64_t pointer, uint64_t address)
{
	if (address < pointer - RULES_RED_ZONE)
		return -1;
	for (int i = 0; i < count && frames[i].cfa; i++)
		if (address < frames[i].cfa)
			return i;
	return -1;
}

unsigned frames_pcs(const struct tl_frame_place *frames, int count, uint64_t *pcs, unsigned max)
{
	unsigned taken = 0;

	for (int i = 0; i < count && taken < max; i++)
		pcs[taken++] = frames[i].pc;
	return taken;
}
