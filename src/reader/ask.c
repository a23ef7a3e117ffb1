/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/ask.h"

#include "module/modules.h"
#include "reader/questions.h"
#include "reader/reader.h"
#include "session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT 1024u /* functions, which are asked for at every hit */

struct kept_function {
	uint64_t version; /* of the modules; 0: free */
	uint64_t pc;
	struct kept_bounds {
		bool known;
		int result;
		uint64_t start, end;
	} bounds[2];	  /* of a part, of the whole */
	const char *name; /* NULL: not asked for, or not known so far */
};

struct symbol_answers {
	struct kept_function function[KEPT];
	struct symbol_ask_compilers compilers;
};

static bool has_reader(const struct symbol_modules *modules)
{
	return modules->session->reader != NULL;
}

/* Not on the stack: the larger ones take tens of kilobytes. One thread uses a session. */
static void *question(size_t size)
{
	static union symbol_any_question any;

	memset(&any, 0, size);
	return &any;
}

static struct symbol_answers *answers_of(struct symbol_modules *modules)
{
	if (!modules->answers)
		modules->answers = calloc(1, sizeof(*modules->answers));
	if (!modules->answers)
		symbol_count(modules->session, SYMBOL_STATISTIC_UNREAD);
	return modules->answers;
}

static void forget(struct symbol_modules *modules)
{
	symbol_reader_forget(modules);
	if (modules->answers)
		free((void *)modules->answers->compilers.text);
	free(modules->answers);
}

/* Whether it is worth a question: without a module there is no file. A program that has loaded
 * something since is looked at again. */
static bool is_mapped(struct symbol_modules *modules, uint64_t address)
{
	return has_reader(modules) && symbol_modules_find(modules, address);
}

static bool ask_place(struct symbol_modules *modules, uint64_t pc, bool return_address,
		      struct symbol_frame *frames, size_t max, size_t *count)
{
	struct symbol_ask_place *ask;

	if (!is_mapped(modules, pc - (return_address && pc > 0)))
		return false;
	ask = question(sizeof(*ask));
	ask->pc = pc;
	ask->return_address = return_address;
	ask->max = max < SYMBOL_INLINE_MAX ? max : SYMBOL_INLINE_MAX;
	if (!symbol_reader_ask(modules, SYMBOL_ASK_PLACE, ask, NULL))
		return false;
	memcpy(frames, ask->frames, ask->count * sizeof(*frames));
	*count = ask->count;
	return true;
}

/* What is kept of the function at `pc`, maybe nothing yet; NULL: there is nothing to ask. */
static struct kept_function *kept_at(struct symbol_modules *modules, uint64_t pc)
{
	struct symbol_answers *answers = is_mapped(modules, pc) ? answers_of(modules) : NULL;
	struct kept_function *kept;

	if (!answers)
		return NULL;
	kept = &answers->function[(pc ^ pc >> 10) % KEPT];
	if (kept->pc != pc || kept->version != modules->version)
		*kept = (struct kept_function){.version = modules->version, .pc = pc};
	return kept;
}

static bool ask_bounds(struct symbol_modules *modules, bool whole, uint64_t pc, uint64_t *start,
		       uint64_t *end, int *result)
{
	struct kept_function *kept = kept_at(modules, pc);
	struct kept_bounds *bounds = kept ? &kept->bounds[whole] : NULL;
	struct symbol_ask_bounds *ask;

	if (!bounds)
		return false;
	if (!bounds->known) {
		ask = question(sizeof(*ask));
		ask->pc = pc;
		if (!symbol_reader_ask(modules, whole ? SYMBOL_ASK_BOUNDS_WHOLE : SYMBOL_ASK_BOUNDS,
				       ask, NULL))
			return false;
		*bounds = (struct kept_bounds){true, ask->result, ask->start, ask->end};
	}
	*start = bounds->start;
	*end = bounds->end;
	*result = bounds->result;
	return true;
}

