/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_PIDFD_H
#define BASE_PIDFD_H

#include <stdbool.h>

/* Has the process ended, whether it was waited for or not? False too where `pidfd` is -1. */
bool pidfd_has_ended(int pidfd);

#endif
