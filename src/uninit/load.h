/* SPDX-License-Identifier: Apache-2.0 */
/* A load of a watched word. */
#ifndef UNINIT_LOAD_H
#define UNINIT_LOAD_H

#include "uninit/state.h"

void uninit_loaded(struct uninit *uninit, const struct tl_access *access, struct word *word);

#endif
