/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `mapped MODULE`: maps the module as the dynamic linker does before it fills in what is to be
 * zero, writes to where `late_variable` is, and only then has it loaded.
 */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096ul
#define ROOM (1ul << 20)

static unsigned long offset_of(const char *path)
{
	void *module = dlopen(path, RTLD_NOW);
	struct link_map *map = NULL;
	unsigned long offset;

	if (!module || dlinfo(module, RTLD_DI_LINKMAP, &map))
		exit(2);
	offset = (unsigned long)dlsym(module, "late_variable") - map->l_addr;
	dlclose(module);
	return offset;
}

static char *map_parts(const char *path)
{
	int fd = open(path, O_RDONLY);
	char *file = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	char *room = mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const ElfW(Ehdr) *head = (const void *)file;
	const ElfW(Phdr) *part = (const void *)(file + head->e_phoff);

	for (int i = 0; i < head->e_phnum; i++) {
		unsigned long skipped = part[i].p_vaddr % PAGE;
		int access = part[i].p_flags & PF_W ? PROT_READ | PROT_WRITE : PROT_READ;

		if (part[i].p_type == PT_LOAD &&
		    mmap(room + part[i].p_vaddr - skipped, part[i].p_filesz + skipped, access,
			 MAP_PRIVATE | MAP_FIXED, fd,
			 (off_t)(part[i].p_offset - skipped)) == MAP_FAILED)
			exit(2);
	}
	munmap(file, PAGE);
	close(fd);
	return room;
}

int main(int argc, char **argv)
{
	unsigned long offset = argc == 2 ? offset_of(argv[1]) : 0;
	char *room = offset ? map_parts(argv[1]) : NULL;
	void *module;

	if (!room)
		return 2;
	usleep(1500000); /* whoever looks every second has seen it */
	*(volatile int *)(room + offset) = 1;
	munmap(room, ROOM);
	module = dlopen(argv[1], RTLD_NOW);
	if (!module)
		return 2;
	((void (*)(void))dlsym(module, "write_late"))();
	return 0;
}
