/* SPDX-License-Identifier: Apache-2.0 */
#include "uninit/received.h"

#include "insn/insn.h"

#include <sys/syscall.h>
#include <trapline/event.h>

#define BUFFER 1 /* the argument's number, of read(2) and pread(2) */
#define ASKED 2

bool uninit_received(const struct tl_access *access, struct tl_access *whole)
{
	const uint64_t *general;

	if (!(access->access & TL_WRITE) || !(access->traits & TL_TRAIT_CONTENT) ||
	    !access->registers || !access->call_known ||
	    (access->call != SYS_read && access->call != SYS_pread64))
		return false;
	general = access->registers->general;
	if ((int64_t)general[insn_arch.call_result] <= 0)
		return false;
	*whole = *access;
	whole->address = general[insn_arch.call_argument[BUFFER]];
	whole->length = general[insn_arch.call_argument[ASKED]];
	if (whole->length > general[insn_arch.call_result])
		whole->length = general[insn_arch.call_result];
	return access->address - whole->address < whole->length;
}
