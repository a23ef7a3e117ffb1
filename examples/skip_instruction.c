/* SPDX-License-Identifier: Apache-2.0 */
/* Skip a function's first instruction on every call, with no byte of code changed. */
#include <stdio.h>
#include <trapline/trapline.h>

__attribute__((naked, noinline)) static int answer(void)
{
	__asm__("mov $41, %eax\n\tmov $42, %eax\n\tret");
}

static void go_on_after(tl_hit *hit, void *arg)
{
	/* Past both moves: eax keeps what it had. */
	tl_hit_context(hit)->uc_mcontext.gregs[REG_RAX] = *(int *)arg;
	tl_hit_resume_at(hit, tl_hit_pc(hit) + 10);
}

int main(void)
{
	struct tl_spec spec = {.size = sizeof(spec),
			       .addr = (void *)answer,
			       .access = TL_EXEC,
			       .scope = TL_PROCESS};
	int instead = 7;
	tl_event *event;
	int err = tl_event_open(&event, &spec, go_on_after, &instead);

	if (err)
		return fprintf(stderr, "skip_instruction: %s\n", tl_explain(err)), 1;
	printf("with the event: %d\n", answer());
	tl_event_close(event);
	printf("without: %d\n", answer());
	return 0;
}
