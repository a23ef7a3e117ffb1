/* SPDX-License-Identifier: Apache-2.0 */
/* Why the calling thread's last tl_ call failed, kept for tl_explain(). Async-signal-safe. */
#ifndef EVENT_EXPLAIN_H
#define EVENT_EXPLAIN_H

/*
 * Note `sentence` (static text: what is wrong and what to do) as the reason of `err` and return
 * `err`, so that a check reads: return explain_failure(-EINVAL, "spec.len is 0: …");
 * tl_explain(err) prefers it to its own sentence for that number until the next failure.
 */
int explain_failure(int err, const char *sentence);
/* Forget it: at the entry of a tl_ call that may fail. */
void explain_clear(void);

#endif
