/* SPDX-License-Identifier: Apache-2.0 */
/* What must be done before the program restricts its own system calls. */
#ifndef LIFE_FILTER_H
#define LIFE_FILTER_H

/* prctl(2) and seccomp(2) are about to be called. */
void filter_before_prctl(long option, long value, long filter);
void filter_before_seccomp(long operation, long filter);

#endif
