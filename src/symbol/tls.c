/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x86-64 is variant II of the ELF TLS specification: blocks lie below the thread pointer. The main
 * program's is next to it. Where a library's is, its own relocated GOT entries say: TPOFF64 holds
 * an offset from the thread pointer, DTPMOD64 the index into the thread's vector (DTV), whose
 * entries are pairs of pointers in glibc.
 */
#include "symbol/tls.h"

#include "elf/object.h"
#include "session/asking.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#define MODULE_INDEX_MAX 4096

/* How far below the thread pointer the first block starts (variant II). */
static uint64_t first_offset(const struct symbol_segment *tls)
{
	uint64_t align = tls->alignment ? tls->alignment : 1;
	uint64_t first = -tls->address & (align - 1);

	return ((tls->memory_size - first + align - 1) & ~(align - 1)) + first;
}

static int block_from_index(const struct symbol_memory *memory, uint64_t fs_base, uint64_t index,
			    uint64_t *start)
{
	uint64_t vector, block;

	if (index == 0 || index > MODULE_INDEX_MAX ||
	    symbol_memory_read(memory, fs_base + 8, &vector, sizeof(vector)) < 0 ||
	    symbol_memory_read(memory, vector + 16 * index, &block, sizeof(block)) < 0 ||
	    block == 0 || block == UINT64_MAX)
		return -ENOENT;
	*start = block;
	return 0;
}

/* `index` may be anything: the file may have been made to harm us. */
static uint64_t symbol_value(struct symbol_object *object, uint64_t index)
{
	uint64_t address;
	Elf_Data *symbols = index ? symbol_object_section(object, ".dynsym", &address) : NULL;
	Elf64_Sym symbol;

	if (!symbols || !symbols->d_buf || index >= symbols->d_size / sizeof(symbol))
		return 0;
	memcpy(&symbol, (const char *)symbols->d_buf + index * sizeof(symbol), sizeof(symbol));
	return symbol.st_shndx == SHN_UNDEF ? UINT64_MAX : symbol.st_value;
}

static int try_relocation(struct symbol_modules *modules, struct symbol_object *object,
			  const struct symbol_module *module, const Elf64_Rela *relocation,
			  uint64_t fs_base, uint64_t *start)
{
	const struct symbol_memory *memory = symbol_modules_memory(modules);
	uint32_t type = ELF64_R_TYPE(relocation->r_info);
	uint64_t value, offset;

	if (type != R_X86_64_DTPMOD64 && type != R_X86_64_TPOFF64)
		return -ENOENT;
	offset = symbol_value(object, ELF64_R_SYM(relocation->r_info));
	if (offset == UINT64_MAX || /* UINT64_MAX: it is another module's variable */
	    symbol_memory_read(memory, relocation->r_offset + module->bias, &value, sizeof(value)) <
		    0)
		return -ENOENT;
	if (type == R_X86_64_DTPMOD64)
		return block_from_index(memory, fs_base, value, start);
	*start = fs_base + value - offset - (uint64_t)relocation->r_addend;
	return 0;
}

int symbol_tls_block(struct symbol_modules *modules, const struct symbol_module *module,
		     uint64_t fs_base, uint64_t *start)
{
	struct symbol_object *object;
	uint64_t address;
	Elf_Data *data;
	int result;

	if (SYMBOL_ASK(symbol_modules_session(modules), tls, modules, module, fs_base, start,
		       &result))
		return result;
	object = symbol_module_object(modules, module);
	if (!object || !object->image.has_tls || fs_base == 0)
		return -ENOENT;
	if (symbol_modules_is_main(modules, module)) {
		*start = fs_base - first_offset(&object->image.tls);
		return 0;
	}
	data = symbol_object_section(object, ".rela.dyn", &address);
	for (size_t i = 0; data && data->d_buf && i < data->d_size / sizeof(Elf64_Rela); i++) {
		Elf64_Rela relocation;

		memcpy(&relocation, (const char *)data->d_buf + i * sizeof(relocation),
		       sizeof(relocation));
		if (try_relocation(modules, object, module, &relocation, fs_base, start) == 0)
			return 0;
	}
	return -ENOENT;
}
