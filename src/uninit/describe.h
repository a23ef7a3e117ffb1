/* SPDX-License-Identifier: Apache-2.0 */
/* A finding of this tool, in words. */
#ifndef UNINIT_DESCRIBE_H
#define UNINIT_DESCRIBE_H

#include "uninit/rules.h"
#include "uninit/words.h"

struct describe_load {
	const struct tl_access *access;
	const struct word *word;
	uint8_t bytes; /* of the word: those that nobody wrote and that were loaded, a bit each */
	const struct shadow_found *found;
	bool sent; /* a system call read them */
};

void uninit_describe(struct tl_host *host, const struct tl_services *services,
		     const struct describe_load *load, const struct rules_verdict *verdict);

#endif
