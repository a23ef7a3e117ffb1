/* SPDX-License-Identifier: Apache-2.0 */
/* Findings in words: the access or the call, the block, and what became of it. */
#include "heap/say.h"

#include "heap/remember.h"
#include "heap/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SENTENCE 200
#define EVIDENCE_MAX 4
#define DETAILS_MAX 4

struct sentence {
	char text[SENTENCE];
};

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

struct amount {
	char text[48];
};

static struct amount bytes(uint64_t count)
{
	struct amount said;

	snprintf(said.text, sizeof(said.text), "%" PRIu64 " byte%s", count, plural(count));
	return said;
}

static const char *operation(unsigned access)
{
	switch (access & (TL_READ | TL_WRITE)) {
	case TL_READ:
		return "read";
	case TL_WRITE:
		return "write";
	case TL_READ | TL_WRITE:
		return "update";
	default:
		return "access";
	}
}

static struct tl_object object_of(const struct tl_guarded *block)
{
	return (struct tl_object){.kind = "heap",
				  .address = block->address,
				  .size = block->length,
				  .made = block->made,
				  .ended = block->ended};
}

static const unsigned evidences[] = {[HEAP_USE_AFTER_FREE] = CONTEXTS_FREED,
				     [HEAP_AFTER] = CONTEXTS_AFTER,
				     [HEAP_BEFORE] = CONTEXTS_BEFORE};

static const char *const kinds[] = {[HEAP_USE_AFTER_FREE] = "heap-use-after-free",
				    [HEAP_AFTER] = "heap-buffer-overflow",
				    [HEAP_BEFORE] = "heap-buffer-overflow"};

struct place {
	char text[sizeof(struct amount) + sizeof(" inside")];
};

/* Where an address lies as seen from a block: "24 bytes inside", "0 bytes after", "1 byte before".
 */
static struct place place_of(const struct tl_guarded *block, uint64_t address)
{
	uint64_t end = block->address + block->length;
	struct place said;

	if (address < block->address)
		snprintf(said.text, sizeof(said.text), "%s before",
			 bytes(block->address - address).text);
	else if (address < end)
		snprintf(said.text, sizeof(said.text), "%s inside",
			 bytes(address - block->address).text);
	else
		snprintf(said.text, sizeof(said.text), "%s after", bytes(address - end).text);
	return said;
}

/* "write of 1 byte, 3 bytes after a block of 13 bytes" */
static struct sentence describe(const struct tl_guarded *block, const struct tl_access *access,
				const struct heap_verdict *verdict)
{
	uint64_t end = block->address + block->length, last = access->address + access->length;
	bool is_freed = verdict->kind == HEAP_USE_AFTER_FREE;
	struct sentence said;
	int length = snprintf(said.text, sizeof(said.text), "%s of %s, %s a %sblock of %s",
			      operation(access->access), bytes(access->length).text,
			      place_of(block, access->address).text, is_freed ? "freed " : "",
			      bytes(block->length).text);

	if (verdict->kind == HEAP_AFTER && access->address < end && length > 0 &&
	    (size_t)length < sizeof(said.text))
		snprintf(said.text + length, sizeof(said.text) - (size_t)length,
			 " and %s beyond its end", bytes(last - end).text);
	return said;
}

static void report(struct heap *heap, const struct tl_report *finding,
		   const struct tl_guarded *block)
{
	struct tl_object object = object_of(block);
	struct tl_report whole = *finding;

	whole.size = sizeof(whole);
	if (block->address)
		whole.object = &object;
	heap->services->report(heap->host, &whole);
}

/* Where it went wrong once it goes wrong again: from now on every block of the context is guarded.
 */
static void raise_context(struct heap *heap, const struct tl_guarded *block, unsigned evidence)
{
	if (!block->made.count)
		return;
	if (heap->services->interposed(heap->host, block->pid) &&
	    !heap->services->guard_always(heap->host, block->pid, block->made.pcs[0] + 1, 0))
		heap->services->count(heap->host, "heap-contexts-certain", 1);
	remember_note(heap->remember, block, evidence);
}

