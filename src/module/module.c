/* SPDX-License-Identifier: Apache-2.0 */
#include "module/module.h"

#include "base/clock.h"

#include "elf/object.h"
#include "module/module_file.h"
#include "module/modules.h"
#include "session/asker.h"
#include "session/asking.h"
#include "session/session.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define REFRESH_NANOSECONDS 100000000ull
#define REFRESH_PARTS 20 /* of the time, of which reading maps takes one at most */
#define GONE_MAX 1024

int symbol_module_append(struct symbol_module_list *list, struct symbol_module *module)
{
	if (list->count == list->room) {
		size_t room = list->room ? list->room * 2 : 16;
		void *grown = realloc(list->module, room * sizeof(*list->module));

		if (!grown)
			return -ENOMEM;
		list->module = grown;
		list->room = room;
	}
	list->module[list->count++] = module;
	return 0;
}

void symbol_module_free(struct symbol_module *module)
{
	if (!module)
		return;
	if (module->fd >= 0)
		close(module->fd);
	free(module);
}

static void list_free(struct symbol_module_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		symbol_module_free(list->module[i]);
	free(list->module);
	memset(list, 0, sizeof(*list));
}

static bool is_file(const struct symbol_fatal_file *fatal, const struct symbol_module *module)
{
	return strcmp(fatal->path, module->path) == 0 && fatal->inode == module->inode &&
	       symbol_build_id_equal(&fatal->build_id, &module->build_id);
}

bool symbol_module_is_fatal(const struct symbol_session *session,
			    const struct symbol_module *module)
{
	for (unsigned i = 0; i < session->fatal_count; i++)
		if (is_file(&session->fatal[i], module))
			return true;
	return false;
}

struct symbol_module *symbol_module_create(struct symbol_session *session, const char *path,
					   const struct symbol_build_id *id)
{
	struct symbol_module *module = calloc(1, sizeof(*module));
	char text[SYMBOL_BUILD_ID_TEXT];

	if (!module)
		return NULL;
	symbol_build_id_format(id, text);
	module->fd = -1;
	module->id = ++session->last_id;
	module->build_id = *id;
	module->path = symbol_keep(session, path);
	module->build_id_text = symbol_keep(session, text);
	if (!module->path || !module->build_id_text) {
		free(module);
		return NULL;
	}
	return module;
}

static int compare_start(const void *a, const void *b)
{
	const struct symbol_module *first = *(struct symbol_module *const *)a;
	const struct symbol_module *second = *(struct symbol_module *const *)b;

	return (first->start > second->start) - (first->start < second->start);
}

static void sort_loaded(struct symbol_modules *modules)
{
	if (modules->loaded.count)
		qsort(modules->loaded.module, modules->loaded.count,
		      sizeof(*modules->loaded.module), compare_start);
}

/* Reading the map ------------------------------------------------------------------------------ */

static bool same_file(const struct symbol_mapping *a, const struct symbol_mapping *b)
{
	return a->inode == b->inode && a->device_major == b->device_major &&
	       a->device_minor == b->device_minor && strcmp(a->path, b->path) == 0;
}

/* One past the last mapping, from the `first`th on, that can belong to the module: of its file, or
 * anonymous (.bss), and within what its program headers claim. */
static uint64_t end_of_run(const struct symbol_mappings *mappings, size_t first, uint64_t claimed)
{
	const struct symbol_mapping *start = &mappings->mapping[first];
	uint64_t end = start->end;

	for (size_t i = first + 1; i < mappings->count; i++) {
		const struct symbol_mapping *mapping = &mappings->mapping[i];

		if (mapping->start >= claimed)
			break;
		if (!same_file(start, mapping) && mapping->use != SYMBOL_MAPPING_ANONYMOUS)
			break;
		end = mapping->end < claimed ? mapping->end : claimed;
	}
	return end;
}

static int read_image_of_file(const struct symbol_modules *modules,
			      const struct symbol_mapping *mapping, struct symbol_image *image)
{
	struct symbol_module module = {
		.path = mapping->path, .inode = mapping->inode, .start = mapping->start, .fd = -1};
	int error = -ENOENT;

	for (unsigned attempt = 0; attempt < 3 && error; attempt++) {
		char *path;
		int fd = symbol_module_file_open(modules->session, &module, modules->pid, attempt,
						 &path);

		if (fd < 0)
			continue;
		error = symbol_image_read_file(fd, image);
		close(fd);
		free(path);
	}
	return error;
}

