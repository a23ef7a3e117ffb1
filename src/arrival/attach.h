/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that started us themselves. */
#ifndef ARRIVAL_ATTACH_H
#define ARRIVAL_ATTACH_H

#include "arrival/linger.h"

/* Has everything to be watched ended? */
bool attach_is_over(struct linger *linger, struct program *program);

#endif