static bool ask_function_name(struct symbol_modules *modules, uint64_t pc, const char **name)
{
	struct kept_function *kept = kept_at(modules, pc);
	struct symbol_ask_text *ask;

	if (!kept)
		return false;
	if (!kept->name) {
		ask = question(sizeof(*ask));
		ask->pc = pc;
		if (!symbol_reader_ask(modules, SYMBOL_ASK_FUNCTION_NAME, ask, NULL))
			return false;
		kept->name = ask->text;
	}
	*name = kept->name;
	return true;
}

static bool ask_text(struct symbol_modules *modules, enum symbol_question kind, uint64_t address,
		     const char **text)
{
	struct symbol_ask_text *ask;

	if (!is_mapped(modules, address))
		return false;
	ask = question(sizeof(*ask));
	ask->pc = address;
	if (!symbol_reader_ask(modules, kind, ask, NULL))
		return false;
	*text = ask->text;
	return true;
}

static bool ask_producer(struct symbol_modules *modules, uint64_t pc, const char **producer)
{
	return ask_text(modules, SYMBOL_ASK_PRODUCER, pc, producer);
}

static bool ask_import_name(struct symbol_modules *modules, uint64_t slot, const char **name)
{
	return ask_text(modules, SYMBOL_ASK_IMPORT_NAME, slot, name);
}

static bool ask_atomicity(struct symbol_modules *modules, uint64_t pc,
			  const struct symbol_variable *variable, int load, char *reason,
			  int *answer)
{
	struct symbol_ask_atomicity *ask;

	if (!is_mapped(modules, pc))
		return false;
	ask = question(sizeof(*ask));
	ask->pc = pc;
	ask->load = (enum symbol_load)load;
	ask->known = variable != NULL;
	if (variable)
		ask->variable = *variable;
	if (!symbol_reader_ask(modules, SYMBOL_ASK_ATOMICITY, ask, NULL))
		return false;
	memcpy(reason, ask->reason, sizeof(ask->reason));
	*answer = ask->answer;
	return true;
}

/* What it says of a thread must be true of one of those that it was told of. */
static bool is_consistent(const struct symbol_ask_variable *ask)
{
	const struct symbol_variable *variable = &ask->variable;

	if (!variable->tid && !variable->frame)
		return true;
	for (size_t i = 0; i < ask->count; i++)
		if (ask->threads[i].tid == variable->tid &&
		    variable->frame <= ask->threads[i].frame_count)
			return true;
	return false;
}

static bool ask_variable(struct symbol_modules *modules, uint64_t address, uint64_t size,
			 const struct symbol_thread *threads, size_t thread_count,
			 struct symbol_variable *variable)
{
	struct symbol_ask_variable *ask;

	if (!has_reader(modules) || thread_count > SYMBOL_ASK_THREADS)
		return false;
	symbol_modules_find(modules, address);
	ask = question(sizeof(*ask));
	ask->address = address;
	ask->size = size;
	ask->count = thread_count;
	for (size_t i = 0; i < thread_count; i++)
		ask->threads[i] = threads[i];
	if (!symbol_reader_ask(modules, SYMBOL_ASK_VARIABLE, ask, NULL) || !is_consistent(ask))
		return false;
	*variable = ask->variable;
	return true;
}

static bool ask_compilers(struct symbol_modules *modules, uint64_t pc, const char **text,
			  size_t *length)
{
	struct symbol_answers *answers = is_mapped(modules, pc) ? answers_of(modules) : NULL;
	struct symbol_ask_compilers *ask;
	void *copy = NULL;

	if (!answers)
		return false;
	ask = question(sizeof(*ask));
	ask->pc = pc;
	if (!symbol_reader_ask(modules, SYMBOL_ASK_COMPILERS, ask, NULL))
		return false;
	if (ask->length)
		copy = malloc(ask->length);
	if (copy)
		memcpy(copy, ask->text, ask->length);
	free((void *)answers->compilers.text);
	answers->compilers.text = copy;
	*text = copy;
	*length = copy ? ask->length : 0;
	return true;
}

static bool ask_stack(struct symbol_modules *modules, const struct symbol_stack_source *source,
		      struct symbol_stack_frame *frames, size_t max, bool *complete, size_t *count)
{
	struct symbol_ask_stack *ask;

