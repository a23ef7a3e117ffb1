/* SPDX-License-Identifier: Apache-2.0 */
/* From an access to what the rules ask of it. */
#include "heap/judge.h"

#include "heap/ahead.h"
#include "heap/state.h"

#include <string.h>

static bool is_own_code(const struct heap *heap, pid_t pid, uint64_t pc)
{
	const char *module = heap->services->module(heap->host, pid, pc);
	const char *name = module ? strrchr(module, '/') : NULL;

	return name && strncmp(name, "/libtrapline-agent", 18) == 0;
}

static bool is_system_call(const struct heap *heap, const struct tl_access *access)
{
	static const uint8_t syscall[] = {0x0f, 0x05};
	uint8_t code[sizeof(syscall)];

	return access->registers &&
	       heap->services->read(heap->host, access->pid, access->registers->pc - sizeof(code),
				    code, sizeof(code)) == (ssize_t)sizeof(code) &&
	       memcmp(code, syscall, sizeof(code)) == 0;
}

struct heap_verdict heap_judge_access(struct heap *heap, const struct tl_guarded *block,
				      const struct tl_access *access, bool is_sample)
{
	struct heap_access seen = {.address = access->address,
				   .length = access->length,
				   .time = access->time,
				   .access = access->access,
				   .traits = access->traits,
				   .is_sample = is_sample,
				   .is_too_much = ahead_loads_too_much(heap, block, access),
				   .is_own_code = is_own_code(heap, access->pid, access->pc)};
	struct heap_verdict verdict;

	seen.function = heap->services->function_name(heap->host, access->pid, access->pc);
	if (access->access & TL_KERNEL)
		seen.is_system_call = is_system_call(heap, access);
	verdict = heap_judge(block, &seen);
	if (verdict.rule)
		heap->services->count(heap->host, verdict.rule, 1);
	else if (verdict.kind != HEAP_NO_ERROR && (access->access & TL_WRITE))
		heap->told[heap->tolds++ % HEAP_TOLD] = block->serial;
	return verdict;
}
