/* tableprint.c - tables in their two printed forms: JSON here, that for people in tabletext.c
 *
 * What is printed is fit for terminals, and as JSON always well formed, whatever bytes the
 * cells, the titles and the names of the columns hold (lib/utf8.h).
 *
 * Tested by tests/unit/lib/test_table.c and test_table_forms.c.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "lib/memory.h"
#include "lib/table_parts.h"
#include "lib/utf8.h"

/* A character of a string: as it is, or as an escape that means the same. */
static void json_character(FILE *f, const char *s, unsigned n, uint32_t c)
{
	if (c == '"' || c == '\\')
		(void)fprintf(f, "\\%c", (char)c);
	else if (utf8_is_shown(c))
		(void)fwrite(s, 1, n, f);
	else if (c < 0x10000)
		(void)fprintf(f, "\\u%04x", c);
	else
		(void)fprintf(f, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
			      0xdc00 + (c & 0x3ff));
}

/* What is no UTF-8 is given as people see it: json_cell() gives its bytes besides. */
static void json_string(FILE *f, const char *text)
{
	char *escaped = utf8_valid(text) ? NULL : utf8_escaped(text);
	uint32_t c;

	(void)fputc('"', f);
	for (const char *s = escaped ? escaped : text; *s; ) {
		unsigned n = utf8_next(s, &c);

		assert(n);
		json_character(f, s, n, c);
		s += n;
	}
	(void)fputc('"', f);
	free(escaped);
}

static void json_value(FILE *f, const char *raw, enum table_type type)
{
	uint64_t u = 0;
	double d = 0;

	if (type != TABLE_TEXT && !*raw)
		(void)fputs("null", f);		/* there is none */
	else if (type == TABLE_TEXT || !table_number_of(raw, type, &u, &d))
		json_string(f, raw);
	else if (type == TABLE_HEX)
		(void)fprintf(f, "\"0x%" PRIx64 "\"", u);
	else if (type == TABLE_BOOL)
		(void)fputs(u ? "true" : "false", f);
	else
		(void)fputs(raw, f);		/* is_number() */
}

/* A member and its value.  A value that is no UTF-8 is told apart from a text that looks like
 * it by a member more, with all its bytes. */
static void json_cell(FILE *f, const char *name, const char *raw, enum table_type type)
{
	json_string(f, name);
	(void)fputs(": ", f);
	json_value(f, raw, type);
	if (utf8_valid(raw))
		return;
	char *member;
	if (asprintf(&member, "%s_hex", name) < 0)
		memory_exhausted();
	(void)fputs(", ", f);
	json_string(f, member);
	free(member);
	(void)fputs(": \"", f);
	for (; *raw; raw++)
		(void)fprintf(f, "%02x", (uint8_t)*raw);
	(void)fputc('"', f);
}

static void print_json_member(const struct table *t, FILE *f)
{
	json_string(f, table_title(t));
	(void)fputs(": [", f);
	for (int r = 0; r < table_nrow(t); r++) {
		(void)fputs(r ? ",\n  {" : "\n  {", f);
		for (int i = 0; i < table_ncol(t); i++) {
			const struct table_column *col = &table_columns(t)[i];

			(void)fputs(i ? ", " : "", f);
			json_cell(f, col->name, table_cell(t, r, i), col->type);
		}
		(void)fputc('}', f);
	}
	(void)fputs(table_nrow(t) ? "\n]" : "]", f);
}

static void print_title(const struct table *t, bool first, FILE *f,
			const struct table_look *look)
{
	char *title = utf8_escaped(table_title(t));

	(void)fprintf(f, "%s%s%s%s\n", first ? "" : "\n",
		      look->colour ? "\033[" TABLE_BOLD "m" : "", title,
		      look->colour ? "\033[0m" : "");
	free(title);
}

void table_show_all(struct table *const *t, int n, FILE *f, const struct table_look *look)
{
	bool json = look->json;

	if (json)
		(void)fputc('{', f);
	if (json && look->version)
		(void)fprintf(f, "\"version\": %u", look->version);
	for (int i = 0; i < n; i++) {
		if (json) {
			(void)fputs(i || look->version ? ",\n" : "", f);
			print_json_member(t[i], f);
		} else {
			if (n > 1)
				print_title(t[i], i == 0, f, look);
			table_text_print(t[i], f, look);
		}
	}
	if (json)
		(void)fputs("}\n", f);
}

void table_print_all(struct table *const *t, int n, FILE *f, bool json)
{
	table_show_all(t, n, f, &(struct table_look){ .json = json });
}

void table_print(const struct table *t, FILE *f, bool json)
{
	struct table *one = (struct table *)(uintptr_t)t;	/* only read */

	table_print_all(&one, 1, f, json);
}
