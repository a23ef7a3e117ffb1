/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the frame description entry of a place in the code by .eh_frame_hdr. */
#ifndef UNWIND_TABLE_H
#define UNWIND_TABLE_H

#include "unwind/cfi.h"
#include "unwind/object.h"

/* The entry that covers `pc`, in bytes handed in. 0 or -ENOENT. */
int table_search(const struct object *object, uint64_t pc, struct cfi_entry *entry);

/* The same in this process: also tells the object. */
int table_find(uintptr_t pc, struct object *object, struct cfi_entry *entry);

#endif
