/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/questions.h"

#include "reader/mirror.h"
#include "source/source.h"
#include "symbol/bounds.h"
#include "symbol/compiler.h"
#include "symbol/function_name.h"
#include "symbol/import.h"
#include "symbol/tls.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* Bytes of a stack, of the text of .comment. */
#define STACK_BYTES_MAX (1u << 20)
#define COMPILERS_MAX 65536u

/* ---- parts ------------------------------------------------------------------------------ */

static void registers(struct symbol_packet *packet, struct symbol_registers *value)
{
	for (unsigned i = 0; i < SYMBOL_REGISTER_COUNT; i++)
		symbol_packet_u64(packet, &value->value[i]);
	symbol_packet_u32(packet, &value->known);
}

static void frame(struct symbol_packet *packet, struct symbol_frame *value)
{
	symbol_packet_u64(packet, &value->pc);
	symbol_packet_text(packet, &value->function);
	symbol_packet_text(packet, &value->linkage);
	symbol_packet_u64(packet, &value->function_offset);
	symbol_packet_u32(packet, &value->function_line);
	symbol_packet_text(packet, &value->file);
	symbol_packet_u32(packet, &value->line);
	symbol_packet_u32(packet, &value->column);
	symbol_packet_bool(packet, &value->inlined);
	symbol_packet_bool(packet, &value->line_guessed);
	symbol_packet_text(packet, &value->module);
	symbol_packet_text(packet, &value->build_id);
	symbol_packet_u64(packet, &value->module_offset);
}

static void stack_frame(struct symbol_packet *packet, struct symbol_stack_frame *value)
{
	symbol_packet_u64(packet, &value->pc);
	symbol_packet_bool(packet, &value->return_address);
	symbol_packet_bool(packet, &value->signal);
	symbol_packet_bool(packet, &value->guessed);
	symbol_packet_bool(packet, &value->has_cfa);
	symbol_packet_u64(packet, &value->cfa);
	registers(packet, &value->registers);
}

static void variable(struct symbol_packet *packet, struct symbol_variable *value)
{
	uint32_t kind = packet->writing ? value->kind : 0;

	symbol_packet_u32(packet, &kind);
	if (kind > SYMBOL_VARIABLE_OTHER)
		packet->bad = true;
	value->kind = packet->bad ? SYMBOL_VARIABLE_OTHER : (enum symbol_variable_kind)kind;
	symbol_packet_text(packet, &value->name);
	symbol_packet_u64(packet, &value->address);
	symbol_packet_u64(packet, &value->size);
	symbol_packet_u64(packet, &value->offset);
	symbol_packet_text(packet, &value->path);
	symbol_packet_text(packet, &value->type);
	symbol_packet_u64(packet, &value->path_offset);
	symbol_packet_text(packet, &value->file);
	symbol_packet_u32(packet, &value->line);
	symbol_packet_text(packet, &value->module);
	symbol_packet_text(packet, &value->build_id);
	symbol_packet_u64(packet, &value->module_offset);
	symbol_packet_int(packet, &value->tid);
	symbol_packet_text(packet, &value->function);
	symbol_packet_count(packet, &value->frame, SYMBOL_STACK_MAX);
	symbol_packet_bool(packet, &value->typed);
	symbol_packet_bool(packet, &value->is_atomic);
	symbol_packet_bool(packet, &value->is_volatile);
	symbol_packet_bool(packet, &value->is_scalar);
}

/* ---- the questions ---------------------------------------------------------------------- */

static void place_arguments(struct symbol_packet *packet, void *question)
{
	struct symbol_ask_place *ask = question;

	symbol_packet_u64(packet, &ask->pc);
	symbol_packet_bool(packet, &ask->return_address);
	symbol_packet_count(packet, &ask->max, SYMBOL_INLINE_MAX);
}

static void place_run(struct symbol_modules *modules, void *question)
{
	struct symbol_ask_place *ask = question;

	ask->count =
		symbol_place_find(modules, ask->pc, ask->return_address, ask->frames, ask->max);
}

