/* SPDX-License-Identifier: Apache-2.0 */
/* Findings as JSON Lines: one object a line, as `-o FILE` writes and `trapline report` reads. */
#ifndef JSONL_JSONL_H
#define JSONL_JSONL_H

#include <stdio.h>

#include "record/aim.h"
#include "record/finding.h"
#include "record/modules.h"
#include "session/error.h"

/* Write one line; with fflush() after it, a killed writer loses none before it.
 * 0, -ENOMEM, or -EIO when the stream refuses. */
int jsonl_write(FILE *stream, const struct finding *finding);
int jsonl_write_aim(FILE *stream, const struct aim_told *told);

struct jsonl_reader;

/* `name` is for messages and is copied. The stream stays the caller's. NULL: memory is short. */
struct jsonl_reader *jsonl_reader_create(FILE *stream, const char *name);
void jsonl_reader_destroy(struct jsonl_reader *reader);

/*
 * The next finding, which the caller destroys. 1; 0 at the end; -EILSEQ for a line that is no
 * finding (reading may go on); -ENODATA for a last line that was cut short, as by a killed writer
 * (nothing more follows); other -errno are final. `error` starts with "NAME:LINE: ".
 * Frames that a raw recording keeps as addresses get module, build-id and offset from the module
 * table of the same run and pid that came before; findings without an id get one.
 */
int jsonl_read(struct jsonl_reader *reader, struct finding **finding, struct report_error *error);

/* What earlier runs have told of what they aimed at, of the lines read so far; NULL past the end.
 */
const struct aim_told *jsonl_reader_aim(const struct jsonl_reader *reader, size_t index);

#endif
