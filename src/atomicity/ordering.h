/* SPDX-License-Identifier: Apache-2.0 */
/* Words of a source text that order memory: fences, barriers, inline assembly, atomic operations.
 */
#ifndef ATOMICITY_ORDERING_H
#define ATOMICITY_ORDERING_H

#include "atomicity/macro.h"
#include "source/source.h"
#include "source/token.h"

#include <stdbool.h>
#include <stddef.h>

/* How many of the tokens belong to `asm("" : …`, up to and with its empty text, if the first is the
 * `asm` of one without instructions that does not clobber memory; else 0. */
size_t symbol_ordering_empty_assembly(const struct symbol_source *source,
				      const struct symbol_token *token, size_t count);

/* Does the function around a line order memory, by such words of its own, by macros that have them,
 * or by calls of functions that do nothing else? `tokens` are the source's. */
bool symbol_ordering_near(const struct symbol_source *source, const struct symbol_tokens *tokens,
			  unsigned line, struct symbol_macros *macros);

#endif
