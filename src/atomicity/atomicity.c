/* SPDX-License-Identifier: Apache-2.0 */
#include "atomicity/atomicity.h"

#include "atomicity/evidence.h"
#include "dwarf/atomic_names.h"
#include "dwarf/unit.h"
#include "elf/metadata.h"
#include "elf/object.h"
#include "elf/sequences.h"
#include "session/asking.h"
#include "session/session.h"
#include "source/source.h"
#include "symbol/place.h"

#include <stdio.h>

static bool judge_metadata(struct symbol_object *object, uint64_t address,
			   enum symbol_atomicity *answer, char *reason)
{
	switch (symbol_metadata_judge(object, address)) {
	case SYMBOL_METADATA_ATOMIC:
		*answer = SYMBOL_ATOMICITY_ATOMIC;
		snprintf(reason, SYMBOL_REASON_MAX, "the compiler's metadata lists it as atomic");
		return true;
	case SYMBOL_METADATA_PLAIN:
		*answer = SYMBOL_ATOMICITY_PLAIN;
		snprintf(reason, SYMBOL_REASON_MAX,
			 "the compiler's metadata covers its function and does not list it");
		return true;
	default:
		return false;
	}
}

/* Whatever comes between, the kernel begins it anew: towards others on its CPU it is one operation.
 */
static bool judge_sequence(struct symbol_object *object, uint64_t address,
			   enum symbol_atomicity *answer, char *reason)
{
	if (!symbol_sequence_has(object, address))
		return false;
	*answer = SYMBOL_ATOMICITY_ATOMIC;
	snprintf(reason, SYMBOL_REASON_MAX, "it is in a restartable sequence");
	return true;
}

/* Inlined or not: the code belongs to something that is atomic by name. */
static bool judge_frames(const struct symbol_frame *frames, size_t count,
			 enum symbol_atomicity *answer, char *reason)
{
	for (size_t i = 0; i < count; i++) {
		const struct symbol_frame *frame = &frames[i];

		if ((frame->function && symbol_atomic_function_name(frame->function)) ||
		    (frame->linkage && symbol_atomic_function_name(frame->linkage)) ||
		    (i == 0 && frame->function && symbol_atomic_counting(frame->function))) {
			*answer = SYMBOL_ATOMICITY_ATOMIC;
			snprintf(reason, SYMBOL_REASON_MAX, "it is in %.200s", frame->function);
			return true;
		}
		if (i == 0 && frame->file && symbol_atomic_file(frame->file)) {
			*answer = SYMBOL_ATOMICITY_ATOMIC;
			snprintf(reason, SYMBOL_REASON_MAX, "its code comes from %.200s",
				 frame->file);
			return true;
		}
	}
	return false;
}

/* Of a local static's initialisation: compilers and the C++ runtime access it by atomic operations
 * whatever the line is (Itanium C++ ABI, 3.3.3). */
static bool is_guard_variable(const struct symbol_variable *variable)
{
	return variable && variable->name &&
	       (strncmp(variable->name, "_ZGV", 4) == 0 ||
		strncmp(variable->name, "guard variable for ", 19) == 0);
}

static bool judge_variable(const struct symbol_variable *variable, enum symbol_atomicity *answer,
			   char *reason)
{
	if (is_guard_variable(variable)) {
		*answer = SYMBOL_ATOMICITY_ATOMIC;
		snprintf(reason, SYMBOL_REASON_MAX, "it is the guard of a local static");
		return true;
	}
	if (!variable || !variable->typed)
		return false;
	if (variable->is_atomic) {
		*answer = SYMBOL_ATOMICITY_ATOMIC;
		snprintf(reason, SYMBOL_REASON_MAX, "%.80s is declared %.120s", variable->path,
			 variable->type);
		return true;
	}
	return false;
}

enum symbol_atomicity symbol_atomicity_judge(struct symbol_modules *modules, uint64_t pc,
					     const struct symbol_variable *variable,
					     enum symbol_load load, char reason[SYMBOL_REASON_MAX])
{
	enum symbol_atomicity answer = SYMBOL_ATOMICITY_UNKNOWN;
	int told;
	struct symbol_frame frames[SYMBOL_INLINE_MAX];
	const struct symbol_module *module;
	struct symbol_object *object;
	size_t count;

	if (SYMBOL_ASK(symbol_modules_session(modules), atomicity, modules, pc, variable, load,
		       reason, &told))
		return (enum symbol_atomicity)told;
	module = symbol_modules_find(modules, pc);
	object = module ? symbol_module_object(modules, module) : NULL;
	if (!object) {
		snprintf(reason, SYMBOL_REASON_MAX, "no program file for its code");
		return SYMBOL_ATOMICITY_UNKNOWN;
	}
	count = symbol_place_find(modules, pc, false, frames, SYMBOL_INLINE_MAX);
	if (judge_sequence(object, pc - module->bias, &answer, reason) ||
	    judge_metadata(object, pc - module->bias, &answer, reason) ||
	    judge_frames(frames, count, &answer, reason) ||
	    judge_variable(variable, &answer, reason))
		return answer;
	return symbol_evidence_from_source(object, pc - module->bias, &frames[0], variable, load,
					   reason);
}
