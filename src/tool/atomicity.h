/* SPDX-License-Identifier: Apache-2.0 */
/* What the symbols say of an access, in the words of the tool interface. */
#ifndef TOOL_ATOMICITY_H
#define TOOL_ATOMICITY_H

#include "atomicity/atomicity.h"

#include <trapline/tool.h>

static inline enum tl_atomicity tool_atomicity(enum symbol_atomicity atomicity)
{
	switch (atomicity) {
	case SYMBOL_ATOMICITY_ATOMIC:
		return TL_ATOMICITY_ATOMIC;
	case SYMBOL_ATOMICITY_PLAIN:
		return TL_ATOMICITY_PLAIN;
	case SYMBOL_ATOMICITY_VOLATILE:
		return TL_ATOMICITY_VOLATILE;
	case SYMBOL_ATOMICITY_MIXED:
		return TL_ATOMICITY_MIXED;
	case SYMBOL_ATOMICITY_ORDERED:
		return TL_ATOMICITY_ORDERED;
	default:
		return TL_ATOMICITY_UNKNOWN;
	}
}

static inline enum symbol_load tool_kind_of_load(const struct tl_access *access)
{
	if ((access->access & (TL_READ | TL_WRITE)) != TL_READ)
		return SYMBOL_LOAD_NONE;
	return access->traits & TL_TRAIT_OPERAND ? SYMBOL_LOAD_OPERAND : SYMBOL_LOAD_MOVE;
}

#endif
