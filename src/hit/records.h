/* SPDX-License-Identifier: Apache-2.0 */
/* Records that are told one by one in the order in which they were made, and then forgotten: no hit
 * is kept and none is paired. The controller's thread runs it. */
#ifndef HIT_RECORDS_H
#define HIT_RECORDS_H

#include "hit/collect.h"

struct records_reader {
	/* Of the record as the program may still change it; NULL: all are. */
	bool (*wanted)(struct program *program, const struct area_hit *record);
	void (*tell)(struct program *program, const struct area_hit *copy);
	void (*taken)(struct program *program, const struct area_hit *copy); /* or NULL */
};

/* Copies, tells and takes back each record that is wanted. */
void records_collect(struct hits *hits, const struct records_reader *reader);

#endif
