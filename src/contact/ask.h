/* SPDX-License-Identifier: Apache-2.0 */
/* How this process, and what it executes, comes by the area that its controller has made. */
#ifndef CONTACT_ASK_H
#define CONTACT_ASK_H

#include "record/area.h"

#include <sys/types.h>

/* What leads a program that is about to be executed to the area: as it led this one, or by asking
 * for it, of which the controller is told. */
void agent_executed_locator(char locator[static AREA_LOCATOR]);
/* The area could not be opened by its locator: may the controller hand it over? */
bool agent_should_ask(const char *locator, int err, uint64_t *secret);
/* Be handed the area by the controller, which looks for who shows its secret. `controller` 0: not
 * known. 0 or -errno. */
int agent_ask(struct area **area, uint64_t secret, pid_t controller);

#endif
