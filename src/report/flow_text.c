/* SPDX-License-Identifier: Apache-2.0 */
/* Flow on a terminal: totals, then tables, heaviest first; trees of what comes from where. */
#include "report/flow.h"

#include "record/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MOST 20 /* of a table; the file has all */
#define LEAST 0.05   /* percent: less is shown as none */
#define WIDE 20	     /* points between bounds that leave a share open */

struct table {
	const char *kind, *title;
};

static const struct table totals[] = {
	{"dead-stores", "dead stores"}, {"silent-stores", "silent stores"},
	{"open-stores", "open stores"}, {"redundant-loads", "redundant loads"},
	{"open-loads", "open loads"},
};

static const struct table tables[] = {
	{"dead-store", "Stores that were overwritten before anybody read them, and by what"},
	{"silent-store", "Stores of what was there already"},
	{"redundant-load", "Loads of what the thread had loaded before, and where it loaded it "
			   "again"},
	{"unread-memory", "Memory of the heap that was freed before anybody read it, by who "
			  "allocated it"},
};

static void write_name(FILE *stream, const struct finding *finding, size_t index, enum flow_by by)
{
	char text[512];

	flow_name(finding, index, by, text, sizeof(text));
	utf8_print(stream, text);
}

static void write_object(FILE *stream, const struct finding *finding)
{
	const struct finding_object *object = &finding->object;

	if (!object->name)
		return;
	fprintf(stream, "  [%s ", finding_object_kind_name(object->kind));
	utf8_print(stream, object->name);
	if (object->offset)
		fprintf(stream, "+%llu", (unsigned long long)object->offset);
	fputc(']', stream);
}

static void write_share(FILE *stream, const struct finding *finding)
{
	fprintf(stream, "%6.1f %% (%.1f to %.1f)", flow_detail_number(finding, "percent"),
		flow_detail_number(finding, "low"), flow_detail_number(finding, "high"));
}

static void write_totals(FILE *stream, const struct flow_view *view)
{
	bool wide = false;

	for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++)
		for (size_t j = 0; j < view->count; j++) {
			const struct finding *finding = view->findings[j];
			const char *of = flow_detail_text(finding, "of");

			if (strcmp(finding->kind, totals[i].kind) != 0)
				continue;
			fprintf(stream, "trapline: %-16s", totals[i].title);
			write_share(stream, finding);
			fputs(" of all ", stream);
			utf8_print(stream, of);
			fputs(": ", stream);
			utf8_print(stream, finding->message);
			fprintf(stream, " (%.0f seen)\n", flow_detail_number(finding, "seen"));
			wide |= flow_detail_number(finding, "high") -
					flow_detail_number(finding, "low") >
				WIDE;
		}
	if (wide)
		fputs("trapline: too few were seen for narrow bounds: a longer run, a larger --budget "
		      "or --aggressive sees more\n",
		      stream);
}

static int by_percent(const void *a, const void *b)
{
	double x = flow_detail_number(*(struct finding *const *)a, "percent");
	double y = flow_detail_number(*(struct finding *const *)b, "percent");

	return x == y ? 0 : x > y ? -1 : 1;
}

/* The findings, heaviest first; the caller frees. NULL when memory is short. */
static struct finding **sort(const struct flow_view *view)
{
	struct finding **sorted = calloc(view->count + 1, sizeof(struct finding *));

	for (size_t i = 0; sorted && i < view->count; i++)
		sorted[i] = view->findings[i];
	if (sorted)
		qsort(sorted, view->count, sizeof(struct finding *), by_percent);
	return sorted;
}

/* Of one line, or pair of lines: of its instructions, of which there may be several as where a loop
 * is unrolled, the shares together. */
struct row {
	const struct finding *finding; /* the heaviest one */
	char *name;
	double percent, below, above; /* points to the bounds, squared: errors are independent */
};

static int by_name(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : x->percent == y->percent ? 0 : x->percent > y->percent ? -1 : 1;
}

static int by_weight(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->percent == y->percent ? 0 : x->percent > y->percent ? -1 : 1;
}

static double low_of(const struct row *row)
{
	double low = row->percent - sqrt(row->below);

	return low < 0 ? 0 : low;
}

static double high_of(const struct row *row)
{
	double high = row->percent + sqrt(row->above);

	return high > 100 ? 100 : high;
}

