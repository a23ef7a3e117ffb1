/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SYMBOL_METADATA_H
#define SYMBOL_METADATA_H
struct symbol_metadata;
void symbol_metadata_free(struct symbol_metadata *metadata);
#endif