static void place_results(struct symbol_packet *packet, void *question)
{
	struct symbol_ask_place *ask = question;

	symbol_packet_count(packet, &ask->count, ask->max);
	if (!ask->count)
		packet->bad = true;
	for (size_t i = 0; i < ask->count; i++)
		frame(packet, &ask->frames[i]);
}

/* Of questions that begin with an address, and ask no more. */
static void pc_arguments(struct symbol_packet *packet, void *question)
{
	_Static_assert(!offsetof(struct symbol_ask_bounds, pc) &&
			       !offsetof(struct symbol_ask_text, pc) &&
			       !offsetof(struct symbol_ask_compilers, pc),
		       "the address is their first member");
	symbol_packet_u64(packet, question);
}

static void bounds_run(struct symbol_modules *modules, void *question)
{
	struct symbol_ask_bounds *ask = question;

	ask->result = symbol_bounds_find(modules, ask->pc, &ask->start, &ask->end);
}

static void bounds_whole_run(struct symbol_modules *modules, void *question)
{
	struct symbol_ask_bounds *ask = question;

	ask->result = symbol_bounds_whole(modules, ask->pc, &ask->start, &ask->end);
}

static void bounds_results(struct symbol_packet *packet, void *question)
{
	struct symbol_ask_bounds *ask = question;

	symbol_packet_int(packet, &ask->result);
	symbol_packet_u64(packet, &ask->start);
	symbol_packet_u64(packet, &ask->end);
	if (!ask->result && (ask->pc < ask->start || ask->pc >= ask->end))
		packet->bad = true;
}

static void function_name_run(struct symbol_modules *modules, void *question)
{
	struct symbol_ask_text *ask = question;

	ask->text = symbol_function_name(modules, ask->pc);
}

static void import_name_run(struct symbol_modules *modules, void *question)
{
	struct symbol_ask_text *ask = question;

	ask->text = symbol_import_name(modules, ask->pc);
}

static void producer_run(struct symbol_modules *modules, void *question)
{
	struct symbol_ask_text *ask = question;

	ask->text = symbol_producer(modules, ask->pc);
}

static void text_results(struct symbol_packet *packet, void *question)
{
	symbol_packet_text(packet, &((struct symbol_ask_text *)question)->text);
}

static void atomicity_arguments(struct symbol_packet *packet, void *question)
{
	struct symbol_ask_atomicity *ask = question;
	uint32_t load = packet->writing ? ask->load : 0;

	symbol_packet_u64(packet, &ask->pc);
	symbol_packet_u32(packet, &load);
	if (load > SYMBOL_LOAD_OPERAND)
		packet->bad = true;
	ask->load = packet->bad ? SYMBOL_LOAD_NONE : (enum symbol_load)load;
	symbol_packet_bool(packet, &ask->known);
	if (ask->known)
		variable(packet, &ask->variable);
}

static void atomicity_run(struct symbol_modules *modules, void *question)
{
	struct symbol_ask_atomicity *ask = question;

	ask->answer = symbol_atomicity_judge(modules, ask->pc, ask->known ? &ask->variable : NULL,
					     ask->load, ask->reason);
}

static void atomicity_results(struct symbol_packet *packet, void *question)
{
	struct symbol_ask_atomicity *ask = question;
	uint32_t answer = packet->writing ? ask->answer : 0;

	symbol_packet_u32(packet, &answer);
	if (answer > SYMBOL_ATOMICITY_ORDERED)
		packet->bad = true;
	ask->answer = packet->bad ? SYMBOL_ATOMICITY_UNKNOWN : (enum symbol_atomicity)answer;
	symbol_packet_array(packet, ask->reason, sizeof(ask->reason));
}

