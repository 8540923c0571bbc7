// SPDX-License-Identifier: GPL-2.0-only
/*
 * The two text back ends. Both gather the document as blocks of rows of cells,
 * since the width of a column is known only at its end, and differ in how they
 * print a block:
 *
 *   block: fields        block: list
 *   key      value       key      key    key
 *   longkey  value       value  value    ####   numbers to the right, a bar last
 *
 * A bar takes the room that the other columns leave.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "writer_private.h"

#define BAR_MIN 8 /* a shorter one says nothing */

struct cell {
	STAILQ_ENTRY(cell) next;
	char *key; /* NULL in a list of plain values */
	char *text;
	size_t width; /* of text, in characters */
	bool number, null;
	struct writer_bar bar; /* full 0: it is none */
	enum tone tone;
};

STAILQ_HEAD(cell_list, cell);

struct row {
	STAILQ_ENTRY(row) next;
	struct cell_list cells;
};

STAILQ_HEAD(row_list, row);

struct block {
	STAILQ_ENTRY(block) next;
	char *title; /* NULL: fields of the document itself */
	enum level level;
	struct row_list rows;
};

STAILQ_HEAD(block_list, block);

struct text_state {
	struct block_list blocks;
	struct block *block; /* where cells go; NULL: none is open */
	struct row *row;     /* NULL: none is open */
	bool skip;	     /* in a minor record that is left out */
};

static const char *const tone_codes[] = {
	[TONE_PLAIN] = "",
	[TONE_GOOD] = "\033[32m",
	[TONE_WARN] = "\033[33m",
	[TONE_BAD] = "\033[31m",
};
_Static_assert(sizeof(tone_codes) / sizeof(*tone_codes) == TONE__MAX, "tones");

static int text_init(struct writer *w)
{
	struct text_state *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;

	STAILQ_INIT(&s->blocks);
	w->state = s;
	return 0;
}

static int block_add(struct text_state *s, const char *title, enum level level)
{
	struct block *block = calloc(1, sizeof(*block));

	if (!block)
		return -ENOMEM;

	STAILQ_INIT(&block->rows);
	block->level = level;
	STAILQ_INSERT_TAIL(&s->blocks, block, next);
	s->block = block;
	s->row = NULL;
	if (!title)
		return 0;

	block->title = strdup(title);
	return block->title ? 0 : -ENOMEM;
}

static int row_add(struct text_state *s)
{
	struct row *row = calloc(1, sizeof(*row));

	if (!row)
		return -ENOMEM;

	STAILQ_INIT(&row->cells);
	STAILQ_INSERT_TAIL(&s->block->rows, row, next);
	s->row = row;
	return 0;
}

static int text_open(struct writer *w, const char *key, enum level level,
		     bool minor)
{
	struct text_state *s = w->state;

	if (w->depth == 1)
		return block_add(s, key, level);

	s->skip = minor && !w->settings.all;
	s->row = NULL;
	return 0;
}

static int text_close(struct writer *w)
{
	struct text_state *s = w->state;

	s->row = NULL;
	s->skip = false;
	if (w->depth == 2)
		s->block = NULL;
	return 0;
}

/* Bytes that a terminal would act on: C0, DEL, and C1 (U+0080 to U+009F). */
static size_t control_length(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;

	if (c[0] < 0x20 || c[0] == 0x7f)
		return 1;

	return c[0] == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f ? 2 : 0;
}

/* The string as it may go to a terminal; the caller owns it. */
static char *printable(const char *text)
{
	char *copy = malloc(4 * strlen(text) + 1), *to = copy;

	if (!copy)
		return NULL;

	while (*text) {
		size_t n = control_length(text);

		if (n == 0)
			*to++ = *text++;
		for (; n > 0; n--)
			to += sprintf(to, "\\x%02x", (unsigned char)*text++);
	}
	*to = '\0';
	return copy;
}

