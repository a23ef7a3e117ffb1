/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/fix.h"

struct wanted {
	const struct link_map *fix;
	uintptr_t address;
	size_t length;
	unsigned flags;
	bool found, read_only;
};

static bool is_within(const struct wanted *wanted, uintptr_t start, size_t size)
{
	return wanted->address >= start && wanted->length <= size &&
	       wanted->address - start <= size - wanted->length;
}

static bool overlaps(const struct wanted *wanted, uintptr_t start, size_t size)
{
	return wanted->address < start + size && start < wanted->address + wanted->length;
}

static int look_at_object(struct dl_phdr_info *object, size_t size, void *arg)
{
	struct wanted *wanted = arg;

	(void)size;
	/* The name is the map's own: no two objects share it. */
	if (object->dlpi_name != wanted->fix->l_name)
		return 0;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
		uintptr_t start = object->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && is_within(wanted, start, segment->p_memsz))
			wanted->found = (segment->p_flags & wanted->flags) == wanted->flags;
		else if (segment->p_type == PT_GNU_RELRO)
			wanted->read_only |= overlaps(wanted, start, segment->p_memsz);
	}
	return 1;
}

bool fix_holds(const struct link_map *fix, uintptr_t address, size_t length, unsigned flags)
{
	struct wanted wanted = {.fix = fix, .address = address, .length = length, .flags = flags};

	dl_iterate_phdr(look_at_object, &wanted);
	return wanted.found && !(flags & PF_W && wanted.read_only);
}
