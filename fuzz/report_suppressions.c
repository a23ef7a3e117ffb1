/* SPDX-License-Identifier: Apache-2.0 */
/* Anybody's suppressions and queries, matched against one finding. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "store/query.h"
#include "suppression/suppressions.h"

static struct finding *make_finding(void)
{
	struct finding *finding = finding_create(FINDING_DATA_RACE);
	int side, depth;

	for (side = 0; side < 2; side++) {
		struct finding_access *access = finding_add_access(finding);

		for (depth = 0; depth < 40; depth++) {
			struct finding_frame *frame = finding_add_frame(finding, &access->stack);

			frame->function =
				finding_format(finding, "aaaaaaaaaaaaaaaaaaaaaa%d", depth);
			frame->file = "/src/a.c";
			frame->module = "/usr/lib/libaaa.so.1";
		}
	}
	finding_identify(finding);
	return finding;
}

static void try_query(const char *text, const struct finding *finding)
{
	struct query query = {.count = 0};
	struct report_error error;

	if (!query_add(&query, text, &error))
		query_selects(&query, finding);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct finding *finding;
	struct suppressions *suppressions = suppressions_create();
	struct report_error error;
	char *text = malloc(size + 1);

	if (!finding)
		finding = make_finding();
	memcpy(text, data, size);
	text[size] = '\0';
	suppressions_parse(suppressions, "fuzz", text, size, &error);
	suppressions_match(suppressions, finding);
	try_query(text, finding);
	suppressions_destroy(suppressions);
	free(text);
	return 0;
}
