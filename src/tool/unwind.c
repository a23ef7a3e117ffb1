/* SPDX-License-Identifier: Apache-2.0 */
/* The stack of a hit, as addresses. */
#include "tool/unwind.h"

#include "control/control.h"
#include "hit/stack.h"
#include "symbol/bounds.h"
#include "symbol/stack.h"
#include "tool/host.h"

#define FRAMES_MAX 64

static void copy_registers(const struct symbol_registers *from, struct tl_frame_place *to)
{
	for (unsigned i = 0; i < INSN_GENERAL; i++) {
		const unsigned number = symbol_register_encoded(i);

		if (!symbol_register_known(from, number))
			continue;
		to->general[i] = from->value[number];
		to->known |= (uint16_t)(1u << i);
	}
}

int host_unwind(struct tl_host *host, const struct tl_access *access, struct tl_frame_place *frames,
		size_t max)
{
	struct space *space = control_space(host->set->control, access->pid);
	/* Static, since it is large; one thread calls this. */
	static struct symbol_stack_frame found[FRAMES_MAX];
	struct symbol_stack_source source;
	uint64_t end;
	bool complete;
	size_t count;

	if (!space || !access->stack || !max)
		return 0;
	source = hit_stack_source(access->stack, NULL);
	count = symbol_stack_unwind(space_modules(space), &source, found,
				    max < FRAMES_MAX ? max : FRAMES_MAX, &complete);
	for (size_t i = 0; i < count; i++) {
		frames[i] = (struct tl_frame_place){.pc = found[i].pc, .cfa = found[i].cfa};
		copy_registers(&found[i].registers, &frames[i]);
		if (found[i].has_cfa && !found[i].signal)
			frames[i].return_slot = found[i].cfa - sizeof(uint64_t);
		symbol_bounds_whole(space_modules(space), found[i].pc - found[i].return_address,
				    &frames[i].function, &end);
	}
	return (int)count;
}