	if (!has_reader(modules))
		return false;
	symbol_modules_find(modules, source->registers.value[SYMBOL_PC]);
	ask = question(sizeof(*ask));
	ask->source = *source;
	ask->has_memory = source->memory && source->memory->read;
	ask->max = max < SYMBOL_STACK_MAX ? max : SYMBOL_STACK_MAX;
	if (!symbol_reader_ask(modules, SYMBOL_ASK_STACK, ask, source->memory))
		return false;
	memcpy(frames, ask->frames, ask->count * sizeof(*frames));
	*complete = ask->complete;
	*count = ask->count;
	return true;
}

static bool ask_target(struct symbol_modules *modules, const struct symbol_expression *expression,
		       struct symbol_target *target, char *error, int *result)
{
	struct symbol_ask_target *ask;

	if (!has_reader(modules))
		return false;
	ask = question(sizeof(*ask));
	ask->expression = *expression;
	if (!symbol_reader_ask(modules, SYMBOL_ASK_TARGET, ask, NULL))
		return false;
	*target = ask->target;
	*result = ask->result;
	memcpy(error, ask->error, sizeof(ask->error));
	return true;
}

static bool ask_tls(struct symbol_modules *modules, const struct symbol_module *module,
		    uint64_t fs_base, uint64_t *start, int *result)
{
	struct symbol_ask_tls *ask;

	if (!has_reader(modules))
		return false;
	ask = question(sizeof(*ask));
	ask->module = module;
	ask->fs_base = fs_base;
	if (!symbol_reader_ask(modules, SYMBOL_ASK_TLS, ask, NULL))
		return false;
	*start = ask->start;
	*result = ask->result;
	return true;
}

static bool ask_lookup(struct symbol_modules *modules, const char *qualifier, const char *name,
		       struct symbol_found *found, char *error, int *result)
{
	struct symbol_ask_lookup *ask;

	if (!has_reader(modules))
		return false;
	ask = question(sizeof(*ask));
	ask->qualifier = qualifier;
	ask->name = name;
	if (!symbol_reader_ask(modules, SYMBOL_ASK_LOOKUP, ask, NULL))
		return false;
	*found = ask->found;
	*result = ask->result;
	memcpy(error, ask->error, sizeof(ask->error));
	return true;
}

static bool ask_copies(struct symbol_modules *modules, const struct symbol_module *module,
		       const char *name, struct symbol_copies *copies, int *result)
{
	struct symbol_ask_copies *ask;

	if (!has_reader(modules))
		return false;
	ask = question(sizeof(*ask));
	ask->module = module;
	ask->name = name;
	if (!symbol_reader_ask(modules, SYMBOL_ASK_COPIES, ask, NULL))
		return false;
	*copies = ask->copies;
	*result = ask->result;
	return true;
}

/* Of no modules; but without any there was no question yet, and the path is of no program's file.
 */
static bool ask_source_line(struct symbol_session *session, const char *path, unsigned number,
			    char *text, size_t size, int *result)
{
	struct symbol_ask_source_line *ask;

	if (!session->all || !has_reader(session->all))
		return false;
	ask = question(sizeof(*ask));
	ask->path = path;
	ask->number = number;
	if (!symbol_reader_ask(session->all, SYMBOL_ASK_SOURCE_LINE, ask, NULL))
		return false;
	snprintf(text, size, "%s", ask->text);
	*result = ask->result;
	return true;
}

const struct symbol_asking symbol_ask_reader = {
	.place = ask_place,
	.bounds = ask_bounds,
	.function_name = ask_function_name,
	.producer = ask_producer,
	.import_name = ask_import_name,
	.atomicity = ask_atomicity,
	.variable = ask_variable,
	.compilers = ask_compilers,
	.stack = ask_stack,
	.target = ask_target,
	.tls = ask_tls,
	.lookup = ask_lookup,
	.copies = ask_copies,
	.source_line = ask_source_line,
	.forget = forget,
};
