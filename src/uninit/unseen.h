/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may have written to a block or a frame without tripping a watch. First, the kernel, where it
 * does not write by the program's own addresses: devices transfer into pinned pages (O_DIRECT),
 * io_uring writes from its own threads or into registered buffers, and another file may be mapped
 * in the memory's place. Second, threads that block SIGTRAP by a system call of their own (those of
 * glibc's aio_read(3)): of their hits there is only the kernel's count. Accepted losses: another
 * process that writes (process_vm_writev(2)), pages that drivers have pinned, and what io_submit(2)
 * has read where the file system does not count that as storage.
 */
#ifndef UNINIT_UNSEEN_H
#define UNINIT_UNSEEN_H

#include "uninit/words.h"

/* To be called as the block is born or the frame is entered: notes how many bytes the process has
 * read by then, where that matters. */
void unseen_note_reads(struct origin *origin);

/* Who may have written the bytes at `address` since then, as a sentence for the finding. NULL:
 * nobody. */
const char *unseen_writer(const struct origin *origin, uint64_t address);

/* Does a thread of the process block SIGTRAP by a system call of its own, other than `held`, which
 * waits in a handler of ours? True also where that is not known. */
bool unseen_blocks(pid_t pid, pid_t held);

#endif
