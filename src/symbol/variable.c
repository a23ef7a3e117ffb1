/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/variable.h"

#include "dwarf/die.h"
#include "dwarf/type.h"
#include "dwarf/unit.h"
#include "elf/names.h"
#include "elf/object.h"
#include "mangling/demangle.h"
#include "memory/block.h"
#include "session/asking.h"
#include "session/session.h"
#include "symbol/scope.h"
#include "symbol/tls.h"

#include <dwarf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define PATH_TEXT 512
#define TYPE_TEXT 256
/* The ABI lets a leaf function use this much below its stack pointer. */
#define RED_ZONE 128
#define ACCESSOR_FRAMES 4
/* glibc's thread descriptor, above the thread pointer, has at most so many bytes. */
#define DESCRIPTOR_SIZE 4096

/* Takes name, type (NULL: unknown) and member from the variable's entry. `offset`: into the
 * variable. */
static void describe(struct symbol_session *session, Dwarf_Die *die, Dwarf_Die *type,
		     uint64_t offset, uint64_t size, struct symbol_variable *variable)
{
	char path[PATH_TEXT], text[TYPE_TEXT], file[PATH_MAX];
	struct symbol_type_facts facts = {0};
	const char *name = symbol_die_name(die);
	uint64_t start = 0;

	variable->offset = offset;
	variable->name = symbol_keep(session, name);
	if (symbol_die_declared(die, file, sizeof(file), &variable->line))
		variable->file = symbol_keep(session, file);
	if (!name || !type)
		return;
	variable->size = symbol_die_size(type);
	snprintf(path, sizeof(path), "%s", name);
	symbol_type_member_at(type, offset, size, path, sizeof(path), &start, &facts);
	symbol_type_name(type, text, sizeof(text));
	variable->path = symbol_keep(session, path);
	variable->path_offset = offset - start;
	variable->type = symbol_keep(session, text);
	variable->typed = true;
	variable->is_atomic = facts.is_atomic;
	variable->is_volatile = facts.is_volatile;
	variable->is_scalar = facts.is_scalar;
}

static void describe_name(struct symbol_session *session, const struct symbol_name *name,
			  uint64_t offset, struct symbol_variable *variable)
{
	char text[SYMBOL_DEMANGLED_MAX];

	symbol_demangle(name->name, text, sizeof(text));
	variable->name = symbol_keep(session, text);
	variable->size = name->size;
	variable->offset = offset;
	variable->path = variable->name;
	variable->path_offset = offset;
}

/* Asks debug information, then symbols. `at`: the file's own address, or the offset in its
 * thread-local block. */
static bool find_in_object(struct symbol_object *object, uint64_t at, uint64_t size, bool tls,
			   struct symbol_variable *variable)
{
	enum symbol_name_kind kind = tls ? SYMBOL_NAME_TLS : SYMBOL_NAME_DATA;
	const struct symbol_names *names = symbol_object_names(object);
	const struct symbol_entity *entity = NULL;
	const struct symbol_name *name;
	Dwarf_Die die, type;

	if (symbol_units_index_all(object) == 0)
		entity = symbol_units_variable(object->units, at, tls);
	if (entity && symbol_entity_die(object->units, entity, &die) == 0) {
		describe(object->session, &die, symbol_die_type(&die, &type) ? NULL : &type,
			 at - entity->address, size, variable);
		return true;
	}
	name = names ? symbol_names_find(names, kind, at) : NULL;
	if (!name)
		return false;
	describe_name(object->session, name, at - name->address, variable);
	return true;
}

static void set_module(const struct symbol_module *module, uint64_t offset,
		       struct symbol_variable *variable)
{
	variable->module = module->path;
	variable->build_id = module->build_id_text;
	variable->module_offset = offset;
}