/* Keep hold of a file that its path will not lead to once the process is gone. */
static void hold_file(struct symbol_modules *modules, struct symbol_module *module)
{
	char *path = NULL;

	if (module->path[0] != '[' && symbol_module_file_is_plain(module->path, module->inode))
		return;
	for (unsigned attempt = 0; attempt < 3 && module->fd < 0; attempt++) {
		struct symbol_image image;
		int fd = symbol_module_file_open(modules->session, module, modules->pid, attempt,
						 &path);

		free(path);
		if (fd < 0)
			continue;
		if (symbol_image_read_file(fd, &image) == 0 &&
		    symbol_build_id_equal(&image.build_id, &module->build_id))
			module->fd = fd;
		else
			close(fd);
	}
}

static bool covered(const struct symbol_module_list *list, const struct symbol_mapping *mapping)
{
	for (size_t i = list->count; i-- > 0;) {
		const struct symbol_module *module = list->module[i];

		if (mapping->start >= module->start && mapping->start < module->end)
			return true;
	}
	return false;
}

static struct symbol_module *take_old(struct symbol_module_list *old,
				      const struct symbol_mapping *mapping)
{
	for (size_t i = 0; i < old->count; i++) {
		struct symbol_module *module = old->module[i];

		if (module && module->start == mapping->start && module->inode == mapping->inode &&
		    strcmp(module->path, mapping->path) == 0) {
			old->module[i] = NULL;
			return module;
		}
	}
	return NULL;
}

static int add_mapped(struct symbol_modules *modules, const struct symbol_mappings *mappings,
		      size_t index)
{
	const struct symbol_mapping *mapping = &mappings->mapping[index];
	struct symbol_image image;
	struct symbol_module *module;
	uint64_t address, low, high;

	if ((mapping->offset != 0 || !mapping->readable ||
	     symbol_image_read_memory(&modules->memory, mapping->start, &image) < 0) &&
	    (!mapping->executable || mapping->use != SYMBOL_MAPPING_FILE ||
	     read_image_of_file(modules, mapping, &image) < 0))
		return 0;
	if (symbol_image_address(&image, mapping->offset, mapping->executable, &address) < 0)
		return 0;
	module = symbol_module_create(modules->session, mapping->path, &image.build_id);
	if (!module)
		return -ENOMEM;
	module->inode = mapping->inode;
	module->deleted = mapping->deleted;
	module->start = mapping->start;
	module->bias = mapping->start - address;
	symbol_image_range(&image, &low, &high);
	module->end = end_of_run(mappings, index, high + module->bias);
	module->bad = symbol_module_is_fatal(modules->session, module);
	hold_file(modules, module);
	if (symbol_module_append(&modules->loaded, module) < 0) {
		symbol_module_free(module);
		return -ENOMEM;
	}
	return 1;
}

static int add_all(struct symbol_modules *modules, const struct symbol_mappings *mappings,
		   struct symbol_module_list *old)
{
	int changed = 0;

	for (size_t i = 0; i < mappings->count; i++) {
		const struct symbol_mapping *mapping = &mappings->mapping[i];
		struct symbol_module *module;
		int added;

		if (mapping->use != SYMBOL_MAPPING_FILE && strcmp(mapping->path, "[vdso]") != 0)
			continue;
		if (covered(&modules->loaded, mapping))
			continue;
		module = take_old(old, mapping);
		added = module ? symbol_module_append(&modules->loaded, module)
			       : add_mapped(modules, mappings, i);
		if (added < 0)
			return added;
		changed |= added;
	}
	return changed;
}

static void retire(struct symbol_modules *modules, struct symbol_module_list *old)
{
	for (size_t i = 0; i < old->count; i++) {
		struct symbol_module *module = old->module[i];

		if (!module)
			continue;
		module->gone = true;
		if (modules->gone.count >= GONE_MAX) {
			symbol_module_free(modules->gone.module[0]);
			memmove(modules->gone.module, modules->gone.module + 1,
				(GONE_MAX - 1) * sizeof(*modules->gone.module));
			modules->gone.count--;
			symbol_count(modules->session, SYMBOL_STATISTIC_MODULES_FORGOTTEN);
		}
		if (symbol_module_append(&modules->gone, module) < 0)
			symbol_module_free(module);
	}
	free(old->module);
}

