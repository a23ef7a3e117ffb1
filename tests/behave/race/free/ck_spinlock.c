/* SPDX-License-Identifier: Apache-2.0 */
/* Three of Concurrency Kit's locks, each with data of its own. */
#include "../harness.h"
#include <ck_spinlock.h>

static ck_spinlock_fas_t fas = CK_SPINLOCK_FAS_INITIALIZER;
static ck_spinlock_ticket_t ticket = CK_SPINLOCK_TICKET_INITIALIZER;
static ck_spinlock_dec_t dec = CK_SPINLOCK_DEC_INITIALIZER;
static long counts[3];

static void *worker(void *arg)
{
	(void)arg;
	while (running()) {
		ck_spinlock_fas_lock(&fas);
		counts[0]++;
		ck_spinlock_fas_unlock(&fas);
		ck_spinlock_ticket_lock(&ticket);
		counts[1]++;
		ck_spinlock_ticket_unlock(&ticket);
		ck_spinlock_dec_lock(&dec);
		counts[2]++;
		ck_spinlock_dec_unlock(&dec);
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 2);
	harness_start(worker, harness_threads);
	return harness_finish();
}
