/* SPDX-License-Identifier: Apache-2.0 */
/* What a run looked at and what it did not, in the summary at its end: that nothing was found says
 * little if little was looked at. */
#ifndef CLI_LOOKED_H
#define CLI_LOOKED_H

#include "cli/statistics.h"

/* Prints some lines; none if no code of the program was seen. */
void looked_tell(const struct statistics *statistics, FILE *stream);

#endif
