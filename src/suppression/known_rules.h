/* SPDX-License-Identifier: Apache-2.0 */
/* known.supp as it is embedded. */
#ifndef SUPPRESSION_KNOWN_RULES_H
#define SUPPRESSION_KNOWN_RULES_H

extern const char known_rules[];
extern const unsigned long known_rules_size;

#endif