void say_access(struct heap *heap, const struct tl_guarded *block, const struct tl_access *access,
		const struct heap_verdict *verdict, const char *strategy)
{
	struct sentence message = describe(block, access, verdict);
	struct tl_detail side = {"side", verdict->kind == HEAP_AFTER ? "after" : "before"};
	struct tl_report finding = {.kind = kinds[verdict->kind],
				    .certainty = verdict->certainty,
				    .message = message.text,
				    .accesses = &access,
				    .access_count = 1,
				    .details = &side,
				    .detail_count = verdict->kind != HEAP_USE_AFTER_FREE,
				    .strategy = strategy};

	report(heap, &finding, block);
	raise_context(heap, block, evidences[verdict->kind]);
}

/* ---- wrong calls ---------------------------------------------------------------------------- */

static const char *maker_of(enum tl_guarded_family family)
{
	static const char *const makers[] = {
		[TL_GUARDED_MALLOC] = "malloc()",
		[TL_GUARDED_NEW] = "operator new",
		[TL_GUARDED_NEW_ARRAY] = "operator new[]",
		[TL_GUARDED_NEW_ALIGNED] = "operator new with an alignment",
		[TL_GUARDED_NEW_ARRAY_ALIGNED] = "operator new[] with an alignment"};

	return family <= TL_GUARDED_NEW_ARRAY_ALIGNED ? makers[family] : "another function";
}

static const char *freer_of(enum tl_guarded_family family)
{
	static const char *const freers[] = {
		[TL_GUARDED_MALLOC] = "free() or realloc()",
		[TL_GUARDED_NEW] = "operator delete",
		[TL_GUARDED_NEW_ARRAY] = "operator delete[]",
		[TL_GUARDED_NEW_ALIGNED] = "operator delete with an alignment",
		[TL_GUARDED_NEW_ARRAY_ALIGNED] = "operator delete[] with an alignment"};

	return family <= TL_GUARDED_NEW_ARRAY_ALIGNED ? freers[family] : "another function";
}

/* The process had ended when the call was looked at, as that of a call shortly after another
 * finding, whose symbols took their time. */
static struct sentence describe_unknown(const struct tl_guarded_news *news)
{
	const char *text = "a block is freed by another kind of function than made it";
	struct sentence said;

	if (news->event == TL_GUARDED_FREED_TWICE)
		text = "a block is freed again";
	if (news->event == TL_GUARDED_FREED_INSIDE)
		text = "free of an address inside a block";
	snprintf(said.text, sizeof(said.text), "%s", text);
	if (news->event == TL_GUARDED_FREED_OTHERWISE && news->length)
		snprintf(said.text, sizeof(said.text),
			 "a block is deleted as one of %s, which is not its size",
			 bytes(news->length).text);
	return said;
}

static struct sentence describe_call(const struct tl_guarded_news *news)
{
	const struct tl_guarded *block = news->block;
	struct sentence said;

	if (!block->serial && news->event != TL_GUARDED_FREED_NO_BLOCK)
		return describe_unknown(news);
	switch (news->event) {
	case TL_GUARDED_FREED_TWICE:
		snprintf(said.text, sizeof(said.text), "a block of %s is freed again",
			 bytes(block->length).text);
		break;
	case TL_GUARDED_FREED_INSIDE:
		snprintf(said.text, sizeof(said.text), "free of an address %s a %sblock of %s",
			 place_of(block, news->address).text, block->freed ? "freed " : "",
			 bytes(block->length).text);
		break;
	case TL_GUARDED_FREED_OTHERWISE:
		if (news->length)
			snprintf(said.text, sizeof(said.text),
				 "a block of %s made by %s is deleted as one of %s",
				 bytes(block->length).text, maker_of(block->family),
				 bytes(news->length).text);
		else
			snprintf(said.text, sizeof(said.text),
				 "a block of %s made by %s is freed by %s",
				 bytes(block->length).text, maker_of(block->family),
				 freer_of(news->freer));
		break;
	default:
		snprintf(said.text, sizeof(said.text),
			 "free of 0x%" PRIx64 ", which is no block of the heap", news->address);
	}
	return said;
}

