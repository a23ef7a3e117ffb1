/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the dynamic linker of a process tells debuggers (<link.h>): the function that it calls when
 * the modules have changed and before their constructors run, and the record of what is loaded. A
 * module that is mapped and not in the record yet is not itself yet: the linker still fills its
 * variables with zeros.
 */
#include "watch/linker.h"

#include "module/modules.h"
#include "symbol/lookup.h"
#include "watch/watched.h"

#include <errno.h>
#include <link.h>

#define LINKER "ld-linux-x86-64.so.2"
#define LINKER_CALL "_dl_debug_state"
#define LINKER_RECORD "_r_debug"
#define NAMESPACES 64 /* of dlmopen(3), at most; glibc has 16 */
#define MODULES 65536 /* at most, in a chain that may change while it is read */

/* glibc 2.35's struct r_debug_extended: a record for each namespace. */
struct record {
	struct r_debug base;
	uint64_t next; /* from version 2 */
};

static uint64_t find(struct symbol_modules *modules, const char *name, uint64_t *known)
{
	char error[SYMBOL_ERROR_MAX];
	struct symbol_found found;

	if (!*known && !symbol_lookup(modules, LINKER, name, &found, error))
		*known = found.address;
	return *known;
}

uint64_t linker_call(struct watched *process, struct symbol_modules *modules)
{
	return find(modules, LINKER_CALL, &process->linker_call);
}

/* 1: `module` is in the chain; 0: it is not; -EFAULT: the chain cannot be read. */
static int in_chain(const struct symbol_memory *memory, uint64_t entry,
		    const struct symbol_module *module)
{
	struct link_map map;

	for (unsigned i = 0; i < MODULES && entry; i++) {
		if (symbol_memory_read(memory, entry, &map, sizeof(map)))
			return -EFAULT;
		if ((uint64_t)map.l_ld >= module->start && (uint64_t)map.l_ld < module->end)
			return 1;
		entry = (uint64_t)map.l_next;
	}
	return 0;
}

/* If a change begins after this look, its thread trips the scout at the linker's function, where
 * one is out, and waits for us. */
bool linker_has(struct watched *process, struct symbol_modules *modules,
		const struct symbol_module *module)
{
	const struct symbol_memory *memory = symbol_modules_memory(modules);
	uint64_t address = find(modules, LINKER_RECORD, &process->linker_record);
	struct record record;
	int found = address ? 0 : -ENOENT;

	for (unsigned i = 0; i < NAMESPACES && address && !found; i++) {
		if (symbol_memory_read(memory, address, &record, sizeof(record)))
			return true;
		if (record.base.r_state != RT_CONSISTENT)
			return false;
		found = in_chain(memory, (uint64_t)record.base.r_map, module);
		address = record.base.r_version >= 2 ? record.next : 0;
	}
	return found;
}
