/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_REDACT_H
#define REPORT_REDACT_H

#include "record/finding.h"

/*
 * Takes out of a finding what should not leave the machine: values, addresses, directories of all
 * paths (base names stay, they make the report readable and the id is made of them), the host, and
 * numbers and paths inside evidence and message. The run becomes a hash of itself, so that merging
 * stays idempotent. Function, variable and thread names stay. 0 or -ENOMEM.
 */
int finding_redact(struct finding *finding);

#endif