static const char *call_kind(enum tl_guarded_event event)
{
	if (event == TL_GUARDED_FREED_TWICE)
		return "double-free";
	return event == TL_GUARDED_FREED_OTHERWISE ? "mismatched-free" : "invalid-free";
}

void say_call(struct heap *heap, const struct tl_guarded_news *news, enum tl_certainty certainty,
	      const char *evidence)
{
	struct sentence message = describe_call(news);
	struct tl_access call = *news->from;
	const struct tl_access *access = &call;
	struct tl_report finding = {.kind = call_kind(news->event),
				    .certainty = certainty,
				    .message = message.text,
				    .evidence = &evidence,
				    .evidence_count = evidence ? 1 : 0,
				    .accesses = &access,
				    .access_count = 1,
				    .strategy = STRATEGY_CALL};

	call.address = news->address;
	report(heap, &finding, news->block);
	raise_context(heap, news->block, 0);
}

/* ---- patterns ------------------------------------------------------------------------------- */

static struct sentence describe_broken(const struct tl_guarded_news *news)
{
	const struct tl_guarded *block = news->block;
	struct sentence said;

	snprintf(said.text, sizeof(said.text), "%s, %s a %sblock of %s, %s overwritten",
		 bytes(news->length).text, place_of(block, news->address).text,
		 news->event == TL_GUARDED_BROKEN_FREED ? "freed " : "", bytes(block->length).text,
		 news->length == 1 ? "was" : "were");
	return said;
}

static enum heap_error broken_error(enum tl_guarded_event event)
{
	if (event == TL_GUARDED_BROKEN_FREED)
		return HEAP_USE_AFTER_FREE;
	return event == TL_GUARDED_BROKEN_FRONT ? HEAP_BEFORE : HEAP_AFTER;
}

/* By CLOCK_MONOTONIC, as far as both are known. */
static struct sentence describe_time(const struct tl_guarded_news *news)
{
	const struct tl_guarded *block = news->block;
	uint64_t since = news->event == TL_GUARDED_BROKEN_FREED ? block->ended.time
								: block->checked;
	uint64_t ago = news->from->time > since ? news->from->time - since : 0;
	struct sentence said;

	snprintf(said.text, sizeof(said.text),
		 "the pattern was whole %.3f ms before it was found broken", (double)ago / 1e6);
	return said;
}

/*
 * Who did it is not known: the finding has the block's stacks, and as its place the block's
 * allocation, so that two such blocks are two findings.
 */
void say_broken(struct heap *heap, const struct tl_guarded_news *news)
{
	const struct tl_guarded *block = news->block;
	enum heap_error error = broken_error(news->event);
	struct sentence message = describe_broken(news), between = describe_time(news);
	struct tl_access place = {.size = sizeof(place),
				  .pid = block->pid,
				  .tid = block->made.tid,
				  .time = news->from->time,
				  .address = news->address,
				  .length = news->length,
				  .access = TL_WRITE,
				  .traits = TL_TRAIT_UNSEEN,
				  .pc = block->made.count ? block->made.pcs[0] : 0};
	const struct tl_access *access = &place;
	const char *evidence[] = {
		"only the broken pattern was seen, not who wrote: the first stack shown is the "
		"allocation's",
		"from now on every block allocated there is watched"};
	struct tl_detail details[] = {{"between", between.text},
				      {"side", error == HEAP_BEFORE ? "before" : "after"}};
	struct tl_report finding = {.kind = kinds[error],
				    .certainty = TL_DEFINITE,
				    .message = message.text,
				    .evidence = evidence,
				    .evidence_count = 2,
				    .accesses = &access,
				    .access_count = 1,
				    .details = details,
				    .detail_count = error == HEAP_USE_AFTER_FREE ? 1 : 2,
				    .strategy = STRATEGY_PATTERN};

	report(heap, &finding, block);
	raise_context(heap, block, evidences[error]);
}
