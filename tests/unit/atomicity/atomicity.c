/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges every memory access of the fixtures, with no more of the variable than a fixed address
 * tells. Lines marked "plain:" must have a plain one; of lines marked "atomic:" each access is
 * atomic, said to be in a statement with an atomic operation, or of a volatile that serves as one;
 * of lines marked "doubted:" none is plain. On lines marked "ordered:" and "volatile:" all are of a
 * volatile, in a function that orders memory and in one that does not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <trapline/event.h>
#include <fcntl.h>
#include <unistd.h>

#include "atomicity/atomicity.h"
#include "elf/object.h"
#include "insn/insn.h"
#include "reader/open.h"
#include "source/source.h"
#include "symbol/place.h"

#define LINES_MAX 512

struct check {
	struct symbol_session *session;
	struct symbol_modules *modules;
	struct symbol_object *object;
	const char *source;
	unsigned plain[LINES_MAX], other[LINES_MAX];
	unsigned wrong;
};

static bool marked(struct check *check, unsigned line, const char *mark)
{
	char text[512];

	return symbol_source_line(check->session, check->source, line, text, sizeof(text)) == 0 &&
	       strstr(text, mark);
}

/* The object that an operand at a fixed address names. */
static const struct symbol_variable *object(struct check *check, const struct insn *insn,
					    const struct insn_operand *operand, uint64_t pc,
					    struct symbol_variable *variable)
{
	const uint64_t address = pc + insn->length + (uint64_t)operand->displacement;

	if (operand->base != 16 || operand->index != -1)
		return NULL;
	symbol_variable_find(check->modules, address, operand->size, NULL, 0, variable);
	return variable;
}

static const struct insn_operand *shared_memory(const struct insn *insn)
{
	for (unsigned i = 0; i < insn->operand_count; i++) {
		const struct insn_operand *operand = &insn->operand[i];

		if (operand->access && operand->base != 4 && operand->base != 5 &&
		    !operand->stack_push && !operand->stack_pop)
			return operand;
	}
	return NULL;
}

/* `operand` accesses memory that is no stack's. */
static void judge(struct check *check, uint64_t pc, const struct insn *insn,
		  const struct insn_operand *operand)
{
	struct symbol_variable found;
	const struct symbol_variable *variable = object(check, insn, operand, pc, &found);
	enum symbol_load load = operand->access != TL_READ ? SYMBOL_LOAD_NONE
				: insn->plain_move	   ? SYMBOL_LOAD_MOVE
							   : SYMBOL_LOAD_OPERAND;
	struct symbol_frame frames[SYMBOL_INLINE_MAX];
	char reason[SYMBOL_REASON_MAX];
	size_t count = symbol_place_find(check->modules, pc, false, frames, SYMBOL_INLINE_MAX);
	enum symbol_atomicity answer =
		symbol_atomicity_judge(check->modules, pc, variable, load, reason);

	/* What it says is of the line that the report shows, not of where the statement begins. */
	if (answer == SYMBOL_ATOMICITY_PLAIN) {
		unsigned told = 0;

		if (sscanf(reason, "line %u ", &told) == 1)
			assert_int_equal(told, frames[0].line);
	}
	for (size_t i = 0; i < count; i++) {
		unsigned line = frames[i].line;

		if (!frames[i].file || strcmp(frames[i].file, check->source) != 0 ||
		    line >= LINES_MAX)
			continue;
		if ((answer == SYMBOL_ATOMICITY_PLAIN ||
		     (answer == SYMBOL_ATOMICITY_UNKNOWN && !strstr(reason, "volatile"))) &&
		    marked(check, line, "/* atomic: ")) {
			print_message("line %u, %#lx: %s\n", line, (unsigned long)pc, reason);
			check->wrong++;
		}
		if (answer == SYMBOL_ATOMICITY_PLAIN && marked(check, line, "/* doubted: ")) {
			print_message("line %u, %#lx: %s\n", line, (unsigned long)pc, reason);
			check->wrong++;
		}
		if ((answer != SYMBOL_ATOMICITY_ORDERED && marked(check, line, "/* ordered: ")) ||
		    (answer != SYMBOL_ATOMICITY_VOLATILE && marked(check, line, "/* volatile: "))) {
			print_message("line %u, %#lx: %s\n", line, (unsigned long)pc, reason);
			check->wrong++;
		}
		if (answer == SYMBOL_ATOMICITY_PLAIN)
			check->plain[line]++;
		else
			check->other[line]++;
		if (answer != SYMBOL_ATOMICITY_PLAIN && marked(check, line, "/* plain: "))
			print_message("line %u, %#lx: answer %d: %s\n", line, (unsigned long)pc,
				      (int)answer, reason);
	}
}

static void judge_all(struct check *check)
{
	uint64_t address = 0, at = 0;
	Elf_Data *text = symbol_object_section(check->object, ".text", &address);

	assert_non_null(text);
	while (at < text->d_size) {
		struct insn insn;

		if (insn_decode((const uint8_t *)text->d_buf + at, text->d_size - at, address + at,
				&insn) < 0) {
			at++;
			continue;
		}
		if (shared_memory(&insn))
			judge(check, address + at, &insn, shared_memory(&insn));
		at += insn.length;
	}
}

/* Returns how many lines it met that are marked as atomic or doubted. */
static unsigned check_program(const char *program, const char *source)
{
	struct symbol_module_record record = {.path = program};
	struct check check = {.source = source};
	struct symbol_image image;
	const struct symbol_module *module;
	unsigned missing = 0, seen = 0, atomic = 0, doubted = 0;
	int fd = open(program, O_RDONLY | O_CLOEXEC);

	print_message("%s\n", program);
	assert_int_equal(symbol_image_read_file(fd, &image), 0);
	close(fd);
	symbol_image_range(&image, &record.start, &record.end);
	if (record.start == 0)
		record.start = 1; /* the first byte is no code */
	record.build_id = image.build_id;
	assert_int_equal(symbol_session_open(&check.session, NULL), 0);
	assert_int_equal(symbol_modules_recorded(check.session, &check.modules), 0);
	assert_int_equal(symbol_modules_add(check.modules, &record), 0);
	module = symbol_modules_at(check.modules, 0);
	check.object = symbol_module_object(check.modules, module);
	assert_non_null(check.object);
	judge_all(&check);
	for (unsigned line = 1; line < LINES_MAX; line++) {
		bool plain = marked(&check, line, "/* plain: ");

		missing += plain && check.plain[line] == 0 && check.other[line];
		seen += plain && check.plain[line];
		atomic += check.other[line] && marked(&check, line, "/* atomic: ");
		doubted += check.other[line] && marked(&check, line, "/* doubted: ");
	}
	print_message("%u plain lines, %u atomic\n", seen, atomic);
	symbol_modules_close(check.modules);
	symbol_session_close(check.session);
	assert_int_equal(check.wrong, 0);
	assert_int_equal(missing, 0);
	assert_true(seen + doubted >= 1); /* it did look */
	return atomic + doubted;
}

static void test_programs(void **state)
{
	static const char *const programs[][2] = {ATOMICS_PROGRAMS};

	const size_t count = sizeof(programs) / sizeof(programs[0]);

	(void)state;
	/*
	 * Programs of one source follow each other. Not every level need have atomic lines: without
	 * optimisation older rustc calls functions of its own library for them.
	 */
	for (size_t i = 0; i < count;) {
		const char *source = programs[i][1];
		unsigned atomic = 0;

		for (; i < count && strcmp(programs[i][1], source) == 0; i++)
			atomic += check_program(programs[i][0], source);
		assert_true(atomic >= 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_programs)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
