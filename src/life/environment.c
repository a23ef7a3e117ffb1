/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's environment, before the program looks at it: our variables, two each time, are
 * taken out again, in place, so that neither getenv() nor a walk over environ meets them. What
 * programs executed later need is kept in agent_state and put back by
 * src/execution/extension.c.
 *
 * Three ways in: started by `trapline` (TRAPLINE_AREA), preloaded by the user (LD_PRELOAD and
 * TRAPLINE_OPTIONS), linked (tl_race_start()). Preloaded without either variable it does nothing.
 */
#include "life/environment.h"

#include "agent/state.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define OPTIONS_VARIABLE "TRAPLINE_OPTIONS"
#define AGENT_LIBRARY "libtrapline-agent" /* and what follows: .so, -heap.so */
#define AUXILIARY_MOST 2048		  /* bytes of the vector, and of what lies behind it */

static char *find_variable(const char *name, char ***place)
{
	size_t length = strlen(name);

	for (char **at = environ; at && *at; at++) {
		if (strncmp(*at, name, length) == 0 && (*at)[length] == '=') {
			*place = at;
			return *at + length + 1;
		}
	}
	return NULL;
}

static void remove_variable(char **place)
{
	for (; *place; place++)
		place[0] = place[1];
}

static bool copy_text(char *to, size_t size, const char *from, size_t length)
{
	if (length >= size)
		return false;
	memcpy(to, from, length);
	to[length] = '\0';
	return true;
}

/* Finds this library's entry in LD_PRELOAD, whose entries are separated by colons or blanks; NULL:
 * none. */
static char *find_own(char *preload, size_t *length)
{
	for (char *at = preload; *at; at += *length, at += *at != '\0') {
		const char *name = at;

		*length = strcspn(at, ": ");
		for (size_t i = 0; i < *length; i++)
			if (at[i] == '/')
				name = at + i + 1;
		if (strncmp(name, AGENT_LIBRARY, sizeof(AGENT_LIBRARY) - 1) == 0)
			return at;
	}
	return NULL;
}

/* Takes this library out of LD_PRELOAD; the user's own libraries stay. */
static bool restore_preload(void)
{
	char **place;
	char *value = find_variable("LD_PRELOAD", &place);
	size_t length;
	char *own = value ? find_own(value, &length) : NULL;
	bool alone;

	if (!own || !copy_text(agent_state.library, sizeof(agent_state.library), own, length))
		return false;
	alone = own == value && !own[length];
	if (own[length])
		memmove(own, own + length + 1, strlen(own + length + 1) + 1);
	else
		own[own > value ? -1 : 0] = '\0';
	if (alone)
		remove_variable(place);
	return true;
}

static char **end_of(char **environment)
{
	while (environment && *environment)
		environment++;
	return environment;
}

/* Is the auxiliary vector at `from`? The kernel puts it behind the environment's end, and behind
 * both some random bytes whose address is in the vector (AT_RANDOM): what stands at `from` is the
 * vector if it tells of these bytes. */
static bool is_vector(const char *from)
{
	uintptr_t random = getauxval(AT_RANDOM), begin = (uintptr_t)from;
	const Elf64_auxv_t *at = (const void *)from;

	if (!random || begin >= random || random - begin > AUXILIARY_MOST)
		return false;
	for (; (uintptr_t)(at + 1) <= random && at->a_type != AT_NULL; at++)
		if (at->a_type == AT_RANDOM && at->a_un.a_val == random)
			return true;
	return false;
}

/* Programs find the auxiliary vector by walking over the environment, as the C library did. Where
 * variables were taken out the end of the environment has come nearer, and the words up to the
 * vector are filled with entries of it that mean nothing. Accepted: such an entry needs two words,
 * so where the user preloads libraries of their own, and one variable alone was taken out, such a
 * program finds an empty vector. */
static void close_gap(char **end_before)
{
	char **end = end_of(environ);

	if (!end || end >= end_before || (end_before - end) % 2 ||
	    !is_vector((char *)(end_before + 1)))
		return;
	for (char **at = end + 1; at < end_before; at += 2) {
		at[0] = (char *)(uintptr_t)AT_IGNORE;
		at[1] = NULL;
	}
}

static enum agent_invitation take_out(void)
{
	char **place;
	char *value = find_variable(AREA_VARIABLE, &place);
	bool preloaded,
		invited = value && copy_text(agent_state.locator, sizeof(agent_state.locator),
					     value, strlen(value));

	if (value)
		remove_variable(place);
	else if (!find_variable(OPTIONS_VARIABLE, &place))
		return AGENT_NOT_INVITED;
	preloaded = restore_preload();
	if (value)
		return invited ? AGENT_INVITED : AGENT_NOT_INVITED;
	if (!preloaded)
		return AGENT_NOT_INVITED;
	agent_state.options = find_variable(OPTIONS_VARIABLE, &place);
	remove_variable(place);
	return AGENT_ALONE;
}

enum agent_invitation agent_hide_environment(void)
{
	char **end = end_of(environ);
	enum agent_invitation invitation = take_out();

	close_gap(end);
	return invitation;
}
