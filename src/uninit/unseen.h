/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What may have written to a block or a frame so that no watch of the program's memory trips: the
 * kernel, where it does not use the program's own addresses. Devices transfer into pages that are
 * pinned (O_DIRECT), io_uring's threads and registered buffers are written elsewhere, and another
 * file may be mapped in the memory's place. And threads that block SIGTRAP by a system call of
 * their own (those of glibc's aio_read(3)), whose hits are counted by the kernel alone. Not seen
 * either, and accepted: another process that writes (process_vm_writev(2)), pages pinned for
 * drivers, and those that io_submit(2) has read where that is not counted as storage.
 */
#ifndef UNINIT_UNSEEN_H
#define UNINIT_UNSEEN_H

#include "uninit/words.h"

/* To be asked as the block is born or the frame entered: what its process has had read until then,
 * where that is of account. */
void unseen_note_reads(struct origin *origin);

/* Of bytes at `address`, as evidence: who may have written them since. NULL: nobody. */
const char *unseen_writer(const struct origin *origin, uint64_t address);

/* Does a thread of the process block SIGTRAP by a system call of its own, other than `held`, which
 * waits in a handler of ours? True also where that is not known. */
bool unseen_blocks(pid_t pid, pid_t held);

#endif
