/* SPDX-License-Identifier: Apache-2.0 */
/* Our variables in the environment of a program that begins. */
#ifndef LIFE_ENVIRONMENT_H
#define LIFE_ENVIRONMENT_H

/* Who is to watch this process. */
enum agent_invitation {
	AGENT_NOT_INVITED,
	AGENT_INVITED, /* the controller of the area that agent_state.locator leads to */
	AGENT_ALONE,   /* preloaded without one, and TRAPLINE_OPTIONS asks for it */
};

/* Take our variables out of `environ`, so that the program sees the user's own environment, and
 * keep what programs executed later need. */
enum agent_invitation agent_hide_environment(void);

#endif
