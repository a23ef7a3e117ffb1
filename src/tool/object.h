/* SPDX-License-Identifier: Apache-2.0 */
/* The object of a finding, where the tool knows better than debug information. */
#ifndef TOOL_OBJECT_H
#define TOOL_OBJECT_H

#include "record/finding.h"
#include "tool/host.h"

void object_complete(struct tl_host *host, struct finding *finding, const struct tl_report *report);

#endif
