/* SPDX-License-Identifier: Apache-2.0 */
/* All the bytes that a system call has received: a hit tells only those in its own word. */
#ifndef UNINIT_RECEIVED_H
#define UNINIT_RECEIVED_H

#include <trapline/tool.h>

#include <stdbool.h>

/* `whole` is `access` with the bytes that the call wrote by its arguments and its result. False:
 * these do not tell it, or not by one buffer. */
bool uninit_received(const struct tl_access *access, struct tl_access *whole);

#endif