/* Its row would say "0.0 % (0.0 to 0.0)". */
static bool is_nothing(const struct row *row)
{
	return row->percent < LEAST && high_of(row) < LEAST;
}

static bool fill_row(struct row *row, const struct finding *finding)
{
	double percent = flow_detail_number(finding, "percent");
	double below = percent - flow_detail_number(finding, "low");
	double above = flow_detail_number(finding, "high") - percent;
	char name[1024], other[512];
	size_t used;

	flow_name(finding, 0, FLOW_BY_LINE, name, 512);
	used = strlen(name);
	if (finding->access_count > 1) {
		flow_name(finding, 1, FLOW_BY_LINE, other, sizeof(other));
		snprintf(name + used, sizeof(name) - used, " → %s", other);
	}
	*row = (struct row){.finding = finding,
			    .name = strdup(name),
			    .percent = percent,
			    .below = below * below,
			    .above = above > 0 ? above * above : 0};
	return row->name;
}

static size_t collect_rows(const struct flow_view *view, const char *kind, struct row *rows)
{
	size_t count = 0;

	for (size_t i = 0; i < view->count; i++)
		if (strcmp(view->findings[i]->kind, kind) == 0 &&
		    fill_row(&rows[count], view->findings[i]))
			count++;
	return count;
}

static size_t fold_rows(struct row *rows, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		struct row *last = kept ? &rows[kept - 1] : NULL;

		if (last && rows[i].finding->access_count &&
		    strcmp(last->name, rows[i].name) == 0) {
			last->percent += rows[i].percent;
			last->below += rows[i].below;
			last->above += rows[i].above;
			free(rows[i].name);
		} else {
			rows[kept++] = rows[i];
		}
	}
	return kept;
}

static void write_row(FILE *stream, const struct row *row)
{
	fprintf(stream, "  %6.1f %% (%.1f to %.1f)  ", row->percent, low_of(row), high_of(row));
	utf8_print(stream, row->name);
	write_object(stream, row->finding);
	fputc('\n', stream);
}

static void write_table(FILE *stream, const struct flow_view *view, const struct table *table)
{
	struct row *rows = calloc(view->count + 1, sizeof(*rows));
	size_t count, shown = 0;

	if (!rows)
		return;
	count = collect_rows(view, table->kind, rows);
	qsort(rows, count, sizeof(*rows), by_name);
	count = fold_rows(rows, count);
	qsort(rows, count, sizeof(*rows), by_weight);
	for (size_t i = 0; i < count; i++) {
		if (shown < ROWS_MOST && !is_nothing(&rows[i])) {
			if (!shown++)
				fprintf(stream, "\n%s\n", table->title);
			write_row(stream, &rows[i]);
		}
		free(rows[i].name);
	}
	if (shown && count > shown)
		fprintf(stream, "  … and %zu more\n", count - shown);
	free(rows);
}

static void write_side(FILE *stream, const struct finding *finding, size_t index,
		       const char *writes, const char *reads)
{
	const struct finding_access *access = &finding->accesses[index];
	const char *written = flow_detail_text(finding, writes);
	const char *read = flow_detail_text(finding, reads);

	fprintf(stream, "  thread %d", (int)access->tid);
	if (access->thread) {
		fputs(" (", stream);
		utf8_print(stream, access->thread);
		fputc(')', stream);
	}
	if (written && *written) {
		fputs(" writes bytes ", stream);
		utf8_print(stream, written);
	}
	if (read && *read) {
		fputs(written && *written ? ", reads " : " reads bytes ", stream);
		utf8_print(stream, read);
	}
	fputs(" in ", stream);
	write_name(stream, finding, index, FLOW_BY_LINE);
	fputc('\n', stream);
}

static void write_sharing(FILE *stream, const struct finding *finding)
{
	const char *line = flow_detail_text(finding, "line");

	fprintf(stream, "\n%s of the line at ",
		finding->kind[0] == 'f' ? "False sharing" : "True sharing");
	utf8_print(stream, line);
	write_object(stream, finding);
	fprintf(stream,
		": %.1f %% of sampled accesses, %.0f transfers seen in %.0f ms of watching\n",
		flow_detail_number(finding, "percent"), flow_detail_number(finding, "transfers"),
		flow_detail_number(finding, "watched-ms"));
	if (finding->access_count < 2)
		return;
	write_side(stream, finding, 0, "first-writes", "first-reads");
	write_side(stream, finding, 1, "second-writes", "second-reads");
}

