/* SPDX-License-Identifier: Apache-2.0 */
/* The name of a peer is rewritten with strcpy() while others measure and compare it. */
#include "../harness.h"

static char peer[64] = "nobody";
static const char *const names[] = {"alpha.example.org", "beta.example", "gamma.example.net"};

static void *rename_peer(void *arg)
{
	unsigned turn = 0;

	(void)arg;
	while (running()) {
		strcpy(peer, names[turn++ % 3]); /* RACE a */
		pace_warm();
	}
	return NULL;
}

static void *look(void *arg)
{
	(void)arg;
	while (running()) {
		consume(strlen(peer));		 /* RACE a */
		consume(strcmp(peer, names[1])); /* RACE a */
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 3);
	harness_start(rename_peer, 1);
	harness_start(look, harness_threads - 1);
	return harness_finish();
}
