/* SPDX-License-Identifier: Apache-2.0 */
/* Is an instruction an atomic operation, and what does its compiler guarantee of atomic
 * operations? */
#include "tool/judgement.h"

#include "account/account.h"
#include "control/control.h"
#include "symbol/compiler.h"
#include "tool/atomicity.h"
#include "tool/host.h"
#include "tool/variable.h"

#include <string.h>

static enum tl_atomicity judge(struct space *space, const struct tl_access *access,
			       char reason[SYMBOL_REASON_MAX])
{
	struct symbol_variable variable = {0};

	variable_find(space, &access, 1, &variable);
	return tool_atomicity(symbol_atomicity_judge(space_modules(space), access->pc, &variable,
						     tool_kind_of_load(access), reason));
}

/* The object that an instruction accesses decides as well: a function may be handed a plain
 * variable and an atomic one. Blocks of the heap and frames have no declarations by which they
 * could be told apart. */
static uint64_t judged_object(struct space *space, const struct tl_access *access)
{
	return symbol_modules_find(space_modules(space), access->address) ? access->address : 0;
}

enum tl_atomicity host_atomicity(struct tl_host *host, const struct tl_access *access,
				 const char **reason)
{
	struct space *space = control_space(host->set->control, access->pid);
	struct tool_judgement *known = &host->set->judgement[access->pc % TOOL_JUDGEMENTS];
	uint64_t object;

	*reason = NULL;
	if (!space || (access->access & TL_KERNEL))
		return TL_ATOMICITY_UNKNOWN;
	object = judged_object(space, access);
	if (known->pc != access->pc || known->pid != access->pid || known->object != object) {
		uint64_t begun = account_work_begin(host->set->program);

		control_quiesce(host->set->control);
		known->pc = access->pc;
		known->pid = access->pid;
		known->object = object;
		known->reason[0] = '\0';
		known->atomicity = judge(space, access, known->reason);
		account_work_end(host->set->program, begun);
	}
	*reason = known->reason[0] ? known->reason : NULL;
	return known->atomicity;
}

/* Debug information names the one compiler of this code; otherwise the file's section names all
 * that contributed to it. Without either nothing is known, and nothing is claimed. */
bool host_keeps_atomics_apart(struct tl_host *host, pid_t pid, uint64_t pc)
{
	struct space *space = control_space(host->set->control, pid);
	const char *producer = space ? symbol_producer(space_modules(space), pc) : NULL;
	size_t length = 0;
	const char *text = space ? symbol_compilers(space_modules(space), pc, &length) : NULL;

	if (producer)
		return symbol_producer_is_gcc(producer);
	return text && memmem(text, length, "GCC:", 4) && !memmem(text, length, "clang", 5) &&
	       !memmem(text, length, "rustc", 5);
}
