/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/handed.h"
#include "sample/order.h"
#include "sample/spreading.h"
#include "memory/binding.h"

#include <errno.h>
#include <string.h>

/* What a stub has pushed when it asks the dynamic linker to bind a call: module and number. */
#define RESOLVER_WORDS 2
#define TLS_MODULES 4096
#define WHOLE_PHASES 2 /* a walk of whole loops ends where the thread has waited oftener */

/* `lock`: its address, and AHEAD_SHARED. */
static void take_lock(struct path *path, uint64_t lock)
{
	for (unsigned i = 0; i < AHEAD_LOCKS; i++)
		if (path->lock[i] == lock)
			return;
	for (unsigned i = 0; i < AHEAD_LOCKS; i++)
		if (!path->lock[i]) {
			path->lock[i] = lock;
			return;
		}
}

/* A lock is released. One that was not taken on the way was held from the start: all accesses so
 * far were made with it. */
static void give_lock(struct spreading *spreading, uint64_t lock)
{
	struct path *path = &spreading->path;
	bool taken = false;

	for (unsigned i = 0; i < AHEAD_LOCKS; i++)
		if ((path->lock[i] & ~AHEAD_SHARED) == (lock & ~AHEAD_SHARED)) {
			path->lock[i] = 0;
			taken = true;
		}
	for (unsigned i = 0; i < spreading->view->accesses && !taken; i++)
		for (unsigned j = 0; j < AHEAD_LOCKS; j++)
			if (!spreading->view->access[i].lock[j]) {
				spreading->view->access[i].lock[j] = lock;
				break;
			}
}

static bool is_known(const struct insn_forward *forward, int number)
{
	return forward->known >> number & 1;
}

/* `argument`: which one of the call's is the function. */
static void note_birth(struct spreading *spreading, unsigned argument)
{
	const struct insn_forward *forward = &spreading->path.forward;
	struct ahead_view *view = spreading->view;
	int start = insn_arch.function_argument[argument],
	    handed = insn_arch.function_argument[argument + 1];

	view->creates |= !spreading->path.waited;
	if (view->births < AHEAD_BIRTHS && is_known(forward, start) && is_known(forward, handed))
		view->birth[view->births++] =
			(struct ahead_birth){forward->general[start], forward->general[handed]};
}

/* Where the dynamic linker would bind the call. Of a function that there are variants of, by CPU,
 * that is what chooses among them, and has its name; in the C library no more than that is needed.
 * 0: not known. */
static uint64_t binding_of(struct spreading *spreading, uint64_t map, uint64_t index)
{
	struct symbol_memory memory = {looking_read, &spreading->looking};
	struct space *space = spreading->looking.space;
	unsigned kept = spreading->bindings < BOUND_MOST ? spreading->bindings : BOUND_MOST;
	struct symbol_binding binding;
	uint64_t address = 0;

	for (unsigned i = 0; i < kept; i++)
		if (spreading->bound[i].map == map && spreading->bound[i].index == index)
			return spreading->bound[i].address;
	if (symbol_binding_of_call(&memory, map, index, &binding) &&
	    !order_name_never_returns(binding.name) &&
	    (!binding.indirect || space_is_libc(space, binding.address)))
		address = binding.address;
	spreading->bound[spreading->bindings++ % BOUND_MOST] = (struct bound){map, index, address};
	return address;
}

/* The dynamic linker's function has no name where the symbols of its own are stripped: there what
 * is on the stack tells, if a binding can be found by it. */
enum spreading_stub spreading_bind(struct spreading *spreading)
{
	struct insn_forward *forward = &spreading->path.forward;
	uint64_t *stack = &forward->general[insn_arch.stack_pointer], map, index, address = 0;
	const char *name = space_function_name(spreading->looking.space, forward->pc);

	if (name && strncmp(name, "_dl_runtime_resolve", 19))
		return SPREADING_NO_STUB;
	if (insn_forward_read(forward, *stack, 8, &map) &&
	    insn_forward_read(forward, *stack + 8, 8, &index))
		address = binding_of(spreading, map, index);
	if (!address)
		return name ? SPREADING_LOST : SPREADING_NO_STUB;
	*stack += 8ull * RESOLVER_WORDS;
	forward->pc = address;
	return SPREADING_BOUND;
}

/* Is what is called the end of a tour? */
static bool ends_tour(const struct spreading *spreading)
{
	struct space *space = spreading->looking.space;
	uint64_t function = spreading->path.forward.pc;

	return (spreading->awake && order_is_sleep(space, function)) ||
	       (spreading->tour && order_is_end(space, function));
}

/* An entry of the kernel's that libstdc++ and others wait by. */
static bool waits_by_system_call(const struct spreading *spreading)
{
	const struct insn_forward *forward = &spreading->path.forward;
	int number = insn_arch.function_argument[0], operation = insn_arch.function_argument[2];

	return order_is_system_call(spreading->looking.space, forward->pc) &&
	       is_known(forward, number) && is_known(forward, operation) &&
	       order_is_futex_wait(forward->general[number], forward->general[operation]);
}

/* What the program's allocator returns is taken to be a block, and never none: what happens where
 * memory has run out leads away from all that is asked. */
