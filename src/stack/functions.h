/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of a program that are known so far. They are found from its entry point, from where
 * samples fell and from what known functions name, and their code is looked at a few at a time. The
 * results are two lists: sites, which are instructions at which the address of a local may leave
 * its frame, and victims, which are functions whose frames may be written beyond their arrays.
 */
#ifndef STACK_FUNCTIONS_H
#define STACK_FUNCTIONS_H

#include "process/space.h"
#include "stack/code.h"

enum site_kind {
	SITE_STORE,   /* stores a frame's address elsewhere */
	SITE_RETURN,  /* returns one */
	SITE_LEAVE,   /* returns from a frame, addresses of which may be anywhere */
	SITE_LANDING, /* comes after frames that were left by longjmp() or an exception */
	SITE_THREAD,  /* hands one to a new thread */
	/* No address leaves there, but the code does not tell what is called, or where a branch
	   leads: a thread is met there to see (plan.h). */
	SITE_CALL,
};

struct site {
	enum site_kind kind;
	uint64_t pc;	/* of the instruction */
	uint64_t next;	/* it is not watched again before: CLOCK_MONOTONIC, ns */
	uint32_t looks; /* how often it was watched */
	uint32_t idle;	/* how many of the last looks in a row came to nothing */
	uint32_t met;	/* how often a thread came to it while it was watched */
	uint8_t number; /* the register that holds the address, or the result of setjmp(); 0xff:
			   none */
	bool watched;
	bool near;     /* threads were seen in its function, or in one that names its function */
	bool dangling; /* an address outlived its frame here */
	bool told;     /* a use of one was reported */
};

struct victim {
	const struct code *code;
	uint32_t looks, idle; /* `idle`: how many of the last looks in a row met no call */
	uint32_t met;	      /* how often it was called while it was watched */
	uint64_t next;
	bool watched;
	bool near;   /* as of a site */
	bool wanted; /* the user named it */
};

struct functions;

/* NULL when memory is short. */
struct functions *functions_create(void);
void functions_destroy(struct functions *functions);

/* The function around `pc` is run: a sample fell there, or it is the program's entry point. */
void functions_see(struct functions *functions, struct space *space, uint64_t pc);
/* Makes known the functions that the data of the file around `pc` points to. */
void functions_see_data(struct functions *functions, struct space *space, uint64_t pc);
/* Looks at up to `count` functions that were not looked at yet. Returns how many. */
unsigned functions_work(struct functions *functions, struct space *space, unsigned count);
/* What is known of the function around `pc`, which is looked at now if it was not; or NULL. */
const struct code *functions_around(struct functions *functions, struct space *space, uint64_t pc);
/* Points `bytes` to the function's code, which stays until the next call into this file, and
 * returns its length; 0: it cannot be read. */
size_t functions_bytes(struct space *space, const struct code *code, const uint8_t **bytes);
struct code_work *functions_room(void);
/* Finds where `code` is entered other than at its start. 0, or -errno where that is not known. */
int functions_entries(struct functions *functions, struct space *space, const struct code *code,
		      struct insn_entries *entries);

/* From now on sites of the kind SITE_CALL are found, too. */
void functions_note_calls(struct functions *functions);
/* A place where a thread is met to see where it goes, a site of the kind SITE_CALL unless it is one
 * already; NULL: there is no room. */
struct site *functions_place(struct functions *functions, uint64_t pc);
/* Makes such a place at the beginning of each function of the program that the one around `pc`
 * names. */
void functions_place_called(struct functions *functions, struct space *space, uint64_t pc);
/* A thread is in the function around `pc`, or will return to it: it may call what that names. */
void functions_use(struct functions *functions, struct space *space, uint64_t pc);
/* What is to be watched next: of those that are due the one that has waited longest; NULL: none is
 * due. `near`: those come first that threads were seen near to. */
struct site *functions_site(struct functions *functions, uint64_t now, bool near);
struct victim *functions_victim(struct functions *functions, uint64_t now, bool near);
/* The user wants the frames of functions of this name looked at, and no others. False: there is
 * none, or its code cannot be followed. */
bool functions_want(struct functions *functions, struct space *space, const char *name);

/* All of them, in the order they were found in; valid until the next call that looks at functions.
 */
struct site *functions_sites(struct functions *functions, unsigned *count);
struct victim *functions_victims(struct functions *functions, unsigned *count);
/* What is known of the function that begins there; NULL: it was not looked at. */
const struct code *functions_known(struct functions *functions, uint64_t start);
struct functions_size {
	unsigned functions, sites, victims, dropped;
};
struct functions_size functions_size(const struct functions *functions);

#endif
