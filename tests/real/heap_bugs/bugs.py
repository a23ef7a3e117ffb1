# SPDX-License-Identifier: Apache-2.0
"""Known heap errors in published programs and libraries: where the source of the time is, how it is
built, what triggers the error, and what has to be said of it. None of the source is part of this
repository; the drivers and inputs below are written for the test after the public reports."""

CC = "{cc} {flags}"


class Bug:
    """`build` and `run` are shell commands in the source's folder; in `build` {cc} and {flags} are the compiler and
    its options, {driver} is the path of the driver's source."""

    def __init__(self, name, repository, revision, report, kind, functions, build, run, driver=None,
                 files=None):
        self.name, self.repository, self.revision, self.report = name, repository, revision, report
        self.kind, self.functions = kind, functions
        self.build, self.run, self.driver, self.files = build, run, driver, files or {}


OVERFLOW, AFTER_FREE = "heap-buffer-overflow", "heap-use-after-free"

# Parses a copy of its argument in a block that just fits it.
CJSON_PARSE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cJSON.h"

int main(int argc, char **argv)
{
	char *text = strdup(argc > 1 ? argv[1] : "");
	cJSON *tree = cJSON_Parse(text);

	printf("parsed: %s\n", tree ? "yes" : "no");
	cJSON_Delete(tree);
	free(text);
	return 0;
}
"""

CJSON_MINIFY = r"""
#include <stdlib.h>
#include <string.h>
#include "cJSON.h"

int main(int argc, char **argv)
{
	char *text = strdup(argc > 1 ? argv[1] : "");

	cJSON_Minify(text);
	free(text);
	return 0;
}
"""

JQ_PARSE = r"""
#include <stdio.h>
#include <string.h>
#include "jv.h"

/* jq's own lies in a file that needs all the others. */
const void *_jq_memmem(const void *where, size_t room, const void *what, size_t size)
{
	return memmem(where, room, what, size);
}

int main(void)
{
	char digits[258];

	memset(digits, '1', 256);
	strcpy(digits + 256, " ");
	puts(jv_is_valid(jv_parse(digits)) ? "valid" : "invalid");
	return 0;
}
"""

YAML_SCAN = r"""
#include <stdio.h>
#include <yaml.h>

int main(void)
{
	yaml_parser_t parser;
	yaml_event_t event;
	int type;

	if (!yaml_parser_initialize(&parser))
		return 2;
	yaml_parser_set_input_file(&parser, stdin);
	do {
		if (!yaml_parser_parse(&parser, &event))
			break;
		type = event.type;
		yaml_event_delete(&event);
	} while (type != YAML_STREAM_END_EVENT);
	yaml_parser_delete(&parser);
	puts("scanned");
	return 0;
}
"""

EZXML_PARSE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ezxml.h"

int main(int argc, char **argv)
{
	char *text = strdup(argc > 1 ? argv[1] : "");
	ezxml_t tree = ezxml_parse_str(text, strlen(text));

	printf("%s\n", ezxml_error(tree));
	ezxml_free(tree);
	free(text);
	return 0;
}
"""

MUJS_136 = """b = false
function c() {
	if (!b) {
		function c() { this[a = this] = a }
		JSON.parse("[]", c)
		this[2] = a
	}
	b = true
	return this[Array(a = Array(1, 2, true), {})] = a
}
JSON.parse("[]", function () { JSON.parse("[1, 2, []]", c) })
"""

MJS_199 = """function T(f) {}
function again(b) {
  T.apply.apply(T.apply, []);
  if (b < 10)
    again(T.apply, []);
}
again(0);
"""

LUA_JOIN = """local f = load(function() end)
local blocks = {}
blocks[0] = string.rep("A", 512)
debug.upvaluejoin(f, 1, f, 1)
collectgarbage()
print(f)
"""

DISCOUNT = "CC={cc} CFLAGS='{flags}' ./configure.sh >/dev/null && make -j2 >/dev/null"