static void write_lines(FILE *stream, const struct flow_view *view)
{
	bool any = false;

	for (size_t i = 0; i < view->count; i++) {
		if (!strstr(view->findings[i]->kind, "-sharing"))
			continue;
		write_sharing(stream, view->findings[i]);
		any = true;
	}
	if (any)
		fputs("\nThese are shares of sampled accesses, not of time: what padding gains may be "
		      "more or less.\n",
		      stream);
}

/* How deep a tree may be; a file may say anything. */
#define DEPTH_MOST 32

static void write_node(FILE *stream, const struct flow_view *view, const struct finding *node,
		       unsigned depth)
{
	static const char *const ends[] = {"end-1", "end-2", "end-3", "end-4"};
	const char *name = flow_detail_text(node, "node"), *text;
	bool forwards = flow_is_forwards(node);

	fprintf(stream, "%*s%5.1f %% (%.0f)  ", (int)(2 * depth), "",
		flow_detail_number(node, "percent"), flow_detail_number(node, "seen"));
	write_name(stream, node, 0, FLOW_BY_LINE);
	if (node->access_count > 1)
		fputs(forwards ? " read" : " wrote", stream);
	write_object(stream, node);
	if (node->access_count > 1) {
		fputs(forwards ? ", written by " : ", read by ", stream);
		write_name(stream, node, 1, FLOW_BY_LINE);
	}
	if (flow_detail_text(node, "repeats"))
		fputs("  ↺ as further up", stream);
	fputc('\n', stream);
	for (unsigned i = 0; i < 4; i++) {
		text = flow_detail_text(node, ends[i]);
		if (!text)
			continue;
		fprintf(stream, "%*s  %s ", (int)(2 * depth + 14), "", forwards ? "→" : "←");
		utf8_print(stream, text);
		fputc('\n', stream);
	}
	for (size_t i = 0; name && depth < DEPTH_MOST && i < view->count; i++) {
		text = flow_detail_text(view->findings[i], "parent");
		if (strcmp(view->findings[i]->kind, "flow-step") == 0 && text &&
		    strcmp(text, name) == 0 && view->findings[i] != node)
			write_node(stream, view, view->findings[i], depth + 1);
	}
}

static void write_trees(FILE *stream, const struct flow_view *view)
{
	bool begun = false;

	for (size_t i = 0; i < view->count; i++) {
		if (strcmp(view->findings[i]->kind, "flow-step") != 0 ||
		    flow_detail_text(view->findings[i], "parent"))
			continue;
		if (!begun)
			fputs(flow_is_forwards(view->findings[i])
				      ? "Where the values go: share of the reads seen there (how "
					"many), and what read them\n"
				      : "Where the values come from: share of the writes seen "
					"there (how many), and what wrote them\n",
			      stream);
		begun = true;
		write_node(stream, view, view->findings[i], 0);
	}
}

static void write_links(FILE *stream, const struct flow_view *view)
{
	struct flow_link *links;
	size_t count;

	for (size_t i = 0; i < view->count; i++)
		if (strcmp(view->findings[i]->kind, "flow-edge") == 0)
			goto found;
	return;
found:
	links = flow_links(view, &count);
	fputs("\nWho reads what whom has stored, as a share of all stores\n", stream);
	for (size_t i = 0; i < count && i < 2 * ROWS_MOST; i++) {
		fprintf(stream, "  %6.1f %%  ", links[i].percent);
		utf8_print(stream, links[i].from);
		fputs(" → ", stream);
		utf8_print(stream, links[i].to);
		write_object(stream, links[i].example);
		fputc('\n', stream);
	}
	if (count > 2 * ROWS_MOST)
		fprintf(stream, "  … and %zu more\n", count - 2 * ROWS_MOST);
	flow_links_free(links, count);
}

void flow_write_text(FILE *stream, const struct flow_view *view)
{
	struct finding **sorted = sort(view);
	struct flow_view heaviest = *view;

	if (sorted)
		heaviest.findings = sorted;
	write_totals(stream, view);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		write_table(stream, &heaviest, &tables[i]);
	write_lines(stream, &heaviest);
	free(sorted);
	write_trees(stream, view);
	write_links(stream, view);
}
