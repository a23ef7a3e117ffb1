/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SECCOMP_RUN_H
#define BASE_SECCOMP_RUN_H

#include <linux/filter.h>

struct seccomp_data;

/* The verdict of one filter, SECCOMP_RET_* with its data; killing where it is none that the kernel
 * would take. A pure function. */
unsigned seccomp_run(const struct sock_filter *code, unsigned length,
		     const struct seccomp_data *call);

#endif
