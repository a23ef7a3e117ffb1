/* SPDX-License-Identifier: Apache-2.0 */
/* What a run looked at and what not, in the summary at its end: nothing found says little where
 * little was seen. */
#ifndef CLI_LOOKED_H
#define CLI_LOOKED_H

#include "cli/statistics.h"

/* Some lines; none where no code of the program was seen. */
void looked_tell(const struct statistics *statistics, FILE *stream);

#endif
