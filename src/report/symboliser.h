/* SPDX-License-Identifier: Apache-2.0 */
/* The modules that findings name, from whatever process and machine, as one address space. */
#ifndef REPORT_SYMBOLISER_H
#define REPORT_SYMBOLISER_H

#include "module/module.h"
#include "reader/open.h"
#include "record/finding.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the address space for one module: no file's own addresses are larger, but for kernels'.
 */
#define SYMBOLISER_RANGE (UINT64_C(1) << 40)

struct symboliser {
	struct symbol_modules *modules;
	struct symboliser_module {
		char *path;
		char *build_id; /* "" for none */
	} * ranges; /* of index i: [(i + 1) * SYMBOLISER_RANGE, (i + 2) * SYMBOLISER_RANGE) */
	size_t count, capacity;
	bool anew; /* findings that have their names, too */
};

/* Directories and time bound are those of the symbol session, which must outlive this. 0 or -errno.
 */
int symboliser_create(struct symboliser **symboliser, struct symbol_session *session);
void symboliser_destroy(struct symboliser *symboliser); /* NULL is allowed */

/* Debug information or sources were given, which may tell more than there was when a finding was
 * made: judge those, too, whose frames have their names. */
void symboliser_judge_all(struct symboliser *symboliser);

/* Where the module begins in the address space; 0 or -errno. `build_id` may be NULL. */
int symboliser_range(struct symboliser *symboliser, const char *module, const char *build_id,
		     uint64_t *start);
/* The modules, and where in them the frame's code is; NULL: it is in none that is known. */
struct symbol_modules *symboliser_find(struct symboliser *symboliser,
				       const struct finding_frame *frame, uint64_t *pc);

#endif