static bool find_tls(struct symbol_modules *modules, uint64_t address, uint64_t size,
		     const struct symbol_thread *thread, struct symbol_variable *variable)
{
	const struct symbol_module *module;

	if (thread->fs_base == 0)
		return false;
	for (size_t i = 0; (module = symbol_modules_at(modules, i)); i++) {
		struct symbol_object *object = symbol_module_object(modules, module);
		uint64_t block;

		if (!object || !object->image.has_tls ||
		    symbol_tls_block(modules, module, thread->fs_base, &block) < 0 ||
		    address - block >= object->image.tls.memory_size)
			continue;
		variable->kind = SYMBOL_VARIABLE_TLS;
		variable->tid = thread->tid;
		variable->address = block;
		variable->offset = address - block;
		set_module(module, address - block, variable);
		if (find_in_object(object, address - block, size, true, variable))
			variable->address = address - variable->offset;
		return true;
	}
	if (address - thread->fs_base >= DESCRIPTOR_SIZE)
		return false;
	variable->kind = SYMBOL_VARIABLE_TLS;
	variable->tid = thread->tid;
	return true;
}

/* "main._omp_fn.0" is GCC's name for what stands in main() below a `#pragma omp parallel`; Clang's,
 * ".omp_outlined.", does not say where it stands. */
static const char *owner_name(struct symbol_session *session, Dwarf_Die *function)
{
	const char *name = symbol_die_name(function),
		   *end = name ? strstr(name, "._omp_fn.") : NULL;
	char text[PATH_TEXT];

	if (name && strncmp(name, ".omp_outlined.", strlen(".omp_outlined.")) == 0)
		return NULL;
	if (!end)
		return symbol_keep(session, name);
	snprintf(text, sizeof(text), "%.*s", (int)(end - name), name);
	return symbol_keep(session, text);
}

/* Finds the frame's variable at the address, wherever that lies. */
static bool find_in_frame(struct symbol_modules *modules, uint64_t address, uint64_t size,
			  const struct symbol_stack_frame *frame, enum symbol_scope_way way,
			  struct symbol_variable *variable)
{
	const struct symbol_module *module =
		symbol_modules_find(modules, frame->pc - frame->return_address);
	struct symbol_object *object = module ? symbol_module_object(modules, module) : NULL;
	struct symbol_scope_found found;

	if (!object ||
	    symbol_scope_variable_at(object, module->bias, frame, symbol_modules_memory(modules),
				     address, way, &found) < 0)
		return false;
	set_module(module, 0, variable);
	describe(object->session, &found.variable, &found.type, address - found.start, size,
		 variable);
	variable->address = found.start;
	variable->function = owner_name(object->session, &found.function);
	return true;
}

/* Finds the frame whose part of the stack holds the address, and its variable there. */
static void find_in_frames(struct symbol_modules *modules, uint64_t address, uint64_t size,
			   const struct symbol_thread *thread, struct symbol_variable *variable)
{
	for (size_t i = 0; i < thread->frame_count; i++) {
		const struct symbol_stack_frame *frame = &thread->frames[i];

		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there are frame_count */
		if (!frame->has_cfa || address >= frame->cfa)
			continue;
		variable->frame = i;
		find_in_frame(modules, address, size, frame, SYMBOL_SCOPE_OWN, variable);
		return;
	}
}

/*
 * Finds a variable of one function that lies in another's frame, or that it has a reference to.
 * OpenMP's outlined functions share such variables with the function that they were taken from,
 * whose own debug information may have lost them.
 */
static void find_by_reference(struct symbol_modules *modules, uint64_t address, uint64_t size,
			      const struct symbol_thread *threads, size_t thread_count,
			      struct symbol_variable *variable)
{
	for (size_t i = 0; i < thread_count; i++)
		for (size_t j = 0; j < threads[i].frame_count && j < ACCESSOR_FRAMES; j++)
			if (find_in_frame(modules, address, size, &threads[i].frames[j],
					  SYMBOL_SCOPE_REFERRED, variable))
				return;
}

