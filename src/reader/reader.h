/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader of files as its asker has it: a process that is started at the first question, killed
 * when a question takes too long, and started anew when it died. What it died of is not read again.
 */
#ifndef READER_READER_H
#define READER_READER_H

#include "module/module.h"
#include "reader/open.h"
#include "reader/packet.h"

/* At most so many die in one session; then nothing is read any more. */
#define SYMBOL_READER_DEATHS 16u

struct symbol_reader {
	struct symbol_session *session;
	char *program;
	uint64_t limit; /* of its CPU time for one question, ns */
	pid_t pid;	/* 0: none runs */
	pid_t owner;	/* whose child it is: a fork of that process starts its own */
	int socket;
	uint64_t *page; /* the id of the module whose file is being read; written by the reader */
	struct symbol_packet packet;
	bool introduced; /* this one is ready */
	bool proved;	 /* one was ready once */
	unsigned deaths;
	uint64_t ended; /* CPU time of those that ended, ns */
	/* Of the question under way. */
	struct symbol_modules *modules;
	const struct symbol_memory *memory;
	uint64_t begun;	 /* the reader's CPU time then, ns */
	uint64_t asked;	 /* CLOCK_MONOTONIC, ns */
	uint64_t looked; /* the same: at how long it takes */
	unsigned wishes;
	bool may_slow, slowed;
};

/* As the session's options say. 0 or -errno. */
int symbol_reader_create(struct symbol_session *session, const struct symbol_options *options);
void symbol_reader_destroy(struct symbol_reader *reader);

/* Starts one, if none runs, and does not wait for it: the first question need not, then. */
void symbol_reader_prepare(struct symbol_reader *reader);

/* Asks; true when `question` holds the results. `memory`: a source's own, or NULL. */
bool symbol_reader_ask(struct symbol_modules *modules, unsigned kind, void *question,
		       const struct symbol_memory *memory);
void symbol_reader_forget(const struct symbol_modules *modules);
/* Answers the wish in reader->packet. 0, or -errno: the reader is not to be trusted any more. */
int symbol_reader_grant(struct symbol_reader *reader, symbol_packet_wait_fn *wait);

#endif
