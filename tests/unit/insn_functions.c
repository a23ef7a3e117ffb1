/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoding forward through every function of the C library (as its unwind tables delimit them) ends
 * exactly at the function's end: the premise of insn_previous(). Each instruction on the way
 * decodes in full with the same length.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "insn/insn.h"
#include "insn/length.h"
#include "unwind/unwind.h"

struct tally {
	unsigned functions, missed;
	unsigned long instructions, memory, atomic;
};

/* 1 if it ends where it should. */
static int walk(uintptr_t start, uintptr_t end, struct tally *tally)
{
	struct insn insn;

	for (uintptr_t at = start; at < end; at += insn.length) {
		const uint8_t *code = (const uint8_t *)at;

		if (insn_decode(code, end - at, at, &insn) ||
		    insn_length(code, end - at) != insn.length) {
			fprintf(stderr, "cannot decode at %lx in %lx..%lx\n", (long)at, (long)start,
				(long)end);
			return 0;
		}
		tally->instructions++;
		tally->memory += insn.operand_count > 0;
		tally->atomic += insn.atomic;
	}
	return 1;
}

static void walk_segment(uintptr_t from, uintptr_t to, struct tally *tally)
{
	uintptr_t start, end;

	for (uintptr_t pc = from; pc < to; pc++) {
		if (unwind_function_bounds(pc, &start, &end))
			continue;
		tally->functions++;
		tally->missed += !walk(start, end, tally);
		pc = end - 1;
	}
}

static int walk_object(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	if (!info->dlpi_name || !strstr(info->dlpi_name, "libc.so"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uintptr_t from = info->dlpi_addr + header->p_vaddr;

		if (header->p_type == PT_LOAD && (header->p_flags & PF_X))
			walk_segment(from, from + header->p_memsz, context);
	}
	return 0;
}

static void every_function_of_libc_ends_where_it_should(void **state)
{
	struct tally tally = {0};

	(void)state;
	dl_iterate_phdr(walk_object, &tally);
	printf("%u functions, %lu instructions, %lu with memory operands, %lu atomic, %u missed\n",
	       tally.functions, tally.instructions, tally.memory, tally.atomic, tally.missed);
	assert_true(tally.functions > 1000);
	assert_int_equal(tally.missed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_function_of_libc_ends_where_it_should),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
