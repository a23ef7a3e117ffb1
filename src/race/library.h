/* SPDX-License-Identifier: Apache-2.0 */
/* What functions of the C library do with memory, by their names. */
#ifndef RACE_LIBRARY_H
#define RACE_LIBRARY_H

#include <stdbool.h>

/* Files, by path. The C library, with what belongs to its threads and to us … */
bool library_is(const char *module);
/* … and of these, what makes no access on anyone's behalf: the dynamic linker, our own. */
bool library_is_runtime(const char *module);
/* The atomic operations that compilers make no instructions of, whichever these are there. */
bool library_is_atomics(const char *module);

/* Functions, by symbol; NULL is none of them. */

/* They order threads, make and end them, allocate memory, or load and end the program: what they
 * access is theirs, or an object whose purpose that is. */
bool library_is_internal(const char *function);
/* Of these, they end the life of a block that they are handed. */
bool library_gives_back(const char *function);
/* Of these, they have no object of which the purpose is order: what they access in data of the
 * program, as a thread's id, an attribute or a result, is their caller's. */
bool library_is_handed(const char *function);
/* … and they have none of the library's in the heap or on stacks either, such as a thread's
 * descriptor, … */
bool library_is_handed_alone(const char *function);
/* … or what they store there, but for atomic operations, is their result. */
bool library_hands_back(const char *function);
/* They copy, compare and search memory that their caller names, whoever that is. */
bool library_is_string(const char *function);
/* What they access in the heap is their caller's. (Streams, of files and directories, are not:
 * those are the library's own, and kept in order by it.) */
bool library_works_for_caller(const char *function);
/* They read a stream, whose flags they look at before they take its lock; their caller's memory
 * they write alone, but for what string functions do for them. */
bool library_reads_stream(const char *function);
/* POSIX does not require them to be safe in several threads at once (2.9.1): what they race for is
 * data of the library, and the program's fault. */
bool library_is_unsafe(const char *function);

#endif
