/* SPDX-License-Identifier: Apache-2.0 */
/* The questions of a session to its reader of files, and answers that are kept. */
#ifndef READER_ASK_H
#define READER_ASK_H

#include "session/asking.h"

extern const struct symbol_asking symbol_ask_reader;

#endif
