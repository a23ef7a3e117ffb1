/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/metadata.h"
#include <stdlib.h>
void symbol_metadata_free(struct symbol_metadata *metadata)
{
	free(metadata);
}