static void thread(struct symbol_packet *packet, struct symbol_thread *value,
		   struct symbol_stack_frame *frames)
{
	symbol_packet_int(packet, &value->tid);
	symbol_packet_u64(packet, &value->fs_base);
	symbol_packet_u64(packet, &value->stack_pointer);
	symbol_packet_count(packet, &value->frame_count, SYMBOL_STACK_MAX);
	for (size_t i = 0; i < value->frame_count; i++)
		stack_frame(packet, packet->writing ? (struct symbol_stack_frame *)&value->frames[i]
						    : &frames[i]);
	if (!packet->writing)
		value->frames = frames;
}

static void variable_arguments(struct symbol_packet *packet, void *question)
{
	struct symbol_ask_variable *ask = question;

	symbol_packet_u64(packet, &ask->address);
	symbol_packet_u64(packet, &ask->size);
	symbol_packet_count(packet, &ask->count, SYMBOL_ASK_THREADS);
	for (size_t i = 0; i < ask->count; i++)
		thread(packet, &ask->threads[i], ask->frames[i]);
}

static void variable_run(struct symbol_modules *modules, void *question)
{
	struct symbol_ask_variable *ask = question;

	symbol_variable_find(modules, ask->address, ask->size, ask->threads, ask->count,
			     &ask->variable);
}

static void variable_results(struct symbol_packet *packet, void *question)
{
	variable(packet, &((struct symbol_ask_variable *)question)->variable);
}

static void compilers_run(struct symbol_modules *modules, void *question)
{
	struct symbol_ask_compilers *ask = question;

	ask->text = symbol_compilers(modules, ask->pc, &ask->length);
	if (!ask->text)
		ask->length = 0;
	if (ask->length > COMPILERS_MAX)
		ask->length = COMPILERS_MAX;
}

static void compilers_results(struct symbol_packet *packet, void *question)
{
	struct symbol_ask_compilers *ask = question;

	symbol_packet_bytes(packet, &ask->text, &ask->length, COMPILERS_MAX);
	if (!ask->length)
		ask->text = NULL;
}

static void stack_arguments(struct symbol_packet *packet, void *question)
{
	struct symbol_ask_stack *ask = question;
	struct symbol_stack_source *source = &ask->source;

	registers(packet, &source->registers);
	symbol_packet_u64(packet, &source->copy_address);
	symbol_packet_bytes(packet, &source->copy, &source->copy_length, STACK_BYTES_MAX);
	symbol_packet_bool(packet, &ask->has_memory);
	symbol_packet_count(packet, &ask->max, SYMBOL_STACK_MAX);
}

static void stack_run(struct symbol_modules *modules, void *question)
{
	struct symbol_ask_stack *ask = question;
	struct symbol_memory memory = symbol_mirror_source_memory();

	ask->source.memory = ask->has_memory ? &memory : NULL;
	ask->count =
		symbol_stack_unwind(modules, &ask->source, ask->frames, ask->max, &ask->complete);
}

static void stack_results(struct symbol_packet *packet, void *question)
{
	struct symbol_ask_stack *ask = question;

	symbol_packet_count(packet, &ask->count, ask->max);
	if (!ask->count)
		packet->bad = true;
	symbol_packet_bool(packet, &ask->complete);
	for (size_t i = 0; i < ask->count; i++)
		stack_frame(packet, &ask->frames[i]);
}

static void step(struct symbol_packet *packet, struct symbol_step *value)
{
	uint32_t kind = packet->writing ? value->kind : 0;

	symbol_packet_u32(packet, &kind);
	value->kind = (enum symbol_step_kind)kind;
	symbol_packet_text(packet, &value->name);
	symbol_packet_u64(packet, (uint64_t *)&value->number);
}

static void target_arguments(struct symbol_packet *packet, void *question)
{
	struct symbol_expression *expression = &((struct symbol_ask_target *)question)->expression;
	size_t steps = expression->step_count;
	uint32_t kind = expression->kind;

	symbol_packet_u32(packet, &kind);
	expression->kind = (enum symbol_expression_kind)kind;
	symbol_packet_text(packet, &expression->qualifier);
	symbol_packet_text(packet, &expression->name);
	symbol_packet_u64(packet, &expression->number);
	symbol_packet_count(packet, &steps, SYMBOL_EXPRESSION_STEPS);
	expression->step_count = (unsigned)steps;
	for (size_t i = 0; i < steps; i++)
		step(packet, &expression->step[i]);
	symbol_packet_u64(packet, &expression->length);
	symbol_packet_u32(packet, &expression->access);
}

