/* SPDX-License-Identifier: Apache-2.0 */
/* A tool's report, made whole: stacks, names, the object. */
#ifndef TOOL_FINDING_H
#define TOOL_FINDING_H

#include "record/finding.h"
#include "tool/host.h"

struct finding *finding_complete(struct tl_host *host, const struct tl_report *report);

#endif
