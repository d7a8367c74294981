/* table.h - rows for people and for programs from one source
 *
 * A table has typed columns; text output aligns them and prints human units, JSON output gives
 * plain values.  Malloc-backed; cells are copied.
 */
#ifndef LIB_TABLE_H
#define LIB_TABLE_H

#include <stdbool.h>
#include <stdio.h>

enum table_type {
	TABLE_TEXT,		/* const char * */
	TABLE_UINT,		/* uint64_t */
	TABLE_INT,		/* int64_t */
	TABLE_REAL,		/* double; as many decimals as the greatest needs, if any has */
	TABLE_HEX,		/* uint64_t; 0x... in both forms (a string in JSON) */
	TABLE_BYTES,		/* uint64_t; KiB, MiB, GiB for people */
	TABLE_TIME,		/* uint64_t ns since 1970, 0: never; local date and time for
				 * people, an empty cell for never */
	TABLE_BOOL,		/* int; yes/no for people */
	TABLE_FIGURE,		/* as TABLE_REAL; each cell has decimals of its own */
};

/* Parameters of the escape sequence that sets the look of characters (ECMA-48, SGR). */
#define TABLE_BOLD	"1"
#define TABLE_RED	"31"
#define TABLE_GREEN	"32"
#define TABLE_YELLOW	"33"

struct table_column {
	const char *name;
	enum table_type type;
};

struct table;

/* `col` is copied.  `title` names the table: heading in text, key in JSON. */
struct table *table_new(const char *title, int ncol, const struct table_column *col);
void table_free(struct table *t);		/* NULL is allowed */
/* One argument per column, of the column type's C type.  NAN: there is no such number. */
void table_row(struct table *t, ...);
/* One raw text per column: numbers in plain decimal, BOOL "0" or "1".  Cells that do not parse
 * as their type are printed as text (a string in JSON). */
void table_row_text(struct table *t, const char *const *cell);

int table_ncol(const struct table *t);
/* The column of that name; -1: there is none. */
int table_column_of(const struct table *t, const char *name);
const struct table_column *table_columns(const struct table *t);
const char *table_title(const struct table *t);
int table_nrow(const struct table *t);
/* Raw text of a cell, as table_row_text() takes it: how tables travel between processes. */
const char *table_cell(const struct table *t, int row, int col);

/* JSON: {"TITLE": [{"column": value, ...}, ...]}.  A number that is not there is null.  A text
 * that is no UTF-8 is given with escapes (lib/utf8.h), and its bytes in a further member
 * "column_hex". */
void table_print(const struct table *t, FILE *f, bool json);
/* Several tables; in JSON one object with a key for each. */
void table_print_all(struct table *const *t, int n, FILE *f, bool json);

/* How a table is to look. */
struct table_look {
	bool json;
	unsigned version;		/* of what is in it, JSON says; 0: nothing */
	unsigned width;			/* of the terminal; 0: as wide as the table is */
	const char *ellipsis;		/* for the middle of paths; NULL: "..." */
	bool colour;
	/* How a cell is painted, TABLE_RED and its like; NULL: not.  May be NULL itself. */
	const char *(*paint)(const char *title, const char *column, const char *raw);
	/* The columns that go, in this order, where the terminal is too narrow, and NULL; or
	 * NULL itself.  May be NULL. */
	const char *const *(*spare)(const char *title);
};
void table_show_all(struct table *const *t, int n, FILE *f, const struct table_look *look);

/* "1.5 MiB", "2 h 5 min" and the like. */
void table_human_bytes(unsigned long long bytes, char *out, size_t n);
void table_human_time(unsigned long long s, char *out, size_t n);

#endif
