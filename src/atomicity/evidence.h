/* SPDX-License-Identifier: Apache-2.0 */
/* What the source text says about an access. */
#ifndef ATOMICITY_EVIDENCE_H
#define ATOMICITY_EVIDENCE_H

#include "atomicity/atomicity.h"
#include "elf/object.h"
#include "symbol/place.h"

/* `address`: the file's own; `frame`: the innermost one there. */
enum symbol_atomicity symbol_evidence_from_source(struct symbol_object *object, uint64_t address,
						  const struct symbol_frame *frame,
						  const struct symbol_variable *variable,
						  enum symbol_load load,
						  char reason[SYMBOL_REASON_MAX]);

#endif
