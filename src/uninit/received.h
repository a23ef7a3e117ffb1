/* SPDX-License-Identifier: Apache-2.0 */
/* All that a system call has received, of which a hit tells the part in its own word. */
#ifndef UNINIT_RECEIVED_H
#define UNINIT_RECEIVED_H

#include <trapline/tool.h>

#include <stdbool.h>

/* `whole` is `access` with the bytes that the call wrote by its arguments and its result. False:
 * these do not tell it, or not by one buffer. */
bool uninit_received(const struct tl_access *access, struct tl_access *whole);

#endif
