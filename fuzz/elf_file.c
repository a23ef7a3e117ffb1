/* SPDX-License-Identifier: Apache-2.0 */
/* A file that a process has mapped, whatever its bytes are: named, unwound and judged by the path
 * that the controller takes, from the process's map on. The process is this one. */
#include "ask_stack.h"

#include "atomicity/atomicity.h"
#include "symbol/bounds.h"
#include "symbol/function_name.h"
#include "symbol/compiler.h"
#include "symbol/copies.h"
#include "symbol/expression.h"
#include "reader/open.h"
#include "symbol/place.h"
#include "symbol/stack.h"
#include "symbol/target.h"
#include "symbol/tls.h"
#include "symbol/variable.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE_MAX_TRIED (64u << 10)
#define ADDRESSES 40

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[64];

static void remove_file(void)
{
	unlink(path);
}

static uint64_t pointer_of_thread(void)
{
	return (uint64_t)(uintptr_t)__builtin_thread_pointer();
}

static void ask_code(struct symbol_modules *modules, uint64_t address)
{
	struct symbol_frame frames[SYMBOL_INLINE_MAX];
	char reason[SYMBOL_REASON_MAX];
	uint64_t start, end;

	symbol_place_find(modules, address, true, frames, SYMBOL_INLINE_MAX);
	ask_stack(modules, symbol_modules_memory(modules), address);
	symbol_bounds_find(modules, address, &start, &end);
	symbol_function_name(modules, address);
	symbol_atomicity_judge(modules, address, NULL, SYMBOL_LOAD_OPERAND, reason);
}

static void ask_data(struct symbol_modules *modules, uint64_t address)
{
	struct symbol_thread thread = {.tid = getpid(), .fs_base = pointer_of_thread()};
	struct symbol_variable variable;
	char reason[SYMBOL_REASON_MAX];

	symbol_variable_find(modules, address, 4, &thread, 1, &variable);
	symbol_atomicity_judge(modules, address, &variable, SYMBOL_LOAD_OPERAND, reason);
}

/* How many bytes these are is part of the answer: each is looked at. */
static unsigned sum_compilers(struct symbol_modules *modules, uint64_t address)
{
	size_t length = 0;
	const char *text = symbol_compilers(modules, address, &length);
	unsigned sum = 0;

	for (size_t i = 0; text && i < length; i++)
		sum += (unsigned char)text[i];
	return sum;
}

static void ask_module(struct symbol_modules *modules, uint64_t start)
{
	const struct symbol_module *module = symbol_modules_find(modules, start);
	struct symbol_expression expression;
	struct symbol_target target;
	struct symbol_copies copies;
	char error[SYMBOL_ERROR_MAX], name[96];
	uint64_t block;

	if (!module)
		return;
	symbol_tls_block(modules, module, pointer_of_thread(), &block);
	symbol_copies_find(modules, module, "work", &copies);
	/* Of this module alone: the others are large. */
	snprintf(name, sizeof(name), "%s:own", strrchr(path, '/') + 1);
	if (!symbol_expression_parse(name, &expression, error) &&
	    !symbol_target_resolve(modules, &expression, &target, error))
		symbol_target_evaluate(modules, &target, symbol_modules_memory(modules),
				       pointer_of_thread(), &block, NULL);
}

static void ask(uint64_t start, uint64_t length)
{
	uint64_t step = length / ADDRESSES | 1;
	struct symbol_session *session;
	struct symbol_modules *modules;

	if (symbol_session_open(&session, NULL) < 0)
		abort();
	if (!symbol_modules_of_process(session, getpid(), &modules)) {
		ask_module(modules, start);
		for (uint64_t at = 0; at < length; at += step) {
			ask_code(modules, start + at);
			ask_data(modules, start + at);
		}
		if (sum_compilers(modules, start) == 1)
			puts("");
		symbol_modules_close(modules);
	}
	symbol_session_close(session);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *mapped;
	int fd;

	if (!size || size > SIZE_MAX_TRIED)
		return 0;
	if (!path[0]) {
		snprintf(path, sizeof(path), "/dev/shm/trapline_fuzz_%d.so", (int)getpid());
		atexit(remove_file);
	}
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	mapped = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	if (mapped == MAP_FAILED)
		return 0;
	ask((uintptr_t)mapped, size);
	munmap(mapped, size);
	return 0;
}
