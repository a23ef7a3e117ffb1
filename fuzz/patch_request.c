/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What reaches a program that listens for patches: any message, applied, listed and reverted for
 * real. The path of a message that begins with "FIX" becomes that of a library that is there, and
 * addresses of old functions are drawn from a table, so that nothing patches the fuzzer itself.
 * Every message gets its replies: whole, terminated, the last one without `more`.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "patch/listen.h"

#define FIX "FIX"

__attribute__((noinline, used)) static int first(int x)
{
	__asm__ volatile("nopl 0x10(%rax)\n\tnopl 0x10(%rax)");
	return x + 1;
}

__attribute__((noinline, used)) static int second(int x)
{
	__asm__ volatile("nopl 0x10(%rax)\n\tnopl 0x10(%rax)");
	return x + 2;
}

static long data[4];

static uint64_t choose_old(uint64_t any)
{
	const uint64_t table[] = {
		(uintptr_t)first,
		(uintptr_t)second,
		(uintptr_t)first + 1,
		(uintptr_t)first + 4,
		(uintptr_t)data,
		(uintptr_t)__builtin_frame_address(0),
		0,
		1,
		UINT64_MAX - 2,
		0x8000000000000000,
		4096,
	};

	return table[any % (sizeof(table) / sizeof(table[0]))];
}

static void use_fix(struct patch_request *request)
{
	static char path[PATH_MAX];
	static struct stat file;
	struct link_map *map;
	void *library = path[0] ? NULL : dlopen("libm.so.6", RTLD_NOW);

	if (!path[0]) {
		if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map) || stat(map->l_name, &file))
			abort();
		snprintf(path, sizeof(path), "%s", map->l_name);
	}
	snprintf(request->path, sizeof(request->path), "%s", path);
	/* A message that names another file is told so: one in eight, by what it says itself. */
	if (request->file_inode % 8) {
		request->file_inode = file.st_ino;
		request->file_size = (uint64_t)file.st_size;
	}
}

static void sanitise(struct patch_request *request)
{
	for (unsigned i = 0; i < PATCH_REQUEST_CHANGES; i++)
		request->change[i].old_address = choose_old(request->change[i].old_address);
	if (!memcmp(request->path, FIX, sizeof(FIX) - 1))
		use_fix(request);
	else if (memchr(request->path, 0, sizeof(request->path)) && !access(request->path, F_OK))
		request->path[0] = '\0';
}

/* The first reply's, after all have been looked at. Ids of patches in force go to `ids`. */
static int read_replies(int socket, uint32_t *ids, unsigned *count)
{
	static struct patch_reply reply;
	int status = 1;

	*count = 0;
	do {
		if (recv(socket, &reply, sizeof(reply), MSG_DONTWAIT) != sizeof(reply) ||
		    !memchr(reply.text, 0, sizeof(reply.text)) || reply.status > 0 ||
		    (reply.status && (reply.more || !reply.text[0])))
			abort();
		if (status == 1)
			status = reply.status;
		if (reply.id && *count < 16)
			ids[(*count)++] = reply.id;
	} while (reply.more);
	if (recv(socket, &reply, sizeof(reply), MSG_DONTWAIT) >= 0)
		abort();
	return status;
}

static int serve(int sockets[2], struct patch_request *request, size_t length, uint32_t *ids,
		 unsigned *count)
{
	patch_serve(sockets[0], request, length);
	return read_replies(sockets[1], ids, count);
}

/* Nothing stays in force. */
static void revert_all(int sockets[2])
{
	static struct patch_request request;
	uint32_t ids[16], ignored[16];
	unsigned count, none;

	request = (struct patch_request){.magic = PATCH_REQUEST_MAGIC,
					 .version = PATCH_REQUEST_VERSION,
					 .operation = PATCH_LIST};
	if (serve(sockets, &request, sizeof(request), ids, &count))
		abort();
	request.operation = PATCH_REVERT;
	for (unsigned i = 0; i < count; i++) {
		request.id = ids[i];
		if (serve(sockets, &request, sizeof(request), ignored, &none))
			abort();
	}
}

/* libFuzzer loses 32 bytes of its own before it begins; seen where no old pointer to them happens
 * to lie on the stack. Of LeakSanitizer, where it is linked. */
__attribute__((weak)) void __lsan_disable(void);
__attribute__((weak)) void __lsan_enable(void);
static bool hidden; /* by the former; a replay does not come by there */

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (__lsan_disable && __lsan_enable) {
		__lsan_disable();
		hidden = true;
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static struct patch_request request;
	size_t length = size < sizeof(request) ? size : sizeof(request);
	uint32_t ids[16];
	unsigned count;
	int sockets[2], status;

	if (hidden)
		__lsan_enable();
	hidden = false;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		abort();
	/* As recv(2) leaves it. */
	memset(&request, 0, sizeof(request));
	memcpy(&request, bytes, length);
	sanitise(&request);
	status = serve(sockets, &request, length, ids, &count);
	if (length != sizeof(request) && status != -EPROTO)
		abort();
	revert_all(sockets);
	if (first(1) != 2 || second(1) != 3)
		abort();
	close(sockets[0]);
	close(sockets[1]);
	return 0;
}
