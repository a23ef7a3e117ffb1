/* SPDX-License-Identifier: Apache-2.0 */
/* Flow as one page that needs nothing but itself: a table, a graph, a matrix and a tree. */
#include "report/flow.h"

#include "record/utf8.h"
#include "report/flow_page.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define MARK "{{DATA}}"

/* Names may be any bytes of the program's; JSON must be UTF-8. */
static json_t *text_value(const char *text)
{
	char *clean = utf8_clean(text ? text : "");
	json_t *json = json_string(clean ? clean : "");

	free(clean);
	return json;
}

static void object_text(const struct finding *finding, char *text, size_t size)
{
	const struct finding_object *object = &finding->object;

	text[0] = '\0';
	if (object->name)
		snprintf(text, size, "%s %s", finding_object_kind_name(object->kind), object->name);
}

static json_t *links_value(const struct flow_view *view)
{
	json_t *array = json_array();
	char object[256];
	size_t count;
	struct flow_link *links = flow_links(view, &count);

	for (size_t i = 0; i < count; i++) {
		json_t *link = json_object();

		object_text(links[i].example, object, sizeof(object));
		json_object_set_new(link, "from", text_value(links[i].from));
		json_object_set_new(link, "to", text_value(links[i].to));
		json_object_set_new(link, "percent", json_real(links[i].percent));
		json_object_set_new(link, "seen", json_integer((json_int_t)links[i].seen));
		json_object_set_new(link, "object", text_value(object));
		json_array_append_new(array, link);
	}
	if (links)
		flow_links_free(links, count);
	return array;
}

static json_t *step_value(const struct finding *finding, enum flow_by by)
{
	static const char *const ends[] = {"end-1", "end-2", "end-3", "end-4"};
	json_t *step = json_object(), *list = json_array();
	const char *parent = flow_detail_text(finding, "parent");
	char name[512];

	flow_name(finding, 0, by, name, sizeof(name));
	json_object_set_new(step, "name", text_value(name));
	object_text(finding, name, sizeof(name));
	json_object_set_new(step, "object", text_value(name));
	json_object_set_new(step, "node", text_value(flow_detail_text(finding, "node")));
	if (parent)
		json_object_set_new(step, "parent", text_value(parent));
	json_object_set_new(step, "percent", json_real(flow_detail_number(finding, "percent")));
	json_object_set_new(step, "seen",
			    json_integer((json_int_t)flow_detail_number(finding, "seen")));
	json_object_set_new(step, "repeats", json_boolean(flow_detail_text(finding, "repeats")));
	for (unsigned i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (flow_detail_text(finding, ends[i]))
			json_array_append_new(list, text_value(flow_detail_text(finding, ends[i])));
	json_object_set_new(step, "ends", list);
	return step;
}

static void write_data(FILE *stream, const struct flow_view *view)
{
	json_t *data = json_object(), *steps = json_array();
	char *text;

	for (size_t i = 0; i < view->count; i++)
		if (strcmp(view->findings[i]->kind, "flow-step") == 0)
			json_array_append_new(steps, step_value(view->findings[i], view->by));
	json_object_set_new(data, "links", links_value(view));
	json_object_set_new(data, "steps", steps);
	/* Nothing in it ends the script element. */
	text = json_dumps(data, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_ESCAPE_SLASH |
					JSON_REAL_PRECISION(6));
	fputs(text ? text : "{\"links\":[],\"steps\":[]}", stream);
	free(text);
	json_decref(data);
}

void flow_write_html(FILE *stream, const struct flow_view *view)
{
	const char *mark = strstr(flow_page_html, MARK);

	fwrite(flow_page_html, 1, (size_t)(mark - flow_page_html), stream);
	write_data(stream, view);
	fputs(mark + strlen(MARK), stream);
}