static int read_again(struct symbol_modules *modules)
{
	struct symbol_mappings mappings;
	struct symbol_module_list old = modules->loaded;
	int changed;

	symbol_count(modules->session, SYMBOL_STATISTIC_MAP_READS);
	changed = symbol_mappings_read(modules->pid, &mappings);
	if (changed < 0)
		return changed;
	memset(&modules->loaded, 0, sizeof(modules->loaded));
	changed = add_all(modules, &mappings, &old);
	for (size_t i = 0; i < old.count && changed == 0; i++)
		changed = old.module[i] != NULL;
	retire(modules, &old);
	sort_loaded(modules);
	symbol_mappings_free(&modules->mappings);
	modules->mappings = mappings;
	if (changed)
		modules->version++;
	return changed;
}

int symbol_modules_refresh(struct symbol_modules *modules)
{
	int changed;

	if (modules->pid == 0)
		return 0;
	modules->refreshed = clock_now();
	if (modules->session->asker)
		return modules->session->asker->refresh(modules);
	changed = read_again(modules);
	modules->took = clock_now() - modules->refreshed;
	return changed;
}

bool symbol_modules_may_refresh(const struct symbol_modules *modules, uint64_t pause)
{
	uint64_t passed = clock_now() - modules->refreshed;

	return passed > pause && passed > modules->took * REFRESH_PARTS;
}

uint64_t symbol_modules_version(const struct symbol_modules *modules)
{
	return modules->version;
}

/* Interface ------------------------------------------------------------------------------------ */

int symbol_modules_recorded(struct symbol_session *session, struct symbol_modules **result)
{
	struct symbol_modules *modules = calloc(1, sizeof(*modules));

	if (!modules)
		return -ENOMEM;
	modules->session = session;
	modules->id = ++session->last_id;
	modules->version = 1;
	modules->next = session->all;
	session->all = modules;
	*result = modules;
	return 0;
}

int symbol_modules_of_process(struct symbol_session *session, pid_t pid,
			      struct symbol_modules **result)
{
	int error = pid > 0 ? symbol_modules_recorded(session, result) : -EINVAL;

	if (error)
		return error;
	(*result)->pid = pid;
	(*result)->memory = symbol_memory_of_process(pid);
	error = symbol_modules_refresh(*result);
	if (error >= 0)
		return 0;
	symbol_modules_close(*result);
	*result = NULL;
	return error;
}

int symbol_modules_add(struct symbol_modules *modules, const struct symbol_module_record *record)
{
	struct symbol_module *module;

	if (!record->path || record->start >= record->end)
		return -EINVAL;
	module = symbol_module_create(modules->session, record->path, &record->build_id);
	if (!module)
		return -ENOMEM;
	module->start = record->start;
	module->end = record->end;
	module->bias = record->bias;
	module->recorded = true;
	module->bad = symbol_module_is_fatal(modules->session, module);
	if (symbol_module_append(&modules->loaded, module) < 0) {
		symbol_module_free(module);
		return -ENOMEM;
	}
	sort_loaded(modules);
	modules->version++;
	return 0;
}

static struct symbol_module *find_loaded(const struct symbol_modules *modules, uint64_t address)
{
	size_t low = 0, high = modules->loaded.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (modules->loaded.module[middle]->start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || address >= modules->loaded.module[low - 1]->end)
		return NULL;
	return modules->loaded.module[low - 1];
}

static struct symbol_module *find_gone(const struct symbol_modules *modules, uint64_t address)
{
	for (size_t i = modules->gone.count; i-- > 0;) {
		struct symbol_module *module = modules->gone.module[i];

		if (address >= module->start && address < module->end)
			return module;
	}
	return NULL;
}

const struct symbol_module *symbol_modules_find(struct symbol_modules *modules, uint64_t address)
{
	struct symbol_module *module = find_loaded(modules, address);

	if (module)
		return module;
	if (modules->pid && symbol_modules_may_refresh(modules, REFRESH_NANOSECONDS) &&
	    symbol_modules_refresh(modules) > 0)
		module = find_loaded(modules, address);
	return module ? module : find_gone(modules, address);
}

const struct symbol_module *symbol_modules_at(const struct symbol_modules *modules, size_t index)
{
	if (index < modules->loaded.count)
		return modules->loaded.module[index];
	index -= modules->loaded.count;
	return index < modules->gone.count ? modules->gone.module[index] : NULL;
}

static struct symbol_module *by_id(const struct symbol_module_list *list, uint64_t id)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->module[i]->id == id)
			return list->module[i];
	return NULL;
}

