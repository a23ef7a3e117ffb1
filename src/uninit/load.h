/* SPDX-License-Identifier: Apache-2.0 */
/* What a load of a watched word comes to: it is hidden by a rule, followed and told, or its copies
 * are watched in turn. */
#ifndef UNINIT_LOAD_H
#define UNINIT_LOAD_H

#include "uninit/state.h"

void uninit_loaded(struct uninit *uninit, const struct tl_access *access, struct word *word);

#endif