static size_t text_width(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static char *to_text(const struct value *value)
{
	char *text = NULL;

	switch (value->kind) {
	case VALUE_STRING:
		return printable(value->string);
	case VALUE_INTEGER:
		if (asprintf(&text, "%lld", (long long)value->integer) < 0)
			return NULL;
		return text;
	case VALUE_BOOLEAN:
		return strdup(value->boolean ? "true" : "false");
	case VALUE_REAL:
		if (asprintf(&text, "%.*f", (int)value->decimals, value->real) < 0)
			return NULL;
		return text;
	case VALUE_BAR:
	case VALUE_JSON: /* left out before */
		return strdup("");
	case VALUE_NULL:
		break;
	}
	return strdup("-");
}

static int cell_add(struct row *row, const char *key, const struct value *value)
{
	struct cell *cell = calloc(1, sizeof(*cell));

	if (!cell)
		return -ENOMEM;

	STAILQ_INSERT_TAIL(&row->cells, cell, next);
	cell->number = value->kind == VALUE_INTEGER || value->kind == VALUE_REAL;
	cell->bar = value->bar;
	cell->null = value->kind == VALUE_NULL;
	cell->tone = value->tone;
	cell->text = to_text(value);
	if (!cell->text)
		return -ENOMEM;

	cell->width = text_width(cell->text);
	if (!key)
		return 0;

	cell->key = printable(key);
	return cell->key ? 0 : -ENOMEM;
}

static int text_value(struct writer *w, const char *key, const struct value *value)
{
	struct text_state *s = w->state;
	int r = 0;

	if (s->skip || value->kind == VALUE_JSON ||
	    (value->kind == VALUE_BAR && w->settings.form != WRITER_TEXT))
		return 0;

	if (!s->block)
		r = block_add(s, NULL, LEVEL_RECORD);
	if (!r && (!s->row || !key))
		r = row_add(s);
	return r ? r : cell_add(s->row, key, value);
}

static bool is_bar(const struct cell *cell)
{
	return cell->bar.full > 0;
}

static void cell_free(struct cell *cell)
{
	free(cell->key);
	free(cell->text);
	free(cell);
}

static void block_free(struct block *block)
{
	struct row *row;
	struct cell *cell;

	while ((row = STAILQ_FIRST(&block->rows))) {
		STAILQ_REMOVE_HEAD(&block->rows, next);
		while ((cell = STAILQ_FIRST(&row->cells))) {
			STAILQ_REMOVE_HEAD(&row->cells, next);
			cell_free(cell);
		}
		free(row);
	}
	free(block->title);
	free(block);
}

static void text_free(struct writer *w)
{
	struct text_state *s = w->state;
	struct block *block;

	if (!s)
		return;

	while ((block = STAILQ_FIRST(&s->blocks))) {
		STAILQ_REMOVE_HEAD(&s->blocks, next);
		block_free(block);
	}
	free(s);
	w->state = NULL;
}

static void print_blanks(FILE *file, size_t n)
{
	while (n-- > 0)
		fputc(' ', file);
}

static void print_coloured(const struct writer *w, FILE *file, const char *code,
			   const char *text)
{
	bool colour = w->settings.colour && *code;

	fprintf(file, "%s%s%s", colour ? code : "", text,
		colour ? "\033[0m" : "");
}

static void print_heading(const struct writer *w, FILE *file, const char *text)
{
	print_coloured(w, file, "\033[1m", text);
}

static void print_cell(const struct writer *w, FILE *file, const struct cell *cell)
{
	print_coloured(w, file, tone_codes[cell->tone], cell->text);
}

static void print_fields(const struct writer *w, FILE *file, const struct row *row)
{
	const struct cell *cell;
	size_t width = 0;

	STAILQ_FOREACH(cell, &row->cells, next)
	{
		size_t n = text_width(cell->key);

		width = n > width ? n : width;
	}

	STAILQ_FOREACH(cell, &row->cells, next)
	{
		print_heading(w, file, cell->key);
		print_blanks(file, width - text_width(cell->key) + 2);
		print_cell(w, file, cell);
		fputc('\n', file);
	}
}

static size_t count_columns(const struct block *block)
{
	const struct row *row;
	const struct cell *cell;
	size_t most = 0;

	STAILQ_FOREACH(row, &block->rows, next)
	{
		size_t n = 0;

		STAILQ_FOREACH(cell, &row->cells, next)
		n++;
		most = n > most ? n : most;
	}
	return most;
}

/* What is left of the line beside the first row's other columns. */
static size_t bar_room(const struct writer *w, const struct row *row,
		       const size_t *widths)
{
	const struct cell *cell;
	size_t used = 0;

	STAILQ_FOREACH(cell, &row->cells, next)
	used += is_bar(cell) ? 0 : *widths++ + 2;
	return used < w->settings.width ? w->settings.width - used : 0;
}

/* A bar is the last of a row, or there is none. */
static struct cell *row_bar(const struct row *row)
{
	struct cell *cell;

	STAILQ_FOREACH(cell, &row->cells, next)
	{
		if (is_bar(cell))
			return cell;
	}
	return NULL;
}

/* Without room for a bar its column goes. */
static int draw_bars(const struct block *block, size_t room)
{
	struct row *row;

	STAILQ_FOREACH(row, &block->rows, next)
	{
		struct cell *cell = row_bar(row);

		if (!cell)
			continue;

		if (room < BAR_MIN) {
			STAILQ_REMOVE(&row->cells, cell, cell, next);
			cell_free(cell);
			continue;
		}

		free(cell->text);
		cell->text = bar_draw(&cell->bar, room);
		if (!cell->text)
			return -ENOMEM;
		cell->width = strlen(cell->text);
	}
	return 0;
}

/* The widths of the columns; the caller frees them. */
static size_t *column_widths(const struct block *block)
{
	size_t *widths = calloc(count_columns(block) + 1, sizeof(*widths));
	const struct row *row;
	const struct cell *cell;

	if (!widths)
		return NULL;

	STAILQ_FOREACH(row, &block->rows, next)
	{
		bool first = row == STAILQ_FIRST(&block->rows);
		size_t i = 0;

		STAILQ_FOREACH(cell, &row->cells, next)
		{
			size_t key =
				first && cell->key ? text_width(cell->key) : 0;
			size_t width = cell->width > key ? cell->width : key;

			widths[i] = width > widths[i] ? width : widths[i];
			i++;
		}
	}
	return widths;
}

/* The heading of a column goes where the first row's value goes. */
static void print_header(const struct writer *w, FILE *file,
			 const struct row *row, const size_t *widths)
{
	const struct cell *cell;

	STAILQ_FOREACH(cell, &row->cells, next)
	{
		size_t pad = *widths++ - text_width(cell->key);

		print_blanks(file, cell->number ? pad : 0);
		print_heading(w, file, cell->key);
		if (STAILQ_NEXT(cell, next))
			print_blanks(file, (cell->number ? 0 : pad) + 2);
	}
	fputc('\n', file);
}

/* Nothing follows that could be seen: no blanks at the end of a line. */
static bool ends_line(const struct cell *cell)
{
	const struct cell *next = STAILQ_NEXT(cell, next);

	return !next || (is_bar(next) && !*next->text);
}

static void print_row(const struct writer *w, FILE *file, const struct row *row,
		      const size_t *widths)
{
	const struct cell *cell;

	STAILQ_FOREACH(cell, &row->cells, next)
	{
		size_t column = *widths++;
		size_t pad = column > cell->width ? column - cell->width : 0;

		print_blanks(file, cell->number ? pad : 0);
		print_cell(w, file, cell);
		if (!ends_line(cell))
			print_blanks(file, (cell->number ? 0 : pad) + 2);
	}
	fputc('\n', file);
}

static int print_list(const struct writer *w, FILE *file,
		      const struct block *block)
{
	const struct row *row = STAILQ_FIRST(&block->rows);
	_cleanup_free_ size_t *widths = column_widths(block);

	if (!widths || draw_bars(block, bar_room(w, row, widths)) < 0)
		return -ENOMEM;

	if (STAILQ_FIRST(&row->cells)->key)
		print_header(w, file, row, widths);
	STAILQ_FOREACH(row, &block->rows, next)
	print_row(w, file, row, widths);
	return 0;
}

/* Titles are only worth their line when there is more than one block. */
static int text_render(struct writer *w, FILE *file)
{
	struct text_state *s = w->state;
	struct block *first = STAILQ_FIRST(&s->blocks), *block;
	bool titles = first && STAILQ_NEXT(first, next), started = false;
	int r = 0;

	STAILQ_FOREACH(block, &s->blocks, next)
	{
		struct row *row = STAILQ_FIRST(&block->rows);

		if (!row)
			continue;

		if (started)
			fputc('\n', file);
		started = true;
		if (titles && block->title) {
			print_heading(w, file, block->title);
			fputc('\n', file);
		}

		if (block->level == LEVEL_LIST)
			r = print_list(w, file, block);
		else
			print_fields(w, file, row);
		if (r < 0)
			return r;
	}
	return ferror(file) ? (errno ? -errno : -EIO) : 0;
}

/*
 * A value that holds blanks or quotes stands in quotes, so that pairs stay
 * pairs, and one that reads as a null does, too.
 */
static void print_word(FILE *file, const char *text, bool null)
{
	bool plain = *text && !strpbrk(text, " \"\\") && strcmp(text, "-");

	if (plain || null) {
		fputs(text, file);
		return;
	}

	fputc('"', file);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', file);
		fputc(*text, file);
	}
	fputc('"', file);
}

static void print_pairs(FILE *file, const struct block *block,
			const struct row *row)
{
	const struct cell *cell;

	STAILQ_FOREACH(cell, &row->cells, next)
	{
		print_word(file, cell->key ? cell->key : block->title, false);
		fputc(' ', file);
		print_word(file, cell->text, cell->null);
		fputc(STAILQ_NEXT(cell, next) ? ' ' : '\n', file);
	}
}

static int oneline_render(struct writer *w, FILE *file)
{
	struct text_state *s = w->state;
	struct block *block;
	struct row *row;

	STAILQ_FOREACH(block, &s->blocks, next)
	{
		STAILQ_FOREACH(row, &block->rows, next)
		print_pairs(file, block, row);
	}
	return ferror(file) ? (errno ? -errno : -EIO) : 0;
}

const struct writer_ops writer_text_ops = {
	.init = text_init,
	.open = text_open,
	.close = text_close,
	.value = text_value,
	.render = text_render,
	.free = text_free,
};

const struct writer_ops writer_oneline_ops = {
	.init = text_init,
	.open = text_open,
	.close = text_close,
	.value = text_value,
	.render = oneline_render,
	.free = text_free,
};
