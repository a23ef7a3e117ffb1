/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The room: linkage names as people write them, of C++ (Itanium ABI) and of Rust, legacy and v0.
 *
 * Names come from files, and are hostile: whatever they hold, the text fits, ends with NUL, and is
 * made in a bounded number of steps. No state but the library of C++ that is loaded at the first
 * use. Runs outside; mostly in the reader of files, whose door is shut only after that
 * (reader/serve.c).
 */
#ifndef MANGLING_DEMANGLE_H
#define MANGLING_DEMANGLE_H

#include <stddef.h>

#define SYMBOL_DEMANGLED_MAX 1024

/* The readable form of `linkage` in `text`, cut to fit; 0, or -EINVAL when it is not mangled in a
 * known way (text then holds `linkage`). C++ needs libstdc++.so.6 or libc++abi.so.1 at run time. */
int symbol_demangle(const char *linkage, char *text, size_t size);

/* Rust alone: 0, or -EINVAL. Legacy names lose their hash. */
int symbol_demangle_rust(const char *linkage, char *text, size_t size);

#endif
