/* SPDX-License-Identifier: Apache-2.0 */
#include "traffic/tell.h"

#include <stdarg.h>
#include <stdio.h>

void flow_detail(struct flow_finding *finding, const char *name, const char *format, ...)
{
	va_list list;

	if (finding->details == FLOW_DETAILS)
		return;
	va_start(list, format);
	vsnprintf(finding->text[finding->details], FLOW_DETAIL_TEXT, format, list);
	va_end(list);
	finding->detail[finding->details] =
		(struct tl_detail){name, finding->text[finding->details]};
	finding->details++;
}

void flow_detail_share(struct flow_finding *finding, double share, double error, const char *whole)
{
	flow_detail(finding, "percent", "%.2f", 100 * share);
	flow_detail(finding, "low", "%.2f", 100 * flow_low(share, error));
	flow_detail(finding, "high", "%.2f", 100 * flow_high(share, error));
	flow_detail(finding, "of", "%s", whole);
}

void flow_add_place(struct flow_finding *finding, const struct flow_place *place,
		    unsigned operation, uint64_t address, uint64_t length)
{
	size_t i = finding->accesses;

	if (i == 2)
		return;
	finding->access[i] = (struct tl_access){.size = sizeof(struct tl_access),
						.pid = place->pid,
						.tid = place->tid,
						.pc = place->pc,
						.address = address,
						.length = length,
						.access = operation};
	finding->stack[i] = (struct tl_moment){.pcs = place->stack, .count = place->frames};
	finding->accesses++;
}

void flow_add_stack(struct flow_finding *finding, const uint64_t *pcs, unsigned count)
{
	if (finding->accesses && count)
		finding->stack[finding->accesses - 1] =
			(struct tl_moment){.pcs = pcs, .count = count};
}

void flow_tell(struct tl_host *host, const struct tl_services *services,
	       const struct flow_finding *finding)
{
	const struct tl_access *accesses[2] = {&finding->access[0], &finding->access[1]};
	struct tl_report report = {
		.size = sizeof(report),
		.kind = finding->kind,
		.certainty = TL_DEFINITE,
		.message = finding->message,
		.accesses = accesses,
		.access_count = finding->accesses,
		.rank = finding->rank,
		.object = finding->object,
		.details = finding->detail,
		.detail_count = finding->details,
		.stacks = finding->stack,
	};

	services->report(host, &report);
}
