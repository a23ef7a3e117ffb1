/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/window.h"

#include <errno.h>

static void read_piece(struct insn_window *window, uint64_t at, uint64_t end)
{
	const size_t most = sizeof(window->bytes), wanted = end - at < most ? end - at : most;

	window->at = at;
	window->length = window->read(window->context, at, window->bytes, wanted);
}

int insn_window_decode(struct insn_window *window, uint64_t at, uint64_t end, struct insn *insn)
{
	const uint64_t beyond = window->at + window->length;

	if (!window->length || (at + INSN_MAX_LENGTH > beyond && beyond < end))
		read_piece(window, at, end);
	if (at - window->at >= window->length)
		return -EFAULT;
	return insn_decode(window->bytes + (at - window->at), window->length - (at - window->at),
			   at, insn);
}
