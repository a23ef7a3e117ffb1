/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to watch, as people write it:
 *
 *   counter  server.stat.count  conns[3]->state  *p  symbol+16  lib.so:symbol  file.c:variable
 *   0xADDR:LEN  function  file.c:123  heap:SIZE@function  heap:SIZE@function+OFFSET      then :LEN
 * and :r|w|rw|x
 *
 * This file only reads the text; symbol/target.h finds what it means.
 */
#ifndef SYMBOL_EXPRESSION_H
#define SYMBOL_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYMBOL_EXPRESSION_TEXT 512
#define SYMBOL_EXPRESSION_STEPS 24
#define SYMBOL_ERROR_MAX 512

enum symbol_expression_kind {
	SYMBOL_EXPRESSION_NAME,	   /* a variable or a function: `name`, perhaps in `qualifier` */
	SYMBOL_EXPRESSION_ADDRESS, /* `number` */
	SYMBOL_EXPRESSION_LINE,	   /* line `number` of source file `qualifier` */
	SYMBOL_EXPRESSION_HEAP,	   /* blocks of `number` bytes allocated by function `name` */
};

enum symbol_step_kind {
	SYMBOL_STEP_MEMBER,	 /* .name */
	SYMBOL_STEP_ARROW,	 /* ->name */
	SYMBOL_STEP_INDEX,	 /* [number] */
	SYMBOL_STEP_OFFSET,	 /* +number or -number, in bytes */
	SYMBOL_STEP_DEREFERENCE, /* a leading * */
};

struct symbol_step {
	enum symbol_step_kind kind;
	const char *name;
	int64_t number;
};

/* Letters of the access asked for; 0: not said. */
enum { SYMBOL_ACCESS_READ = 1, SYMBOL_ACCESS_WRITE = 2, SYMBOL_ACCESS_EXECUTE = 4 };

struct symbol_expression {
	enum symbol_expression_kind kind;
	const char *qualifier; /* a module's or source file's name, or NULL */
	const char *name;
	uint64_t number;
	struct symbol_step step[SYMBOL_EXPRESSION_STEPS]; /* in the order they are applied */
	unsigned step_count;
	uint64_t length; /* 0: not said */
	unsigned access;
	char text[SYMBOL_EXPRESSION_TEXT]; /* what the pointers point into */
};

/* 0, or -EINVAL with a sentence in `error`. *expression is not to be copied: it points into itself.
 */
int symbol_expression_parse(const char *text, struct symbol_expression *expression,
			    char error[SYMBOL_ERROR_MAX]);

#endif
