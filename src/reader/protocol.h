/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the reader of files and the process that asks it say to each other. Strictly in turn: a
 * question, any number of wishes each with its grant, an answer. Only the asker opens files and
 * looks at processes; it believes nothing of what it is told but its form.
 */
#ifndef READER_PROTOCOL_H
#define READER_PROTOCOL_H

#include "module/module.h"
#include "reader/packet.h"

/* The reader's descriptors. */
#define SYMBOL_READER_SOCKET 0
#define SYMBOL_READER_PAGE 3 /* of a shared word: the module whose file is being read */

/* Bytes of memory in one grant. */
#define SYMBOL_MEMORY_MAX 65536u
/* Attempts of symbol_module_file_open() below it are granted; this one is the file held open. */
#define SYMBOL_FILE_HELD UINT32_MAX

enum symbol_message {
	SYMBOL_OPTIONS, /* first of all */
	SYMBOL_READY,	/* … and its answer */
	SYMBOL_FORGET,	/* modules that were closed; has no answer */
	SYMBOL_ANSWER,
	SYMBOL_GRANT,
	SYMBOL_WISH_MODULES, /* the list, from an index on */
	SYMBOL_WISH_REFRESH,
	SYMBOL_WISH_MAPPING,
	SYMBOL_WISH_MEMORY,
	SYMBOL_WISH_MODULE_FILE,
	SYMBOL_WISH_PATH,
	SYMBOL_WISH_PRESENT, /* which directories have a file of that name */
	SYMBOL_WISH_DOWNLOAD,
	SYMBOL_QUESTION = 64, /* and an enum symbol_question */
};

#define SYMBOL_PRESENT_MAX 512u /* directories in one wish */

/* Whose memory: of the question's own source, or of its modules' process. */
enum { SYMBOL_MEMORY_OF_SOURCE, SYMBOL_MEMORY_OF_MODULES };

/* All of a module but what each side has for itself. */
static inline void symbol_packet_whole_module(struct symbol_packet *packet,
					      struct symbol_module *module)
{
	const void *id = module->build_id.bytes;
	size_t length = module->build_id.length;

	symbol_packet_u64(packet, &module->id);
	symbol_packet_u64(packet, &module->inode);
	symbol_packet_text(packet, &module->path);
	symbol_packet_u64(packet, &module->start);
	symbol_packet_u64(packet, &module->end);
	symbol_packet_u64(packet, &module->bias);
	symbol_packet_bytes(packet, &id, &length, SYMBOL_BUILD_ID_MAX);
	if (!packet->writing) {
		module->build_id.length = (uint8_t)length;
		__builtin_memcpy(module->build_id.bytes, id, length);
	}
	symbol_packet_bool(packet, &module->deleted);
	symbol_packet_bool(packet, &module->gone);
	symbol_packet_bool(packet, &module->recorded);
	symbol_packet_bool(packet, &module->bad);
	symbol_packet_bool(packet, &module->main);
	symbol_packet_bool(packet, &module->held);
}

#endif