ALL = [
    Bug("mujs-136", "ccxvii/mujs", "9f3e141d805cddec7cce1fae38373a82c61e3300",
        "https://github.com/ccxvii/mujs/issues/136", AFTER_FREE, ["jsR_run"],
        CC + " -o program main.c one.c -lm", "./program poc.js", files={"poc.js": MUJS_136}),
    Bug("mjs-199", "cesanta/mjs", "b1b6eac6b1e5b830a5cb14f8f4dc690ef3162551",
        "https://github.com/cesanta/mjs/issues/199", AFTER_FREE, ["mjs_apply"],
        CC + " -DMJS_MAIN -o program mjs.c -ldl -lm", "./program poc.js", files={"poc.js": MJS_199}),
    Bug("cjson-30", "DaveGamble/cJSON", "3a7bd6924a67c301b8811f521de6ed07c7cf0c3c",
        "https://github.com/DaveGamble/cJSON/issues/30 (CVE-2016-10749)", OVERFLOW, ["parse_string"],
        CC + " -I. -o program {driver} cJSON.c -lm", "./program '\"000000000000000000\\'", CJSON_PARSE),
    Bug("cjson-minify", "DaveGamble/cJSON", "v1.7.10", "CVE-2019-11834", OVERFLOW, ["cJSON_Minify"],
        CC + " -I. -o program {driver} cJSON.c -lm", "./program '\"12345678901\\'", CJSON_MINIFY),
    Bug("lua-upvaluejoin", "lua/lua", "v5.3.5", "CVE-2019-6706", AFTER_FREE,
        ["lua_upvaluejoin"],
        CC + " -std=gnu99 -DLUA_USE_POSIX -DLUA_USE_DLOPEN -o program $(ls l*.c | grep -v -e luac -e ltests -e lualib.c) -ldl -lm",
        "./program poc.lua", files={"poc.lua": LUA_JOIN}),
    Bug("jq-number", "stedolan/jq", "jq-1.5", "CVE-2015-8863", OVERFLOW, ["check_literal"],
        CC + " -std=gnu99 -DIEEE_8087 -D_GNU_SOURCE -I. -o program {driver} jv.c jv_parse.c jv_alloc.c jv_dtoa.c jv_print.c jv_unicode.c jv_aux.c -lm -pthread", "./program", JQ_PARSE),
    Bug("discount-277", "Orc/discount", "v3.0.0a", "https://github.com/Orc/discount/issues/277", OVERFLOW, ["uniquename"],
        DISCOUNT, "./markdown -T -s " + "'" + "#" * 391 + "'"),
    Bug("discount-280", "Orc/discount", "v3.0.0a", "https://github.com/Orc/discount/issues/280", OVERFLOW, ["uniquename"],
        DISCOUNT, "./markdown -T -s " + "'#hello" + " " * 400 + "'"),
    # It reads on behind what was written, and in glibc's fresh memory finds a zero within the block: Memcheck tells of an
    # uninitialised value and of no access outside. AddressSanitizer fills new blocks, so that it goes on.
    Bug("discount-298", "Orc/discount", "v3.0.1", "https://github.com/Orc/discount/issues/298", OVERFLOW, ["Qprintf"],
        DISCOUNT, "./markdown -fextended_attr -s '![picture](pic){rel=_nofollow}'"),
    Bug("yaml-uri", "yaml/libyaml", "0.1.5", "CVE-2014-2525", OVERFLOW, ["yaml_parser_scan_uri_escapes"],
        CC + " -DYAML_VERSION_MAJOR=0 -DYAML_VERSION_MINOR=1 -DYAML_VERSION_PATCH=5 -DYAML_VERSION_STRING='\"0.1.5\"' "
        "-Iinclude -Isrc -o program {driver} src/*.c", "./program <poc.yaml", YAML_SCAN,
        {"poc.yaml": "--- !<tag:" + "%41" * 2000 + "> text\n"}),
    Bug("ezxml-decode", "lxfontes/ezxml", "HEAD", "found by libFuzzer", OVERFLOW, ["ezxml_decode"],
        CC + " -I. -o program {driver} ezxml.c", "./program '<!DOCTYPE a [<!ENTITY b \"    >   c\"><!ATTLIST a d NMTOKEN \"e\">]><a d=\"&b;\">x</a>'",
        EZXML_PARSE),
]
