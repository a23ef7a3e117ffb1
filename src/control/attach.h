/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that started us themselves. */
#ifndef CONTROL_ATTACH_H
#define CONTROL_ATTACH_H

#include "control/control.h"

/* Has everything to be watched ended? */
bool attach_is_over(struct control *control);

#endif