static bool find_stack(struct symbol_modules *modules, uint64_t address, uint64_t size,
		       const struct symbol_thread *thread, struct symbol_variable *variable)
{
	struct symbol_mapping mapping;
	bool mapped = symbol_modules_mapping(modules, thread->stack_pointer, &mapping);
	const struct symbol_stack_frame *last =
		thread->frame_count ? &thread->frames[thread->frame_count - 1] : NULL;
	bool in_frames = last && last->has_cfa && address < last->cfa;

	if (thread->stack_pointer == 0 || address + RED_ZONE < thread->stack_pointer)
		return false;
	if (!in_frames && (!mapped || address >= mapping.end))
		return false;
	/* The kernel may join a thread's stack with what is mapped behind it. */
	if (!in_frames && last && mapping.use != SYMBOL_MAPPING_STACK)
		return false;
	variable->kind = SYMBOL_VARIABLE_STACK;
	variable->tid = thread->tid;
	variable->address = thread->stack_pointer;
	variable->offset = address - thread->stack_pointer;
	find_in_frames(modules, address, size, thread, variable);
	return true;
}

static bool find_global(struct symbol_modules *modules, uint64_t address, uint64_t size,
			struct symbol_variable *variable)
{
	const struct symbol_module *module = symbol_modules_find(modules, address);
	struct symbol_object *object = module ? symbol_module_object(modules, module) : NULL;

	if (!module)
		return false;
	variable->kind = SYMBOL_VARIABLE_GLOBAL;
	variable->address = module->start;
	variable->offset = address - module->start;
	set_module(module, address - module->bias, variable);
	if (object && find_in_object(object, address - module->bias, size, false, variable))
		variable->address = address - variable->offset;
	return true;
}

static void find_mapping(const struct symbol_modules *modules, uint64_t address,
			 struct symbol_variable *variable)
{
	struct symbol_mapping mapping;
	struct symbol_block block;

	variable->kind = SYMBOL_VARIABLE_OTHER;
	if (!symbol_modules_mapping(modules, address, &mapping))
		return;
	variable->address = mapping.start;
	variable->offset = address - mapping.start;
	if (mapping.use == SYMBOL_MAPPING_BREAK || mapping.use == SYMBOL_MAPPING_ANONYMOUS)
		variable->kind = SYMBOL_VARIABLE_HEAP;
	else if (mapping.use == SYMBOL_MAPPING_STACK)
		variable->kind = SYMBOL_VARIABLE_STACK;
	if (variable->kind != SYMBOL_VARIABLE_HEAP ||
	    !symbol_block_find(symbol_modules_memory(modules), &mapping, address, &block))
		return;
	variable->address = block.address;
	variable->size = block.size;
	variable->offset = address - block.address;
}

static bool find_in_threads(struct symbol_modules *modules, uint64_t address, uint64_t size,
			    const struct symbol_thread *threads, size_t thread_count,
			    struct symbol_variable *variable)
{
	for (size_t i = 0; i < thread_count; i++)
		if (find_tls(modules, address, size, &threads[i], variable))
			return true;
	for (size_t i = 0; i < thread_count; i++)
		if (find_stack(modules, address, size, &threads[i], variable))
			return true;
	return false;
}

void symbol_variable_find(struct symbol_modules *modules, uint64_t address, uint64_t size,
			  const struct symbol_thread *threads, size_t thread_count,
			  struct symbol_variable *variable)
{
	memset(variable, 0, sizeof(*variable));
	if (SYMBOL_ASK(symbol_modules_session(modules), variable, modules, address, size, threads,
		       thread_count, variable))
		return;
	if (find_global(modules, address, size, variable))
		return;
	if (!find_in_threads(modules, address, size, threads, thread_count, variable))
		find_mapping(modules, address, variable);
	if (variable->kind == SYMBOL_VARIABLE_STACK && !variable->name)
		find_by_reference(modules, address, size, threads, thread_count, variable);
}
