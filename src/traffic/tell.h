/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of the flow tools: one or two accesses, with figures as members of their own. */
#ifndef TRAFFIC_TELL_H
#define TRAFFIC_TELL_H

#include "traffic/edges.h"

#define FLOW_DETAILS 12
#define FLOW_DETAIL_TEXT 160

struct flow_finding {
	const char *kind, *message;
	const struct tl_object *object; /* NULL: debug information says what it is */
	unsigned rank;
	struct tl_access access[2];
	struct tl_moment stack[2];
	size_t accesses;
	struct tl_detail detail[FLOW_DETAILS];
	char text[FLOW_DETAILS][FLOW_DETAIL_TEXT];
	size_t details;
};

/* Adds "NAME": text. More than FLOW_DETAILS is a defect of ours, and left out. */
void flow_detail(struct flow_finding *finding, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Adds a share of `whole` ("stores", …) with its interval of 95 %, as percent, low, high, of. */
void flow_detail_share(struct flow_finding *finding, double share, double error, const char *whole);
/* Adds an access at a place, with the place's example as its stack. An `address` of 0 is not
 * known. */
void flow_add_place(struct flow_finding *finding, const struct flow_place *place,
		    unsigned operation, uint64_t address, uint64_t length);
/* Adds a stack to the access that was added last: how it was reached in this case, where its
 * place has been reached from elsewhere, too. */
void flow_add_stack(struct flow_finding *finding, const uint64_t *pcs, unsigned count);
void flow_tell(struct tl_host *host, const struct tl_services *services,
	       const struct flow_finding *finding);

#endif
