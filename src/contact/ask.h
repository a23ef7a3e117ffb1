/* SPDX-License-Identifier: Apache-2.0 */
/* How this process, and the programs that it executes, get the area that their controller has
 * made. */
#ifndef CONTACT_ASK_H
#define CONTACT_ASK_H

#include "record/area.h"

#include <sys/types.h>

/* Makes the locator by which a program that is about to be executed finds the area: the one that
 * led this process to it, or one that makes the program ask the controller, which is told of
 * that. */
void agent_executed_locator(char locator[static AREA_LOCATOR]);
/* Opening the area by its locator has failed with `err`: may the controller be asked for it?
 * `secret`: what to ask with. */
bool agent_should_ask(const char *locator, int err, uint64_t *secret);
/* Asks for the area: the controller looks for the process that shows its secret. `controller`: its
 * id; 0: not known. 0 or -errno. */
int agent_ask(struct area **area, uint64_t secret, pid_t controller);

#endif
