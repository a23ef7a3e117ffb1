/* SPDX-License-Identifier: Apache-2.0 */
/* What the code around an access does with the value that it loads or stores. */
#ifndef TOOL_AROUND_H
#define TOOL_AROUND_H

#include "tool/host.h"

unsigned host_around(struct tl_host *host, const struct tl_access *access);

#endif
