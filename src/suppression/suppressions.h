/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Suppressions: findings somebody has decided not to see. One rule a line:
 *
 *   # a comment, to the end of the line
 *   data-race  function:parse_*                      in any frame of any stack
 *   data-race  top:update_stats  top:read_stats      the places of the accesses
 *   *          module:libfoo.so*  file:pool.c
 *   hit        object:server.stat_*
 *   data-race  id:0123456789abcdef
 *   data-race  stack:"inc;...;worker_*"              through a stack, innermost first
 *
 * The first word is a glob for the kind, each further word KEY:GLOB; a rule hides a finding when
 * its kind matches and every condition holds. Globs are those of base/glob.h; a word that holds
 * blanks or # is put in double quotes after its colon, in which \" and \\ stand for " and \.
 * The keys:
 *
 *   function  a function of any frame of any access or of the allocation
 *   top       the function shown as an access's place
 *   file      a source file of any frame, whole path or last component
 *   module    a module of any frame, whole path or last component
 *   within    the module of the instruction, the same glob for every access
 *   object    the variable or object
 *   thread    the name of an accessing thread
 *   program   the executable, whole path or last component
 *   id        the stable id
 *   class     definite, likely or possible
 *   stack     globs for the functions of consecutive frames, separated by ";"; the part "..."
 *             stands for any number of frames. It begins at the innermost frame ("...;" first to
 *             begin anywhere) and may stop short of the outermost.
 */
#ifndef SUPPRESSION_SUPPRESSIONS_H
#define SUPPRESSION_SUPPRESSIONS_H

#include <stdint.h>
#include <stdio.h>

#include "record/finding.h"
#include "session/error.h"

struct suppressions;

struct suppressions *suppressions_create(void); /* NULL: memory is short */
void suppressions_destroy(struct suppressions *suppressions);

/* Adds every rule of the file or text; may be called for several. 0, or -errno with `error` saying
 * where ("NAME:LINE: …"); rules before the bad line stay. */
int suppressions_read(struct suppressions *suppressions, const char *path,
		      struct report_error *error);
int suppressions_parse(struct suppressions *suppressions, const char *name, const char *text,
		       size_t length, struct report_error *error);

/* The first rule that hides the finding, as "NAME:LINE", and counts it as used; NULL if none. */
const char *suppressions_match(struct suppressions *suppressions, const struct finding *finding);

/* Calls back with every rule in order: where it stands, its text, how many findings it hid. */
typedef void suppressions_each_fn(const char *place, const char *text, uint64_t hidden, void *arg);
void suppressions_each(const struct suppressions *suppressions, suppressions_each_fn *fn,
		       void *arg);

/* Writes a rule that hides this finding and those with the same places, with a comment above. */
void suppressions_generate(FILE *stream, const struct finding *finding);

#endif