struct symbol_module *symbol_modules_by_id(const struct symbol_modules *modules, uint64_t id)
{
	struct symbol_module *module = modules ? by_id(&modules->loaded, id) : NULL;

	return module || !modules ? module : by_id(&modules->gone, id);
}

struct symbol_modules *symbol_modules_known(const struct symbol_session *session, uint64_t id)
{
	struct symbol_modules *modules = session->all;

	while (modules && modules->id != id)
		modules = modules->next;
	return modules;
}

const struct symbol_mappings *symbol_modules_mappings(const struct symbol_modules *modules)
{
	return &modules->mappings;
}

bool symbol_modules_mapping(const struct symbol_modules *modules, uint64_t address,
			    struct symbol_mapping *mapping)
{
	const struct symbol_mapping *found;

	if (modules->session->asker)
		return modules->session->asker->mapping(address, mapping);
	found = symbol_mappings_find(&modules->mappings, address);
	if (found)
		*mapping = *found;
	return found != NULL;
}

const struct symbol_memory *symbol_modules_memory(const struct symbol_modules *modules)
{
	return &modules->memory;
}

pid_t symbol_modules_pid(const struct symbol_modules *modules)
{
	return modules->pid;
}

struct symbol_session *symbol_modules_session(const struct symbol_modules *modules)
{
	return modules->session;
}

bool symbol_modules_is_main(const struct symbol_modules *modules,
			    const struct symbol_module *module)
{
	char path[64];
	Elf64_auxv_t vector[64];
	ssize_t got;
	int fd;

	if (modules->session->asker)
		return module->main;
	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)symbol_modules_pid(modules));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, vector, sizeof(vector));
	close(fd);
	for (ssize_t i = 0; i < got / (ssize_t)sizeof(vector[0]); i++)
		if (vector[i].a_type == AT_PHDR)
			return vector[i].a_un.a_val >= module->start &&
			       vector[i].a_un.a_val < module->end;
	return false;
}

static void open_object(struct symbol_modules *modules, struct symbol_module *module)
{
	bool is_file = module->path[0] == '/', opened = false;

	for (unsigned i = 0; i < SYMBOL_MODULE_FILE_ATTEMPTS && !module->object; i++) {
		char *path = NULL;
		int fd = symbol_module_file_open(modules->session, module, modules->pid, i, &path);

		if (fd >= 0)
			symbol_object_open(modules->session, fd, path, &module->build_id,
					   &module->object);
		opened |= fd >= 0;
		free(path);
	}
	if (is_file && !opened)
		symbol_count(modules->session, SYMBOL_STATISTIC_OBJECTS_REJECTED);
}

struct symbol_object *symbol_module_object(struct symbol_modules *modules,
					   const struct symbol_module *constant)
{
	/* All modules handed out are ours and writable; only what is lazy changes. */
	struct symbol_module *module = (struct symbol_module *)constant;

	if (modules->session->asker)
		modules->session->asker->blame(module);
	/* Where there is a reader nobody else reads, not even when it gave up. */
	if (modules->session->reader || module->bad)
		return NULL;
	if (module->tried)
		return module->object;
	module->tried = true;
	module->object = symbol_object_known(modules->session, &module->build_id);
	if (!module->object && module->held && modules->session->asker)
		module->fd = modules->session->asker->held_file(module);
	if (!module->object && module->fd >= 0) {
		symbol_object_open(modules->session, module->fd, module->path, &module->build_id,
				   &module->object);
		module->fd = -1;
	}
	if (!module->object)
		open_object(modules, module);
	return module->object;
}

void symbol_modules_close(struct symbol_modules *modules)
{
	struct symbol_modules **at;

	if (!modules)
		return;
	for (at = &modules->session->all; *at && *at != modules;)
		at = &(*at)->next;
	if (*at)
		*at = modules->next;
	if (modules->session->asking)
		modules->session->asking->forget(modules);
	symbol_mappings_free(&modules->mappings);
	list_free(&modules->loaded);
	list_free(&modules->gone);
	free(modules);
}

static void want_objects(const struct symbol_module_list *list, uint64_t number)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->module[i]->object)
			list->module[i]->object->wanted = number;
}

void symbol_modules_trim(struct symbol_session *session)
{
	uint64_t number = ++session->trims;

	for (struct symbol_modules *modules = session->all; modules; modules = modules->next) {
		want_objects(&modules->loaded, number);
		want_objects(&modules->gone, number);
	}
	symbol_objects_trim(session, number);
}
