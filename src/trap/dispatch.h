/* SPDX-License-Identifier: Apache-2.0 */
/* From a SIGTRAP to the event it belongs to. */
#ifndef TRAP_DISPATCH_H
#define TRAP_DISPATCH_H

/* Makes SIGTRAP ours in this process; later calls do nothing. 0 or -errno. */
int dispatch_install(void);

#endif
