/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `trapline patch` and the thread that listens in a program say to each other: one request,
 * then replies, on an abstract SOCK_SEQPACKET socket. The last reply of a request has `more` 0.
 * Both ends ask the kernel who the other is (SO_PEERCRED, unix(7)). Paths and process ids are as
 * the program sees them.
 */
#ifndef BASE_PATCH_REQUEST_H
#define BASE_PATCH_REQUEST_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#define PATCH_REQUEST_MAGIC 0x6863746170706c74ull /* "tlppatch" */
#define PATCH_REQUEST_VERSION 1
#define PATCH_REQUEST_CHANGES 64
#define PATCH_REQUEST_TEXT 512

enum patch_operation {
	PATCH_APPLY = 1,
	PATCH_REVERT,
	PATCH_LIST,
};

#define PATCH_REQUEST_BREAKPOINT 1u /* of flags */

struct patch_request {
	uint64_t magic;
	uint32_t version;
	uint32_t operation;
	uint32_t flags;
	uint32_t id;	/* of the patch to revert */
	uint32_t count; /* of changes */
	uint32_t padding;
	uint64_t file_inode, file_size; /* of the fix as the command saw it */
	struct {
		uint64_t old_address;	  /* in the program */
		uint64_t new_file_offset; /* in the fix, as linked: add its load address */
		/* Of a pointer in the fix that receives where the old function can be called; 0:
		 * none. */
		uint64_t original_file_offset;
	} change[PATCH_REQUEST_CHANGES];
	char text[PATCH_REQUEST_TEXT]; /* for listing: the changes by name */
	char path[PATH_MAX];	       /* of the fix */
};

struct patch_reply {
	int32_t status; /* 0 or -errno */
	uint32_t id;
	uint32_t more;
	uint32_t on_breakpoint;
	char text[PATCH_REQUEST_TEXT + PATH_MAX + 256]; /* what, or why not */
};

/* Start time of a process: field 22 of its stat, counted behind the name, which may hold anything
 * (proc_pid_stat(5)). 0: not known. */
static inline unsigned long long patch_start_time(const char *stat)
{
	const char *at = strrchr(stat, ')');
	unsigned long long start = 0;

	for (int field = 2; at && field < 22; field++) {
		at = strchr(at + 1, ' ');
		if (at && field == 21 && sscanf(at, "%llu", &start) != 1)
			return 0;
	}
	return start;
}

/* The socket's name says which process: with its start time it is never another's. Returns the
 * address's length. */
static inline socklen_t patch_address(struct sockaddr_un *address, pid_t pid,
				      unsigned long long start)
{
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			   (size_t)snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1,
					    "trapline-patch/%d/%llu", (int)pid, start));
}

#endif
