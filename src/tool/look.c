/* SPDX-License-Identifier: Apache-2.0 */
/* What a tool may ask of a process: its memory, functions, names, expressions. */
#include "tool/look.h"

#include "control/control.h"
#include "process/thread_pointer.h"
#include "symbol/target.h"
#include "tool/host.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

int host_memory(struct tl_host *host, pid_t pid, uint64_t address, struct tl_memory *memory)
{
	struct space *space = control_space(host->set->control, pid);
	struct symbol_mapping mapping;

	if (!space)
		return -ENOENT;
	if (!symbol_modules_mapping(space_modules(space), address, &mapping)) {
		space_learn(space, address);
		if (!symbol_modules_mapping(space_modules(space), address, &mapping))
			return -ENOENT;
	}
	*memory = (struct tl_memory){
		.start = mapping.start,
		.end = mapping.end,
		.device = makedev(mapping.device_major, mapping.device_minor),
		.inode = mapping.inode,
		.offset = mapping.offset,
		.shared = mapping.shared,
		.writable = mapping.writable,
	};
	return 0;
}

int host_function(struct tl_host *host, pid_t pid, uint64_t pc, uint64_t *start, uint64_t *end)
{
	struct space *space = control_space(host->set->control, pid);

	return space ? space_whole_function(space, pc, start, end) : -ENOENT;
}

static int evaluate(struct symbol_modules *modules, const struct symbol_target *target,
		    uint64_t fs_base, struct tl_expression *meaning, char *error, size_t size)
{
	int err;

	meaning->thread_local_copy = target->tls;
	if (target->tls && !fs_base)
		return 0;
	err = symbol_target_evaluate(modules, target, symbol_modules_memory(modules), fs_base,
				     &meaning->address, NULL);
	if (err) {
		snprintf(error, size, "a pointer on the way is NULL");
		return -EAGAIN;
	}
	return 0;
}

int host_resolve(struct tl_host *host, pid_t pid, const char *text, uint64_t fs_base,
		 struct tl_expression *meaning, char *error, size_t size)
{
	struct space *space = control_space(host->set->control, pid);
	struct symbol_expression expression;
	struct symbol_target target;
	char reason[SYMBOL_ERROR_MAX] = "";
	int err;

	memset(meaning, 0, sizeof(*meaning));
	if (!space)
		return -EAGAIN;
	err = symbol_expression_parse(text, &expression, reason);
	if (!err)
		err = symbol_target_resolve(space_modules(space), &expression, &target, reason);
	snprintf(error, size, "%s", reason);
	if (err)
		return err;
	meaning->length = target.length;
	switch (target.kind) {
	case SYMBOL_TARGET_DATA:
		return evaluate(space_modules(space), &target, fs_base, meaning, error, size);
	case SYMBOL_TARGET_HEAP_BLOCKS:
		meaning->address = (uint64_t)target.offset[0];
		meaning->block_size = target.block_size;
		meaning->maker = target.code[0];
		meaning->maker_end = target.code_end;
		return 0;
	default:
		snprintf(error, size, "it names code, which holds no value");
		return -EINVAL;
	}
}

uint64_t host_entry(struct tl_host *host, pid_t pid, const char *text)
{
	struct space *space = control_space(host->set->control, pid);
	struct symbol_expression expression;
	struct symbol_target target;
	char reason[SYMBOL_ERROR_MAX];

	if (!space || symbol_expression_parse(text, &expression, reason) ||
	    symbol_target_resolve(space_modules(space), &expression, &target, reason) ||
	    target.kind != SYMBOL_TARGET_CODE_PLACES || !target.code_count)
		return 0;
	return target.code[0];
}

uint64_t host_thread_pointer(struct tl_host *host, pid_t pid, pid_t tid)
{
	struct space *space = control_space(host->set->control, pid);

	return space ? thread_pointer(space, tid) : 0;
}