static bool allocate(struct spreading *spreading, uint64_t *address)
{
	if (spreading->blocks == BLOCKS_MOST)
		return false;
	*address = BLOCKS + BLOCK_SIZE / 2 + spreading->blocks++ * BLOCK_SIZE;
	return true;
}

/* What __tls_get_addr() returns of a module whose variables the thread has already (glibc: the
 * thread's descriptor has at its second word a vector of two words for each module). False: not
 * known. */
static bool tls_address(const struct insn_forward *forward, uint64_t *address)
{
	int number = insn_arch.function_argument[0];
	uint64_t index = forward->general[number], module, offset, vector, block;

	if (!forward->fs_base || !is_known(forward, number) ||
	    !insn_forward_read(forward, index, 8, &module) ||
	    !insn_forward_read(forward, index + 8, 8, &offset) ||
	    !insn_forward_read(forward, forward->fs_base + 8, 8, &vector) ||
	    module >= TLS_MODULES || !insn_forward_read(forward, vector + 16 * module, 8, &block) ||
	    block + 1 <= 1)
		return false;
	*address = block + offset;
	return true;
}

/* The function that is to run once runs now, unless it has run; which is not looked at. */
static bool enter_once(struct path *path)
{
	struct insn_forward *forward = &path->forward;
	int body = insn_arch.function_argument[1];

	if (!is_known(forward, body))
		return false;
	forward->pc = forward->general[body];
	return true;
}

/* Returns from a function that was entered, with what it returns where that is known. */
static int leave_library(struct spreading *spreading)
{
	struct insn_forward *forward = &spreading->path.forward;
	struct space *space = spreading->looking.space;
	unsigned number = insn_arch.function_result;
	uint64_t result = 0;
	bool known = order_allocates(space, forward->pc)
			     ? allocate(spreading, &result)
			     : order_is_tls_address(space, forward->pc) &&
				       tls_address(forward, &result);
	int err = insn_forward_return(forward);

	if (!err && known) {
		forward->general[number] = result;
		forward->known |= (uint16_t)(1u << number);
	}
	return err;
}

/* One that is stripped may also be the dynamic linker's, entered with something else on the stack
 * than where to return to. */
static int leave_nameless(struct spreading *spreading)
{
	struct insn_forward *forward = &spreading->path.forward;
	int err = insn_forward_return(forward);

	if (err)
		return err;
	return space_module(spreading->looking.space, forward->pc) ? 0 : -ENOENT;
}

static void find_handed(struct spreading *spreading)
{
	const struct path *path = &spreading->path;
	const struct insn_forward *forward = &path->forward;
	const uint8_t *arguments = insn_arch.function_argument;
	struct handed handed = handed_to(spreading->looking.space, forward->pc);

	for (unsigned i = 0; i < HANDED_ARGUMENTS; i++) {
		uint64_t length = HANDED_LENGTH;

		if (!handed.access[i] || !is_known(forward, arguments[i]))
			continue;
		if (handed.length && is_known(forward, arguments[handed.length]) &&
		    forward->general[arguments[handed.length]] < HANDED_MOST)
			length = forward->general[arguments[handed.length]];
		if (forward->general[arguments[i]] >= 4096 && length)
			spreading_find(spreading, path->call, forward->general[arguments[i]],
				       length, handed.access[i]);
	}
}

/* Of one that waits or releases. */
static void pass_order(struct spreading *spreading, enum order_effect effect)
{
	struct path *path = &spreading->path;
	struct insn_forward *forward = &path->forward;
	struct space *space = spreading->looking.space;
	int lock = insn_arch.function_argument[0];
	bool waits = order_is_wait(space, forward->pc);

	path->waited |= waits;
	if (!order_is_lock(space, forward->pc)) {
		path->phase += waits;
		return;
	}
	if (!is_known(forward, lock))
		return;
	if (effect == ORDER_WAITS)
		take_lock(path, (forward->general[lock] & ~AHEAD_SHARED) |
					(order_is_shared(space, forward->pc) ? AHEAD_SHARED : 0));
	else
		give_lock(spreading, forward->general[lock]);
}

/* A function of the C library is entered. It is not followed, but for one that is handed another to
 * run. */
int spreading_pass(struct spreading *spreading)
{
	struct path *path = &spreading->path;
	struct insn_forward *forward = &path->forward;
	struct space *space = spreading->looking.space;
	enum order_effect effect;
	unsigned birth;

	/* Each question below asks for the name again, and that there is none is not remembered. */
	if (!space_function_name(space, forward->pc))
		return leave_nameless(spreading);
	effect = order_effect(space, forward->pc);
	birth = order_birth_argument(space, forward->pc);
	if (!birth && (ends_tour(spreading) || (spreading->whole && path->phase > WHOLE_PHASES))) {
		spreading->view->waits = true;
		return -EAGAIN;
	}
	if (order_never_returns(space, forward->pc))
		return -ENOENT;
	if (spreading->tour && order_is_once(space, forward->pc) && enter_once(path))
		return 0;
	if (birth)
		note_birth(spreading, birth);
	else if (effect == ORDER_NONE)
		find_handed(spreading);
	else
		pass_order(spreading, effect);
	if (waits_by_system_call(spreading)) {
		path->phase++;
		path->waited = true;
	}
	return leave_library(spreading);
}
