/* SPDX-License-Identifier: Apache-2.0 */
/* The loaded object around an address, and the bytes of its unwind tables. */
#ifndef UNWIND_OBJECT_H
#define UNWIND_OBJECT_H

#include "unwind/bytes.h"

struct object {
	struct bytes section;	  /* the mapped segment that holds .eh_frame_hdr and .eh_frame */
	uint64_t exception_table; /* address of .eh_frame_hdr, inside the section */
};

/* 0, or -ENOENT where no object is, or it has no tables we can prove to be mapped. */
int object_find(uintptr_t pc, struct object *object);

#endif