static void target_run(struct symbol_modules *modules, void *question)
{
	struct symbol_ask_target *ask = question;

	ask->result = symbol_target_resolve(modules, &ask->expression, &ask->target, ask->error);
}

static void target_results(struct symbol_packet *packet, void *question)
{
	struct symbol_ask_target *ask = question;
	struct symbol_target *target = &ask->target;
	uint32_t kind = packet->writing ? target->kind : 0;
	size_t links = target->link_count, codes = target->code_count;

	symbol_packet_int(packet, &ask->result);
	symbol_packet_array(packet, ask->error, sizeof(ask->error));
	symbol_packet_u32(packet, &kind);
	if (kind > SYMBOL_TARGET_HEAP_BLOCKS)
		packet->bad = true;
	target->kind = packet->bad ? SYMBOL_TARGET_DATA : (enum symbol_target_kind)kind;
	symbol_packet_u64(packet, &target->start);
	symbol_packet_bool(packet, &target->tls);
	symbol_packet_module(packet, &target->module);
	symbol_packet_count(packet, &links, SYMBOL_TARGET_LINKS);
	target->link_count = (unsigned)links;
	for (size_t i = 0; i <= links; i++)
		symbol_packet_u64(packet, (uint64_t *)&target->offset[i]);
	symbol_packet_u64(packet, &target->length);
	symbol_packet_u32(packet, &target->access);
	symbol_packet_count(packet, &codes, SYMBOL_TARGET_CODE);
	target->code_count = (unsigned)codes;
	for (size_t i = 0; i < codes; i++)
		symbol_packet_u64(packet, &target->code[i]);
	symbol_packet_u64(packet, &target->code_end);
	symbol_packet_u64(packet, &target->block_size);
	symbol_packet_u32(packet, &target->line);
	symbol_packet_text(packet, &target->name);
	symbol_packet_text(packet, &target->type);
	symbol_packet_bool(packet, &target->is_signed);
	symbol_packet_bool(packet, &target->is_pointer);
	if (target->tls && !target->module)
		packet->bad = true;
}

static void tls_arguments(struct symbol_packet *packet, void *question)
{
	struct symbol_ask_tls *ask = question;

	symbol_packet_module(packet, &ask->module);
	symbol_packet_u64(packet, &ask->fs_base);
}

static void tls_run(struct symbol_modules *modules, void *question)
{
	struct symbol_ask_tls *ask = question;

	ask->result = ask->module
			      ? symbol_tls_block(modules, ask->module, ask->fs_base, &ask->start)
			      : -ENOENT;
}

static void tls_results(struct symbol_packet *packet, void *question)
{
	struct symbol_ask_tls *ask = question;

	symbol_packet_int(packet, &ask->result);
	symbol_packet_u64(packet, &ask->start);
}

static void lookup_arguments(struct symbol_packet *packet, void *question)
{
	struct symbol_ask_lookup *ask = question;

	symbol_packet_text(packet, &ask->qualifier);
	symbol_packet_text(packet, &ask->name);
}

static void lookup_run(struct symbol_modules *modules, void *question)
{
	struct symbol_ask_lookup *ask = question;

	ask->result = symbol_lookup(modules, ask->qualifier, ask->name ? ask->name : "",
				    &ask->found, ask->error);
}

