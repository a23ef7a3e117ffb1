/* SPDX-License-Identifier: Apache-2.0 */
/* What functions of the C library do with memory, by their names. */
#ifndef RACE_LIBRARY_H
#define RACE_LIBRARY_H

#include <stdbool.h>

/* Files, by path. Is it the C library, a library that belongs to its threads, or one of ours? */
bool library_is(const char *module);
/* Of these, is it one that accesses nothing on anyone's behalf: the dynamic linker or one of
 * ours? */
bool library_is_runtime(const char *module);
/* Is it libatomic, or its like: the atomic operations for which a compiler emits no instruction? */
bool library_is_atomics(const char *module);

/* Functions, by symbol; for NULL every answer is no. */

/* Does the function order threads, start and end them, allocate memory, or load and end the
 * program? What it accesses is its own, or an object made for that purpose. */
bool library_is_internal(const char *function);
/* Of these: does it end the life of a block that it is handed? */
bool library_gives_back(const char *function);
/* Of these: does it have no object whose purpose is order? Then what it accesses in data of the
 * program, such as a thread's id, an attribute or a result, is its caller's. */
bool library_is_handed(const char *function);
/* Of these: does it have no object of the library's in the heap or on stacks either, such as a
 * thread's descriptor? */
bool library_is_handed_alone(const char *function);
/* Of these: is what it stores there its result, except by atomic operations? */
bool library_hands_back(const char *function);
/* Does it copy, compare or search memory that its caller names, whoever the caller is? */
bool library_is_string(const char *function);
/* Is what it accesses in the heap its caller's? Streams, of files and of directories, are not:
 * they are the library's own, and the library orders the accesses to them. */
bool library_works_for_caller(const char *function);
/* Does it read a stream? It looks at the stream's flags before it takes the stream's lock; of
 * its caller's memory it only writes, except through string functions. */
bool library_reads_stream(const char *function);
/* Does POSIX not require it to be safe in several threads at once (2.9.1)? Then a race for data
 * of the library is the program's fault. */
bool library_is_unsafe(const char *function);

#endif
