/* SPDX-License-Identifier: Apache-2.0 */
#include "base/glob.h"

#include <string.h>

/* Only the last star ever needs another try: what came before it has matched as early as it can. */
bool glob_match(const char *pattern, const char *text)
{
	const char *star = NULL, *resume = NULL;

	while (*text) {
		const char *literal = *pattern == '\\' && pattern[1] ? pattern + 1 : pattern;

		if (*pattern == '*') {
			star = pattern++;
			resume = text;
		} else if (*pattern && (*literal == *text || (*pattern == '?'))) {
			pattern = literal + 1;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++resume;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

bool glob_match_path(const char *pattern, const char *path)
{
	const char *slash = strrchr(path, '/');

	return glob_match(pattern, path) ||
	       (slash && !strchr(pattern, '/') && glob_match(pattern, slash + 1));
}
