/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of any length is watched by as many slots as it takes, or else as a region. */
#include "watch/data.h"

#include "watch/piece.h"
#include "watch/region.h"
#include "watch/scouts.h"
#include "watch/state.h"
#include "watch/watched.h"

#include <errno.h>

static int arm_pieces(struct watch *watch, struct watched *process, struct piece wish)
{
	uint64_t left = process->target[wish.wanted].length;

	while (left) {
		int err;

		wish.length = piece_length(wish.address, left);
		/* A variable that has moved may need more slots than before; a scout that has one
		 * gives it up. */
		scouts_give_way(watch, process, 1);
		err = watch_arm_wish(watch, process, &wish);
		if (err) {
			watch_disarm_whole(watch, process, wish.wanted, wish.start);
			return err;
		}
		wish.address += wish.length;
		left -= wish.length;
	}
	return 0;
}

int watch_arm_data(struct watch *watch, struct watched *process, unsigned wanted, uint64_t start,
		   uint64_t block)
{
	struct piece wish = {.wanted = wanted, .start = start, .block = block, .address = start};
	uint64_t length = process->target[wanted].length;
	int err = -ENOSPC;

	if (!region_possible(watch, process) || !region_beside(process, start, length))
		err = arm_pieces(watch, process, wish);
	if (err != -ENOSPC || !region_possible(watch, process) || length > UINT32_MAX)
		return err;
	wish.length = (unsigned)length;
	return region_arm(watch, process, &wish);
}
