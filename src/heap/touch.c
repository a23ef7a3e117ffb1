/* SPDX-License-Identifier: Apache-2.0 */
#include "heap/touch.h"

#include "heap/judge.h"
#include "heap/place.h"
#include "heap/say.h"
#include "heap/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* A fault, and what its page is filled with. */
struct touch {
	const struct pages_fault *fault;
	const uint8_t *content;
};

static void fill(void *context)
{
	const struct touch *touch = context;

	pages_fill(touch->fault, touch->content);
}

/* What the freed block held there, as far as that was kept; the page behind a block is empty. */
static void content_of(struct heap *heap, const struct tl_guarded *block, uint64_t page,
		       uint8_t content[static TL_GUARD_PAGE])
{
	uint64_t from = page > block->address ? page : block->address;
	uint64_t to = block->address + block->kept_length;

	if (to > page + TL_GUARD_PAGE)
		to = page + TL_GUARD_PAGE;
	if (block->freed && block->kept && from < to)
		heap->services->read(heap->host, block->pid, block->kept + (from - block->address),
				     content + (from - page), to - from);
}

/* The system call that the thread is in; -1: none, or that cannot be told. */
static int call_of(const struct pages_fault *fault)
{
	char path[64], text[32] = "", *end = text;
	long number = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)fault->pid, (int)fault->tid);
	file = fopen(path, "re");
	if (!file)
		return -1;
	if (fgets(text, sizeof(text), file))
		number = strtol(text, &end, 10);
	fclose(file);
	return end == text ? -1 : (int)number;
}

/* Calls that fill pages with memory, and do not look at what is in them. */
static bool fills_alone(int call)
{
	return call == SYS_mlockall || call == SYS_mlock || call == SYS_mlock2 ||
	       call == SYS_madvise;
}

/* No slot was to be had: the access is told as the fault ends. What comes to the page later is not
 * seen. */
static void tell_touch(struct heap *heap, const struct tl_guarded *block, struct touch *touch,
		       int call)
{
	const struct pages_fault *at = touch->fault;
	const struct tl_fault fault = {.size = sizeof(fault),
				       .pid = at->pid,
				       .tid = at->tid,
				       .address = at->address,
				       .write = at->write,
				       .call = call,
				       .fill = fill,
				       .context = touch};
	struct heap_verdict verdict;
	struct tl_access access;

	if (heap->services->complete_fault(heap->host, &fault, &access)) {
		heap->services->count(heap->host, "heap-pages-unwatched", 1);
		return;
	}
	heap->services->count(heap->host, "heap-pages-told", 1);
	/* It has no result yet: what it was asked for is told. */
	place_call(heap, block, &access);
	verdict = heap_judge_access(heap, block, &access, false);
	if (verdict.kind != HEAP_NO_ERROR)
		say_access(heap, block, &access, &verdict, STRATEGY_PAGE);
}

/* A freed block, or the page behind one, is about to be accessed. */
static void look_at(struct heap *heap, const struct tl_guarded *block, struct touch *touch)
{
	int call = call_of(touch->fault);

	if (fills_alone(call))
		heap->services->count(heap->host, "heap-pages-locked", 1);
	/* Our own part in the program reads memory by process_vm_readv(). */
	if (fills_alone(call) || call == SYS_process_vm_readv ||
	    watches_fault(heap, block, touch->fault))
		fill(touch);
	else
		tell_touch(heap, block, touch, call);
}

void touch_look(struct heap *heap, const struct pages_fault *fault)
{
	static uint8_t content[TL_GUARD_PAGE]; /* callbacks run in one thread */
	struct touch touch = {fault, content};
	struct tl_guarded block;
	bool known = heap->services->guarded(heap->host, fault->pid, fault->address, &block);

	heap->services->count(heap->host, "heap-pages-touched", 1);
	memset(content, 0, sizeof(content));
	if (known)
		content_of(heap, &block, fault->address & ~(uint64_t)(TL_GUARD_PAGE - 1), content);
	/* A program may empty pages of its block itself. */
	if (known &&
	    (block.freed || fault->address >= block.back || fault->address < block.address))
		look_at(heap, &block, &touch);
	else
		fill(&touch);
}
