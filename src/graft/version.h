/* SPDX-License-Identifier: Apache-2.0 */
/* The versions that a module needs of others' symbols (Linux Standard Base, "Symbol Versioning").
 * The records are hostile: each offset is checked, and they may form a circle. */
#ifndef GRAFT_VERSION_H
#define GRAFT_VERSION_H

#include <stdint.h>

#define VERSION_NUMBER 0x7fffu /* of an entry of DT_VERSYM; the bit above says "hidden" */
#define VERSION_RECORDS_MOST 4096

/* Where in the table of names the name of that version begins, by `length` bytes of records from
 * DT_VERNEED on; 0: it is not told. */
uint64_t version_needed(const uint8_t *records, uint64_t length, unsigned number);

#endif
