/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is put into a process that was not started by us: src/handler, linked at address zero,
 * without relocations (src/handler/injected.ld), and where in it the controller writes what the
 * handler must know. The image lies in the process as it was linked:
 *
 *	+---------------------------+ 0
 *	| struct injected_header    |
 *	| code, constants           |  readable and executable, never writable by the program
 *	+---------------------------+ header.data, a multiple of the page
 *	| struct injected_state ... |  readable and writable
 *	+---------------------------+ header.size, a multiple of the page
 */
#ifndef RECORD_INJECTED_H
#define RECORD_INJECTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INJECTED_MAGIC 0x3174636a6e697274ull /* "trinjct1" */
#define INJECTED_PAGE 4096u

/* Written by the linker script. Offsets from the image's beginning. */
struct injected_header {
	uint64_t magic;
	uint32_t entry;	   /* the signal handler */
	uint32_t restorer; /* what it returns to: rt_sigreturn(2) */
	uint32_t data;
	uint32_t state; /* struct injected_state */
	uint32_t own;	/* struct injected_own */
	uint32_t size;
	uint32_t run;	/* code that makes the calls of a table (INJECTED_RUN of agent/arch.h) */
	uint32_t table; /* struct injected_table */
};

/* The beginning of the handler's struct agent_state (src/agent/state.h). */
struct injected_state {
	uint64_t area;
	uint64_t process; /* its entry */
	uint32_t index;
	uint32_t unused;
	uint64_t hold_most;
	uint32_t handlers; /* running now */
	bool can_read_fs_base;
	uint16_t opmask_at; /* of struct insn_xsave_layout */
	bool quiet;
};

/* As the kernel's rt_sigaction(2) has it. */
struct injected_action {
	uint64_t handler;
	uint64_t flags;
	uint64_t restorer;
	uint64_t mask;
};

/* A system call that the image's code makes in one run with others (src/inject/batch.c). */
struct injected_call {
	uint64_t number;
	uint64_t argument[6];
	uint64_t from;	  /* 0, or the address of an int that becomes … */
	uint64_t index;	  /* … this argument, as it is then */
	uint64_t cleanup; /* it is made after one that failed, too, and may fail itself */
	int64_t result;	  /* INJECTED_NOT_MADE: one before it failed */
};

#define INJECTED_NOT_MADE INT64_MIN
#define INJECTED_SIGNALS 64
#define INJECTED_CALLS (INJECTED_SIGNALS + 8) /* the action of each signal is asked for at once */

struct injected_table {
	struct injected_action action[INJECTED_SIGNALS]; /* as they are told */
	struct injected_call call[INJECTED_CALLS];
};

/* Calls of one function that lead to another: patches of a process that was entered. */
#define INJECTED_REDIRECTS 4

struct injected_redirect {
	uint64_t from; /* the old function's first instruction; 0: none */
	uint64_t to;
};

#define INJECTED_ROOM 256 /* bytes for the arguments of calls made while it is put in */

struct injected_own {
	uint64_t clock;			 /* the vDSO's clock_gettime(); 0: none */
	struct injected_action previous; /* the program's */
	uint64_t controller;		 /* process id, as it calls itself */
	uint32_t entered;		 /* handlers begun and not left, in all threads */
	uint32_t unused;
	uint8_t room[INJECTED_ROOM];
	/* Written while `redirecting` is 0, which its low byte alone changes: from one instant on
	 * all of them hold. */
	uint32_t redirecting;
	uint32_t unused_too;
	struct injected_redirect redirect[INJECTED_REDIRECTS];
};

#endif
