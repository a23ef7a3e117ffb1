/* SPDX-License-Identifier: Apache-2.0 */
/* A program file: everything we ask of one, asked of whatever bytes these are. */
#include "ask_stack.h"

#include "atomicity/atomicity.h"
#include "elf/object.h"
#include "reader/open.h"
#include "symbol/expression.h"
#include "symbol/place.h"
#include "symbol/stack.h"
#include "symbol/target.h"
#include "symbol/variable.h"

#include <stdlib.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(struct symbol_modules *modules, uint64_t address)
{
	struct symbol_frame frames[SYMBOL_INLINE_MAX];
	struct symbol_variable variable;
	char reason[SYMBOL_REASON_MAX];

	symbol_place_find(modules, address, true, frames, SYMBOL_INLINE_MAX);
	ask_stack(modules, NULL, address);
	symbol_variable_find(modules, address, 4, NULL, 0, &variable);
	symbol_atomicity_judge(modules, address, &variable, SYMBOL_LOAD_OPERAND, reason);
}

static void ask_names(struct symbol_modules *modules)
{
	struct symbol_expression expression;
	struct symbol_target target;
	char error[SYMBOL_ERROR_MAX];

	if (symbol_expression_parse("server.stat.conns[3]->state", &expression, error) == 0)
		symbol_target_resolve(modules, &expression, &target, error);
	if (symbol_expression_parse("fixture.c:3", &expression, error) == 0)
		symbol_target_resolve(modules, &expression, &target, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("object", MFD_CLOEXEC);
	struct symbol_session *session;
	struct symbol_modules *modules;
	char path[64];
	struct symbol_module_record record = {.path = path, .start = 1, .end = 1ull << 40};

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size ||
	    symbol_session_open(&session, NULL) < 0)
		abort();
	if (symbol_modules_recorded(session, &modules) == 0 &&
	    symbol_modules_add(modules, &record) == 0) {
		for (uint64_t address = 0x1000; address < 0x1800; address += 0x31)
			ask(modules, address);
		for (uint64_t address = 0x4000; address < 0x4100; address += 0x10)
			ask(modules, address);
		ask_names(modules);
	}
	symbol_modules_close(modules);
	symbol_session_close(session);
	close(fd);
	return 0;
}
