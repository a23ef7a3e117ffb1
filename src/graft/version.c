/* SPDX-License-Identifier: Apache-2.0 */
#include "graft/version.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct records {
	const uint8_t *bytes;
	uint64_t length;
	unsigned left; /* that may still be looked at */
};

static bool take(struct records *records, uint64_t offset, void *to, size_t length)
{
	if (!records->left || offset > records->length || length > records->length - offset)
		return false;
	records->left--;
	memcpy(to, records->bytes + offset, length);
	return true;
}

uint64_t version_needed(const uint8_t *bytes, uint64_t length, unsigned number)
{
	struct records records = {bytes, length, VERSION_RECORDS_MOST};
	uint64_t at_need = 0;
	Elf64_Verneed need;
	Elf64_Vernaux one;

	while (take(&records, at_need, &need, sizeof(need))) {
		uint64_t at_one = at_need + need.vn_aux;

		for (unsigned i = 0; i < need.vn_cnt && take(&records, at_one, &one, sizeof(one));
		     i++) {
			if ((one.vna_other & VERSION_NUMBER) == number)
				return one.vna_name;
			at_one += one.vna_next;
		}
		if (!need.vn_next)
			break;
		at_need += need.vn_next;
	}
	return 0;
}