static void lookup_results(struct symbol_packet *packet, void *question)
{
	struct symbol_ask_lookup *ask = question;

	symbol_packet_int(packet, &ask->result);
	symbol_packet_array(packet, ask->error, sizeof(ask->error));
	if (ask->result)
		return;
	symbol_packet_module(packet, &ask->found.module);
	symbol_packet_u64(packet, &ask->found.address);
	symbol_packet_u64(packet, &ask->found.size);
	for (unsigned i = 0; i < SYMBOL_OVERLOADS; i++)
		symbol_packet_u64(packet, &ask->found.overload[i]);
	symbol_packet_bool(packet, &ask->found.function);
	symbol_packet_bool(packet, &ask->found.tls);
	if (!ask->found.module)
		packet->bad = true;
}

static void copies_arguments(struct symbol_packet *packet, void *question)
{
	struct symbol_ask_copies *ask = question;

	symbol_packet_module(packet, &ask->module);
	symbol_packet_text(packet, &ask->name);
}

static void copies_run(struct symbol_modules *modules, void *question)
{
	struct symbol_ask_copies *ask = question;

	ask->result = ask->module && ask->name
			      ? symbol_copies_find(modules, ask->module, ask->name, &ask->copies)
			      : -ENOENT;
}

static void copies_results(struct symbol_packet *packet, void *question)
{
	struct symbol_ask_copies *ask = question;
	struct symbol_copies *copies = &ask->copies;

	symbol_packet_int(packet, &ask->result);
	symbol_packet_bool(packet, &copies->indirect);
	symbol_packet_count(packet, &copies->inlined, SIZE_MAX);
	symbol_packet_array(packet, copies->inlined_in, sizeof(copies->inlined_in));
	symbol_packet_count(packet, &copies->specialised, SIZE_MAX);
	symbol_packet_array(packet, copies->specialised_name, sizeof(copies->specialised_name));
}

static void source_line_arguments(struct symbol_packet *packet, void *question)
{
	struct symbol_ask_source_line *ask = question;

	symbol_packet_text(packet, &ask->path);
	symbol_packet_u32(packet, &ask->number);
}

static void source_line_run(struct symbol_modules *modules, void *question)
{
	struct symbol_ask_source_line *ask = question;

	ask->result = ask->path ? symbol_source_line(symbol_modules_session(modules), ask->path,
						     ask->number, ask->text, sizeof(ask->text))
				: -ENOENT;
}

static void source_line_results(struct symbol_packet *packet, void *question)
{
	struct symbol_ask_source_line *ask = question;

	symbol_packet_int(packet, &ask->result);
	symbol_packet_array(packet, ask->text, sizeof(ask->text));
}

const struct symbol_question_kind symbol_question_kinds[SYMBOL_QUESTION_COUNT] = {
	[SYMBOL_ASK_PLACE] = {place_arguments, place_run, place_results},
	[SYMBOL_ASK_BOUNDS] = {pc_arguments, bounds_run, bounds_results},
	[SYMBOL_ASK_BOUNDS_WHOLE] = {pc_arguments, bounds_whole_run, bounds_results},
	[SYMBOL_ASK_FUNCTION_NAME] = {pc_arguments, function_name_run, text_results},
	[SYMBOL_ASK_ATOMICITY] = {atomicity_arguments, atomicity_run, atomicity_results},
	[SYMBOL_ASK_VARIABLE] = {variable_arguments, variable_run, variable_results},
	[SYMBOL_ASK_COMPILERS] = {pc_arguments, compilers_run, compilers_results},
	[SYMBOL_ASK_STACK] = {stack_arguments, stack_run, stack_results},
	[SYMBOL_ASK_TARGET] = {target_arguments, target_run, target_results},
	[SYMBOL_ASK_TLS] = {tls_arguments, tls_run, tls_results},
	[SYMBOL_ASK_LOOKUP] = {lookup_arguments, lookup_run, lookup_results},
	[SYMBOL_ASK_COPIES] = {copies_arguments, copies_run, copies_results},
	[SYMBOL_ASK_SOURCE_LINE] = {source_line_arguments, source_line_run, source_line_results},
	[SYMBOL_ASK_IMPORT_NAME] = {pc_arguments, import_name_run, text_results},
	[SYMBOL_ASK_PRODUCER] = {pc_arguments, producer_run, text_results},
};
