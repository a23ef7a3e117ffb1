/* SPDX-License-Identifier: Apache-2.0 */
/* Between the thread that listens (listen.c) and what it is asked to do (serve.c). */
#ifndef PATCH_LISTEN_H
#define PATCH_LISTEN_H

#include "base/patch_request.h"

/* Does what a request asks and replies on `socket`. Runs in the listening thread alone. The request
 * is checked here: whoever may connect can have sent anything. */
void patch_serve(int socket, struct patch_request *request, size_t length);

#endif
