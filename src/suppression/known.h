/* SPDX-License-Identifier: Apache-2.0 */
/* Races of runtimes that are known: the rules of known.supp, which come with trapline. */
#ifndef SUPPRESSION_KNOWN_H
#define SUPPRESSION_KNOWN_H

#include "suppression/suppressions.h"

#define KNOWN_DETAIL "known" /* of a finding: by which rule, "known:12" */

/* NULL: memory is short. */
struct suppressions *known_create(void);

#endif
