/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of files: a process that answers its asker's questions until it is gone. */
#include "atomicity/macro.h"
#include "mangling/demangle.h"
#include "module/modules.h"
#include "reader/confine.h"
#include "reader/mirror.h"
#include "reader/open.h"
#include "reader/protocol.h"
#include "reader/questions.h"
#include "session/session.h"
#include "source/source_index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define DIRECTORIES_MAX 256u

static union symbol_any_question question;

/* ---- the beginning ---------------------------------------------------------------------- */

static size_t get_list(struct symbol_packet *packet, const char **list)
{
	size_t count = 0;

	symbol_packet_count(packet, &count, DIRECTORIES_MAX);
	for (size_t i = 0; i < count; i++) {
		symbol_packet_text(packet, &list[i]);
		if (!list[i])
			packet->bad = true;
	}
	return count;
}

static struct symbol_session *open_session(struct symbol_packet *packet)
{
	static const char *debug[DIRECTORIES_MAX + 1], *source[DIRECTORIES_MAX + 1];
	struct symbol_options options = {
		.size = sizeof(options), .debug_directories = debug, .source_directories = source};
	struct symbol_session texts = {0}, *session = NULL;

	if (symbol_packet_receive(SYMBOL_READER_SOCKET, packet, NULL, NULL, NULL) ||
	    packet->kind != SYMBOL_OPTIONS)
		return NULL;
	packet->session = &texts;
	get_list(packet, debug);
	get_list(packet, source);
	if (!packet->bad && symbol_session_open(&session, &options))
		session = NULL;
	symbol_strings_free(&texts.strings);
	packet->session = session;
	return session;
}

static uint64_t *map_page(void)
{
	void *page = mmap(NULL, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED,
			  SYMBOL_READER_PAGE, 0);

	close(SYMBOL_READER_PAGE);
	return page == MAP_FAILED ? NULL : page;
}

/* What is loaded or looked for at its first use must be there before the door is shut. */
static void load_all(struct symbol_session *session)
{
	char text[SYMBOL_DEMANGLED_MAX];

	symbol_demangle("_Z4loadv", text, sizeof(text));
	symbol_macros_prepare();
	if (session->source_directories[0])
		session->source_index = symbol_source_index_read(session->source_directories);
}

static int tell_ready(struct symbol_packet *packet, bool confined)
{
	symbol_packet_write(packet, SYMBOL_READY);
	symbol_packet_bool(packet, &confined);
	return symbol_packet_send(SYMBOL_READER_SOCKET, packet, -1, NULL, NULL);
}

/* ---- questions -------------------------------------------------------------------------- */

/* What was counted since the last answer, and what the session has to tell beside it. */
static void put_statistics(struct symbol_packet *packet)
{
	struct symbol_session *session = packet->session;

	symbol_packet_text(packet, &session->source_ambiguous);

	for (unsigned i = 0; i < SYMBOL_STATISTIC_COUNT; i++) {
		symbol_packet_u64(packet, &session->statistic[i]);
		session->statistic[i] = 0;
	}
}

static void answer(struct symbol_packet *in, struct symbol_packet *out)
{
	unsigned kind = in->kind - SYMBOL_QUESTION;
	uint64_t id = 0, version = 0;
	int pid = 0;

	if (kind >= SYMBOL_QUESTION_COUNT)
		_exit(1);
	symbol_packet_u64(in, &id);
	symbol_packet_u64(in, &version);
	symbol_packet_int(in, &pid);
	in->modules = out->modules = symbol_mirror_of(id, version, pid);
	memset(&question, 0, sizeof(question));
	if (in->modules)
		symbol_question_kinds[kind].arguments(in, &question);
	/* Its asker is of the same build, and writes nothing that it would not read. */
	if (in->bad || !in->modules)
		_exit(1);
	symbol_question_kinds[kind].run(in->modules, &question);
	symbol_packet_write(out, SYMBOL_ANSWER);
	put_statistics(out);
	symbol_question_kinds[kind].results(out, &question);
}

static void forget(struct symbol_packet *in)
{
	uint64_t id = 0;

	symbol_packet_u64(in, &id);
	symbol_mirror_forget(id);
}

int symbol_reader_main(void)
{
	struct symbol_packet in = {0}, out = {0};
	uint64_t *page = map_page();
	struct symbol_session *session = page ? open_session(&in) : NULL;

	if (!session)
		return 1;
	out.session = session;
	load_all(session);
	symbol_mirror_begin(session, page);
	if (tell_ready(&out, symbol_confine(symbol_mirror_path)))
		_exit(1);
	while (!symbol_packet_receive(SYMBOL_READER_SOCKET, &in, NULL, NULL, NULL)) {
		if (in.kind == SYMBOL_FORGET) {
			forget(&in);
			continue;
		}
		answer(&in, &out);
		if (symbol_packet_send(SYMBOL_READER_SOCKET, &out, -1, NULL, NULL))
			break;
	}
	_exit(0);
}
